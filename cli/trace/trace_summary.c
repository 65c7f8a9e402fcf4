/* SPDX-License-Identifier: MIT */
#include "trace/trace_summary.h"

#include <inttypes.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* ---- the whole ---- */

static void put_whole(FILE *to, const struct profile *p)
{
    const double lasts = p->end - p->begin;
    char size[UNITS_SIZE], rate[UNITS_SIZE];

    text_put(to, p->name);
    fprintf(to, ", ");
    text_put(to, p->algorithm);
    fprintf(to, ": %s in %.3f s, %s", units_size(size, p->size), lasts,
            units_rate(rate, (double)p->size / lasts));
    if (p->outcome[0] == '\0')
        fprintf(to, "; the trace has no end of the run");
    else if (strcmp(p->outcome, "complete") != 0)
        fprintf(to, "; %s", p->outcome);
    if (p->error[0] != '\0') {
        fprintf(to, ": ");
        text_put(to, p->error);
    }
    fprintf(to, "\n");
}

static void put_least(FILE *to, const struct profile *p)
{
    const double lasts = p->end - p->begin, least = profile_least_s(p);

    if (least <= 0 || least >= lasts * 0.995)
        fprintf(to, "Depots with the rates that these had could not have "
                    "delivered it in less.\n");
    else
        fprintf(to,
                "Depots with the rates that these had could have delivered it "
                "in %.3f s: this took %.2f times as long.\n",
                least, lasts / least);
}

/* ---- waiting ---- */

static void put_waits(FILE *to, const struct profile *p)
{
    double names = 0, connects = 0, first = 0, earliest = -1;
    unsigned connections = 0, n_first = 0;

    for (size_t i = 0; i < p->n_depots; i++) {
        const struct profile_depot *d = p->depots[i];
        names += d->name_lookup;
        connects += d->connect;
        connections += d->connections;
        first += d->first_byte;
        n_first += d->n_first_bytes;
        if (d->begin >= 0 && (earliest < 0 || d->begin < earliest))
            earliest = d->begin;
    }
    if (p->probed > p->begin)
        fprintf(to, "Until the size of the file was known: %.3f s.\n",
                p->probed - p->begin);
    if (earliest >= 0)
        fprintf(to, "The first byte came after %.3f s.\n", earliest - p->begin);
    fprintf(to, "Requests waited for names for %.3f s in all", names);
    fprintf(to, ", for %u connection%s for %.3f s", connections,
            connections == 1 ? "" : "s", connects);
    if (n_first > 0)
        fprintf(to, ", and for a first byte for %.3f s, %.0f ms each.\n", first,
                1e3 * first / n_first);
    else
        fprintf(to, ", and no first byte came.\n");
}

/* ---- depots ---- */

static void put_depot(FILE *to, const struct profile *p,
                      const struct profile_depot *d)
{
    const double lasts = p->end - p->begin;
    const double useful = (double)(p->received - p->duplicate);
    char rate[UNITS_SIZE];
    double busy = 0;

    for (size_t i = 0; i < PROFILE_SLOTS; i++)
        busy += d->is_receiving[i] ? profile_slot_s(p) : 0;
    fprintf(to, "  ");
    text_put_fit(to, d->host, 28, true);
    fprintf(to, " %5.1f %%  %12s  busy %3.0f %%  %5u request%s",
            percent((double)(d->received - d->duplicate), useful),
            units_rate(rate, profile_rate(p, d)), percent(busy, lasts),
            d->requests, d->requests == 1 ? " " : "s");
    if (d->failures > 0)
        fprintf(to, ", %u failed", d->failures);
    if (d->canceled > 0)
        fprintf(to, ", %u stopped", d->canceled);
    if (d->duplicate > 0)
        fprintf(to, ", %.1f %% duplicate",
                percent((double)d->duplicate, (double)d->received));
    fprintf(to, "\n");
}

/* ---- the tail ---- */

/* Whether it delivered to the end, or as good as that. */
static bool lasted(const struct profile *p, const struct profile_depot *d)
{
    return d->end >= p->end - 0.01 * (p->end - p->begin);
}

static void put_idle(FILE *to, const struct profile *p,
                     const struct profile_depot *d)
{
    fprintf(to, "  ");
    text_put(to, d->host);
    fprintf(to, " ended %.3f s before: ", p->end - d->end);
    if (d->has_given_up && d->error[0] != '\0')
        text_put(to, d->error);
    else if (d->has_given_up)
        fprintf(to, "its last request failed");
    else
        fprintf(to, "there was nothing left to request of it");
    fprintf(to, "\n");
}

/* From when the first of the depots that delivered has ended. */
static void put_tail(FILE *to, const struct profile *p)
{
    double first = p->end;
    size_t n = 0, n_idle = 0;

    for (size_t i = 0; i < p->n_depots; i++) {
        const struct profile_depot *d = p->depots[i];
        if (d->end < 0)
            continue;
        n++;
        n_idle += !lasted(p, d);
        first = d->end < first ? d->end : first;
    }
    if (n_idle == 0) {
        fprintf(to, "All %zu depots that delivered did so to the end.\n", n);
        return;
    }
    fprintf(to,
            "The tail: for the last %.3f s, %.0f %% of the time, fewer than "
            "the %zu depots that delivered did so.\n",
            p->end - first, percent(p->end - first, p->end - p->begin), n);
    for (size_t i = 0; i < p->n_depots; i++)
        if (p->depots[i]->end >= 0 && !lasted(p, p->depots[i]))
            put_idle(to, p, p->depots[i]);
}

static void put_silent(FILE *to, const struct profile *p)
{
    for (size_t i = 0; i < p->n_depots; i++) {
        const struct profile_depot *d = p->depots[i];
        if (d->end >= 0)
            continue;
        fprintf(to, "  ");
        text_put(to, d->host);
        fprintf(to, " delivered nothing in %u request%s", d->requests,
                d->requests == 1 ? "" : "s");
        if (d->error[0] != '\0') {
            fprintf(to, ": ");
            text_put(to, d->error);
        }
        fprintf(to, "\n");
    }
}

static void put_stalls(FILE *to, const struct profile *p)
{
    size_t n = 0;

    for (size_t i = 0; i < PROFILE_SLOTS; i++)
        n += p->is_stalled[i];
    if (n > 0)
        fprintf(to, "The player stood still for about %.1f s.\n",
                (double)n * profile_slot_s(p));
}

void summary_of_trace(FILE *to, const struct profile *p)
{
    put_whole(to, p);
    put_least(to, p);
    put_waits(to, p);
    if (p->duplicate > 0)
        fprintf(to,
                "Duplicate bytes: %" PRIu64 ", %.1f %% of what was "
                "received.\n",
                p->duplicate,
                percent((double)p->duplicate, (double)p->received));
    fprintf(to, "Depots, with their share and their rate while they "
                "delivered:\n");
    for (size_t i = 0; i < p->n_depots; i++)
        if (p->depots[i]->end >= 0)
            put_depot(to, p, p->depots[i]);
    put_silent(to, p);
    put_tail(to, p);
    put_stalls(to, p);
}
