/* SPDX-License-Identifier: MIT */
#include "bench/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/utsname.h>

#include <xdownload/playback.h>
#include <xdownload/version.h>

void measures_init(struct measures *m)
{
    *m = (struct measures){.failures = 0};
    m->names = open_memstream(&m->text[0], &m->len[0]);
    m->bytes = open_memstream(&m->text[1], &m->len[1]);
    m->duplicate = open_memstream(&m->text[2], &m->len[2]);
}

void measures_depot(struct measures *m, const char *name, uint64_t bytes,
                    uint64_t duplicate, unsigned failures)
{
    const char *blank = m->names != NULL && ftell(m->names) > 0 ? " " : "";

    m->all_duplicate += duplicate;
    m->failures += failures;
    if (m->names != NULL)
        fprintf(m->names, "%s%s", blank, name);
    if (m->bytes != NULL)
        fprintf(m->bytes, "%s%" PRIu64, blank, bytes);
    if (m->duplicate != NULL)
        fprintf(m->duplicate, "%s%" PRIu64, blank, duplicate);
}

bool measures_end(struct measures *m, struct row *row)
{
    static const enum column cells[] = {COL_DEPOT_NAMES, COL_DEPOT_BYTES,
                                        COL_DEPOT_DUPLICATE};
    FILE *const streams[] = {m->names, m->bytes, m->duplicate};
    bool good = true;

    for (size_t i = 0; i < 3; i++) {
        const bool is_whole = streams[i] != NULL && fclose(streams[i]) == 0;
        good = good && is_whole && row_set(row, cells[i], "%s", m->text[i]);
        free(m->text[i]);
    }
    return good && row_set(row, COL_DUPLICATE, "%" PRIu64, m->all_duplicate) &&
           row_set(row, COL_FAILURES, "%u", m->failures);
}

bool records_add(struct records *r, const struct xd_fetch_record *record)
{
    if ((r->n & (r->n - 1)) == 0) {
        const size_t room = r->n > 0 ? 2 * r->n : 1;
        struct xd_fetch_record *items = realloc(r->items, room * sizeof *items);
        if (items == NULL)
            return false;
        r->items = items;
    }
    r->items[r->n++] = *record;
    return true;
}

#define FIRST_WINDOW (10 * 1448.0) /* bytes; RFC 6928 */

static double received_from(const struct records *r, size_t depot)
{
    double bytes = 0;

    for (size_t i = 0; i < r->n; i++)
        bytes += r->items[i].depot == depot ? (double)r->items[i].received : 0;
    return bytes;
}

double records_drain_s(const struct records *r)
{
    double longest_s = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct xd_fetch_record *f = &r->items[i];
        if (f->code != XD_E_CANCELED)
            continue;
        double drain_s = f->end_s - f->start_s;
        if (f->received > 0) {
            const double lacked =
                (double)(f->end - f->begin) - (double)f->received;
            const double under_way =
                fmin(lacked, received_from(r, f->depot) + FIRST_WINDOW);
            drain_s =
                under_way / (double)f->received * (f->end_s - f->first_byte_s);
        }
        longest_s = fmax(longest_s, drain_s);
    }
    return longest_s;
}

bool measures_delays(struct row *row, const struct args *a, uint64_t size,
                     const struct records *records)
{
    static const enum column cells[] = {COL_DELAY1, COL_DELAY2, COL_DELAY3};
    const double block = row_number(row, COL_BLOCK_BYTES);

    if (!row_is_complete(row) || records->n == 0 || records->is_torn)
        return true;
    for (size_t i = 0; i < a->bench.n_rates; i++) {
        double delay;
        const int rc = xd_playback_delay(&delay, records->items, records->n,
                                         size, (uint64_t)block,
                                         a->bench.rates[i], a->prebuffer, NULL);
        if (rc == XD_E_NOMEM)
            return false;
        if (rc == 0 && !row_set_number(row, cells[i], delay))
            return false;
    }
    return true;
}

bool measures_provenance(struct row *row)
{
    const time_t now = time(NULL);
    const char *libcurl = xd_version_libcurl(); /* and what it was built with */
    struct utsname system;
    char utc[40] = "";
    struct tm t;

    if (gmtime_r(&now, &t) != NULL)
        strftime(utc, sizeof utc, "%Y-%m-%dT%H:%M:%SZ", &t);
    const bool has_name = uname(&system) >= 0;
    return row_set(row, COL_TIME, "%s", utc) &&
           row_set(row, COL_VERSION, "%s", xd_version()) &&
           row_set(row, COL_LIBCURL, "%.*s", (int)strcspn(libcurl, " "),
                   libcurl) &&
           (!has_name || row_set(row, COL_KERNEL, "%s %s %s", system.sysname,
                                 system.release, system.machine));
}

bool measures_congestion_control(struct row *row)
{
    FILE *f = fopen("/proc/sys/net/ipv4/tcp_congestion_control", "r");
    char name[40] = "";

    if (f == NULL)
        return true;
    const bool is_read = fgets(name, sizeof name, f) != NULL;
    fclose(f);
    name[strcspn(name, "\n")] = '\0';
    return !is_read || row_set(row, COL_CONGESTION, "%s", name);
}
