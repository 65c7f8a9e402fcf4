/* SPDX-License-Identifier: MIT */
#include "trace/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"
#include "common/words.h"
#include "trace/trace_format.h"

enum stage {
    STAGE_SEARCH, /* find the first run that has a request */
    STAGE_COUNT,  /* find the length of the run and its depots */
    STAGE_SPREAD  /* distribute the bytes to the slots */
};

struct reading {
    struct profile *p;
    enum stage stage;
    unsigned run; /* 0: not known yet */
    bool failed;  /* memory ran out */
};

double profile_slot_s(const struct profile *p)
{
    return (p->end - p->begin) / PROFILE_SLOTS;
}

/* ---- depots ---- */

static struct profile_depot *find_depot(const struct profile *p,
                                        unsigned number)
{
    for (size_t i = 0; i < p->n_depots; i++)
        if (p->depots[i]->number == number)
            return p->depots[i];
    return NULL;
}

static struct profile_depot *add_depot(struct reading *g,
                                       const struct trace_event *e)
{
    struct profile *p = g->p;
    struct profile_depot *d = find_depot(p, e->depot);
    size_t at = p->n_depots;

    if (d != NULL)
        return d;
    if (p->n_depots == PROFILE_DEPOTS)
        return NULL;
    d = calloc(1, sizeof *d);
    if (d == NULL) {
        g->failed = true;
        return NULL;
    }
    d->number = e->depot;
    d->least_connect = d->least_first_byte = d->begin = d->end = -1;
    snprintf(d->host, sizeof d->host, "%s", e->host[0] != '\0' ? e->host : "?");
    for (; at > 0 && p->depots[at - 1]->number > e->depot; at--)
        p->depots[at] = p->depots[at - 1];
    p->depots[at] = d;
    p->n_depots++;
    return d;
}

/* ---- first pass: length and depots ---- */

static bool is_failure(const struct trace_event *e)
{
    return strcmp(e->name, "ok") != 0 && strcmp(e->name, "canceled") != 0 &&
           strcmp(e->name, "redundant") != 0;
}

static void least(double *to, double x)
{
    if (x > 0 && (*to < 0 || x < *to))
        *to = x;
}

static void count_request(struct reading *g, const struct trace_event *e)
{
    struct profile_depot *d = add_depot(g, e);

    g->p->requests++;
    if (d == NULL)
        return;
    d->received += e->received;
    least(&d->least_connect, e->connect);
    if (e->first_byte >= 0) {
        const double came = e->at + e->first_byte;
        least(&d->least_first_byte,
              e->first_byte - e->connect - e->name_lookup);
        d->begin = d->begin < 0 || came < d->begin ? came : d->begin;
    }
    if (e->received > 0 && e->at + e->lasts > d->end)
        d->end = e->at + e->lasts;
    d->has_given_up = is_failure(e);
    if (e->error[0] != '\0')
        memcpy(d->error, e->error, sizeof d->error);
}

static void count_event(struct reading *g, const struct trace_event *e)
{
    struct profile *p = g->p;
    struct profile_depot *d;

    if (e->kind != TRACE_NAME && (p->begin < 0 || e->at < p->begin))
        p->begin = e->at;
    if (e->at + e->lasts > p->end)
        p->end = e->at + e->lasts;
    switch (e->kind) {
    case TRACE_NAME:
        if (strcmp(e->name, "process_name") == 0)
            memcpy(p->name, e->text, sizeof p->name);
        break;
    case TRACE_END:
        p->has_ended = true;
        p->lost = e->lost;
        if (e->size != XD_SIZE_UNKNOWN)
            p->size = e->size;
        break;
    case TRACE_REQUEST:
        count_request(g, e);
        break;
    case TRACE_DEPOT:
        d = find_depot(p, e->depot);
        if (d != NULL)
            d->has_counters = true;
        break;
    case TRACE_BYTES:
        if (p->size < e->in_order && !p->has_ended)
            p->size = e->in_order;
        break;
    case TRACE_OTHER:
        break;
    }
}

/* ---- second pass: slots ---- */

static size_t slot_of(const struct profile *p, double at)
{
    const double x = (at - p->begin) / profile_slot_s(p);

    if (!(x > 0))
        return 0;
    return x < PROFILE_SLOTS - 1 ? (size_t)x : PROFILE_SLOTS - 1;
}

/* Adds bytes, assuming that they arrived evenly between two times. */
static void spread(const struct profile *p, struct profile_depot *d,
                   double from, double to, double bytes)
{
    const size_t first = slot_of(p, from), last = slot_of(p, to);
    const double slot_s = profile_slot_s(p);

    for (size_t i = first; i <= last; i++) {
        const double begin = p->begin + (double)i * slot_s;
        const double low = begin > from ? begin : from;
        const double high = begin + slot_s < to ? begin + slot_s : to;
        d->bytes[i] += first == last ? bytes
                       : high > low  ? bytes * (high - low) / (to - from)
                                     : 0;
    }
}

