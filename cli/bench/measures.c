/* SPDX-License-Identifier: MIT */
#include "bench/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/utsname.h>

#include <xdownload/version.h>

#include "command/records.h"
#include "command/settings.h"
#include "lab/playback.h"

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

void measures_end(struct measures *m, struct row *row)
{
    static const enum column cells[] = {COL_DEPOT_NAMES, COL_DEPOT_BYTES,
                                        COL_DEPOT_DUPLICATE};
    FILE *const streams[] = {m->names, m->bytes, m->duplicate};

    for (size_t i = 0; i < 3; i++) {
        if (streams[i] != NULL && fclose(streams[i]) == 0)
            row_set(row, cells[i], "%s", m->text[i]);
        else
            row->lacks_memory = true;
        free(m->text[i]);
    }
    row_set_count(row, COL_DUPLICATE, m->all_duplicate);
    row_set_count(row, COL_FAILURES, m->failures);
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

/* initial congestion window in bytes (RFC 6928) */
#define FIRST_WINDOW (10 * 1448.0)

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

void measures_delays(struct row *row, const struct args *a, uint64_t size,
                     const struct records *records)
{
    static const enum column cells[] = {COL_DELAY1, COL_DELAY2, COL_DELAY3};
    const double block = row_number(row, COL_BLOCK_BYTES);

    if (!row_is_complete(row) || records->n == 0 || records->is_torn)
        return;
    for (size_t i = 0; i < a->bench.n_rates; i++) {
        double delay;
        const int rc = xd_playback_delay(&delay, records->items, records->n,
                                         size, (uint64_t)block,
                                         a->bench.rates[i], a->prebuffer, NULL);
        row->lacks_memory = row->lacks_memory || rc == XD_E_NOMEM;
        if (rc == 0)
            row_set_number(row, cells[i], delay);
    }
}

void measures_provenance(struct row *row)
{
    const time_t now = time(NULL);
    /* the string also has the build options of libcurl */
    const char *libcurl = xd_version_libcurl();
    struct utsname system;
    char utc[40] = "";
    struct tm t;

    if (gmtime_r(&now, &t) != NULL)
        strftime(utc, sizeof utc, "%Y-%m-%dT%H:%M:%SZ", &t);
    row_set(row, COL_TIME, "%s", utc);
    row_set(row, COL_VERSION, "%s", xd_version());
    row_set(row, COL_LIBCURL, "%.*s", (int)strcspn(libcurl, " "), libcurl);
    if (uname(&system) >= 0)
        row_set(row, COL_KERNEL, "%s %s %s", system.sysname, system.release,
                system.machine);
}

void measures_congestion_control(struct row *row)
{
    FILE *f = fopen("/proc/sys/net/ipv4/tcp_congestion_control", "r");
    char name[40] = "";

    if (f == NULL)
        return;
    if (fgets(name, sizeof name, f) != NULL)
        row_set(row, COL_CONGESTION, "%.*s", (int)strcspn(name, "\n"), name);
    fclose(f);
}