static void spread_request(struct profile *p, const struct trace_event *e)
{
    struct profile_depot *d = find_depot(p, e->depot);
    const double end = e->at + e->lasts;
    const double came = e->first_byte < 0 || e->first_byte > e->lasts
                            ? end
                            : e->at + e->first_byte;

    if (d == NULL || e->received == 0)
        return;
    for (size_t i = slot_of(p, came); i <= slot_of(p, end); i++)
        d->is_receiving[i] = true;
    if (!d->has_counters)
        spread(p, d, came, end, (double)e->received);
}

/* Adds the bytes since the last value of a counter.  Counters are recorded from
 * time to time; bytes are assumed to arrive evenly in between. */
static void spread_counter(struct profile *p, const struct trace_event *e)
{
    struct profile_depot *d = find_depot(p, e->depot);

    if (d == NULL)
        return;
    const double since = d->counted_at > 0 ? d->counted_at : d->begin;
    if ((double)e->received > d->counted && since >= 0)
        spread(p, d, since < e->at ? since : e->at, e->at,
               (double)e->received - d->counted);
    d->counted = (double)e->received;
    d->counted_at = e->at;
}

/* ---- reading ---- */

static void take(struct reading *g, const struct trace_event *e)
{
    if (g->stage == STAGE_SEARCH) {
        g->run = e->kind == TRACE_REQUEST ? e->run : 0;
        return;
    }
    if (g->stage == STAGE_COUNT && e->run > g->p->n_runs)
        g->p->n_runs = e->run;
    if (e->run != g->run)
        return;
    if (g->stage == STAGE_COUNT)
        count_event(g, e);
    else if (e->kind == TRACE_REQUEST)
        spread_request(g->p, e);
    else if (e->kind == TRACE_DEPOT)
        spread_counter(g->p, e);
}

static bool is_over(const struct reading *g)
{
    return g->failed || (g->stage == STAGE_SEARCH && g->run != 0);
}

/* Reads the whole trace from the beginning, for one stage. */
static int read_through(struct reading *g, enum stage stage, FILE *from,
                        const char *path)
{
    struct trace_reader *r = malloc(sizeof *r);
    struct trace_event *e = malloc(sizeof *e);
    char why[600] = "out of memory";
    int rc = -1;

    g->stage = stage;
    if (fseeko(from, 0, SEEK_SET) != 0) {
        snprintf(why, sizeof why,
                 "%s: a trace is read more than once, and needs to be a file",
                 path);
    } else if (r != NULL && e != NULL) {
        trace_reader_init(r, from, path);
        do
            rc = trace_reader_next(r, e, why, sizeof why);
        while (rc == 1 && (take(g, e), !is_over(g)));
        g->p->is_torn = r->is_torn;
    }
    free(e);
    free(r);
    if (rc < 0)
        words_error("%s", why);
    return rc < 0 ? STATUS_MANIFEST : 0;
}

static int refuse(const char *path, unsigned run, const struct profile *p)
{
    if (run > p->n_runs)
        words_error("%s: has %u run%s, and there is no run %u", path, p->n_runs,
                    p->n_runs == 1 ? "" : "s", run);
    else
        words_error("%s: no request had ended when this trace was written",
                    path);
    return STATUS_FAILED;
}

static int read_all(struct profile *p, FILE *from, const char *path,
                    unsigned run)
{
    struct reading g = {.p = p, .run = run};
    int status = 0;

    if (run == 0)
        status = read_through(&g, STAGE_SEARCH, from, path);
    if (status == 0)
        status = read_through(&g, STAGE_COUNT, from, path);
    if (status != 0)
        return status;
    if (p->requests == 0 && !g.failed)
        return refuse(path, run, p);
    p->run = g.run;
    if (p->begin < 0)
        p->begin = 0;
    if (p->end <= p->begin)
        p->end = p->begin + 1e-6;
    if (!g.failed)
        status = read_through(&g, STAGE_SPREAD, from, path);
    if (!g.failed)
        return status;
    words_error("out of memory");
    return STATUS_FAILED;
}

int profile_read_stream(struct profile **out, FILE *from, const char *path,
                        unsigned run)
{
    struct profile *p = calloc(1, sizeof *p);

    *out = NULL;
    if (p == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    p->begin = p->end = -1;
    int status = read_all(p, from, path, run);
    if (status == 0 && ferror(from)) {
        words_error("%s: cannot be read: %s", path, strerror(errno));
        status = STATUS_LOCAL;
    }
    if (status == 0)
        *out = p;
    else
        profile_free(p);
    return status;
}

int profile_read(struct profile **out, const char *path, unsigned run)
{
    FILE *from = fopen(path, "r");

    *out = NULL;
    if (from == NULL) {
        words_error("%s: %s", path, strerror(errno));
        return STATUS_LOCAL;
    }
    const int status = profile_read_stream(out, from, path, run);
    fclose(from);
    return status;
}

void profile_free(struct profile *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->n_depots; i++)
        free(p->depots[i]);
    free(p);
}

double profile_rate(const struct profile *p, const struct profile_depot *d)
{
    double bytes = 0;
    size_t n = 0;

    for (size_t i = 0; i < PROFILE_SLOTS; i++) {
        bytes += d->bytes[i];
        n += d->is_receiving[i];
    }
    return n > 0 ? bytes / ((double)n * profile_slot_s(p)) : 0;
}
