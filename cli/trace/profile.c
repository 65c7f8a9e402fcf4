/* SPDX-License-Identifier: MIT */
#include "trace/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"
#include "common/words.h"
#include "trace/trace_format.h"

enum stage {
    STAGE_SEARCH, /* for the first run with a request */
    STAGE_COUNT,  /* how long the run lasts, and which its depots are */
    STAGE_DRAW    /* what happened in each slot */
};

struct reading {
    struct profile *p;
    enum stage stage;
    unsigned run; /* 0: not found yet */
    bool failed;  /* no memory */
};

double profile_slot_s(const struct profile *p)
{
    return (p->end - p->begin) / PROFILE_SLOTS;
}

/* ---- depots and lanes ---- */

static struct profile_depot *find_depot(const struct profile *p,
                                        unsigned number, size_t *out_at)
{
    for (size_t i = 0; i < p->n_depots; i++)
        if (p->depots[i]->number == number) {
            *out_at = i;
            return p->depots[i];
        }
    return NULL;
}

static struct profile_depot *add_depot(struct reading *g,
                                       const struct trace_event *e)
{
    struct profile *p = g->p;
    size_t at;
    struct profile_depot *d = find_depot(p, e->depot, &at);

    if (d != NULL)
        return d;
    if (p->n_depots == PROFILE_DEPOTS) {
        p->n_depots_more++;
        return NULL;
    }
    d = calloc(1, sizeof *d);
    if (d == NULL) {
        g->failed = true;
        return NULL;
    }
    d->number = e->depot;
    d->least_connect = d->least_first_byte = d->begin = d->end = -1;
    snprintf(d->host, sizeof d->host, "%s", e->host[0] != '\0' ? e->host : "?");
    for (at = p->n_depots++; at > 0 && p->depots[at - 1]->number > e->depot;
         at--)
        p->depots[at] = p->depots[at - 1];
    p->depots[at] = d;
    return d;
}

static struct profile_lane *find_lane(const struct profile *p, unsigned thread)
{
    for (size_t i = 0; i < p->n_lanes; i++)
        if (p->lanes[i]->number == thread)
            return p->lanes[i];
    return NULL;
}

/* They are sorted by thread, which goes by depots. */
static void add_lane(struct reading *g, const struct trace_event *e)
{
    struct profile *p = g->p;
    struct profile_lane *lane = find_lane(p, e->thread);

    if (lane != NULL || p->n_lanes == PROFILE_LANES) {
        p->n_lanes_more += lane == NULL;
        return;
    }
    lane = calloc(1, sizeof *lane);
    if (lane == NULL) {
        g->failed = true;
        return;
    }
    lane->number = e->thread;
    size_t at = p->n_lanes++;
    for (; at > 0 && p->lanes[at - 1]->number > e->thread; at--)
        p->lanes[at] = p->lanes[at - 1];
    p->lanes[at] = lane;
}

/* Once all of them are known. */
static void place_lanes(struct profile *p)
{
    for (size_t i = 0; i < p->n_lanes; i++) {
        struct profile_lane *lane = p->lanes[i];
        const unsigned number =
            lane->number > 0 ? (lane->number - 1) / TRACE_LANES : 0;
        size_t at = 0;
        struct profile_depot *d = find_depot(p, number, &at);
        lane->depot = (unsigned)at;
        if (d != NULL)
            d->n_lanes++;
    }
}

/* ---- the first reading: how long, and which depots ---- */

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

static void count_first_byte(struct profile_depot *d,
                             const struct trace_event *e)
{
    const double came = e->at + e->first_byte;

    d->n_first_bytes++;
    d->first_byte += e->first_byte;
    least(&d->least_first_byte, e->first_byte - e->connect - e->name_lookup);
    if (d->begin < 0 || came < d->begin)
        d->begin = came;
}

static void count_request(struct reading *g, const struct trace_event *e)
{
    struct profile_depot *d = add_depot(g, e);
    struct profile *p = g->p;

    add_lane(g, e);
    p->requests++;
    p->received += e->received;
    p->duplicate += e->duplicate;
    if (strcmp(e->reason, "probe") != 0 && strcmp(e->reason, "sample") != 0 &&
        (p->probed < 0 || e->at - e->queued < p->probed))
        p->probed = e->at - e->queued;
    if (d == NULL)
        return;
    d->requests++;
    d->received += e->received;
    d->duplicate += e->duplicate;
    d->canceled += strcmp(e->name, "canceled") == 0;
    d->connections += e->connect > 0;
    d->name_lookup += e->name_lookup;
    d->connect += e->connect;
    least(&d->least_connect, e->connect);
    if (e->first_byte >= 0)
        count_first_byte(d, e);
    if (e->received > 0 && e->at + e->lasts > d->end)
        d->end = e->at + e->lasts;
    d->has_given_up = is_failure(e);
    d->failures += is_failure(e);
    if (e->error[0] != '\0')
        memcpy(d->error, e->error, sizeof d->error);
}

static void count_event(struct reading *g, const struct trace_event *e)
{
    struct profile *p = g->p;
    struct profile_depot *d;
    size_t at;

    if (p->begin < 0 || e->at < p->begin)
        p->begin =
            e->kind == TRACE_RUN || e->kind == TRACE_LANE ? p->begin : e->at;
    if (e->at + e->lasts > p->end)
        p->end = e->at + e->lasts;
    switch (e->kind) {
    case TRACE_RUN:
        memcpy(p->name, e->name, sizeof p->name);
        break;
    case TRACE_BEGIN:
        snprintf(p->algorithm, sizeof p->algorithm, "%.31s", e->name);
        p->is_virtual = e->is_virtual;
        break;
    case TRACE_END:
        snprintf(p->outcome, sizeof p->outcome, "%.31s", e->name);
        memcpy(p->error, e->error, sizeof p->error);
        p->lost = e->lost;
        if (e->size != XD_SIZE_UNKNOWN)
            p->size = e->size;
        break;
    case TRACE_REQUEST:
        count_request(g, e);
        break;
    case TRACE_DEPOT:
        d = find_depot(p, e->depot, &at);
        if (d != NULL)
            d->has_counters = true;
        break;
    case TRACE_BYTES:
        if (p->size < e->in_order && strcmp(p->outcome, "") == 0)
            p->size = e->in_order;
        break;
    case TRACE_LANE:
    case TRACE_PLAYER:
    case TRACE_LOG:
        break;
    }
}

/* ---- the second one: what happened in each slot ---- */

static size_t slot_of(const struct profile *p, double at)
{
    const double x = (at - p->begin) / profile_slot_s(p);

    if (!(x > 0))
        return 0;
    return x < PROFILE_SLOTS - 1 ? (size_t)x : PROFILE_SLOTS - 1;
}

static void paint(struct profile *p, struct profile_lane *lane, double from,
                  double to, enum profile_state state)
{
    const size_t last = slot_of(p, to);

    for (size_t i = slot_of(p, from); i <= last; i++)
        if (lane->states[i] < (unsigned char)state)
            lane->states[i] = (unsigned char)state;
}

static enum profile_state state_of(const struct trace_event *e)
{
    if (is_failure(e))
        return PROFILE_FAILED;
    if (e->duplicate > e->received / 2)
        return PROFILE_DUPLICATE;
    return strcmp(e->name, "canceled") == 0 ? PROFILE_CANCELED
                                            : PROFILE_RECEIVING;
}

/* Bytes that came evenly from one moment to another. */
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

static void draw_request(struct profile *p, const struct trace_event *e)
{
    struct profile_lane *lane = find_lane(p, e->thread);
    size_t at;
    struct profile_depot *d = find_depot(p, e->depot, &at);
    const double end = e->at + e->lasts;
    const double came = e->first_byte < 0 || e->first_byte > e->lasts
                            ? end
                            : e->at + e->first_byte;

    if (lane != NULL) {
        lane->begins[slot_of(p, e->at)] = 1;
        paint(p, lane, e->at, came, PROFILE_WAITING);
        if (e->received > 0)
            paint(p, lane, came, end, state_of(e));
        else if (is_failure(e))
            paint(p, lane, e->at, end, PROFILE_FAILED);
    }
    if (d == NULL || e->received == 0)
        return;
    for (size_t i = slot_of(p, came); i <= slot_of(p, end); i++)
        d->is_receiving[i] = true;
    if (!d->has_counters)
        spread(p, d, came, end, (double)e->received);
}

/* Counters are read now and then: what came since came evenly. */
static void draw_counter(struct profile *p, const struct trace_event *e)
{
    size_t at;
    struct profile_depot *d = find_depot(p, e->depot, &at);

    if (d == NULL)
        return;
    const double since = d->counted_at > 0 ? d->counted_at : d->begin;
    if ((double)e->received > d->counted && since >= 0)
        spread(p, d, since < e->at ? since : e->at, e->at,
               (double)e->received - d->counted);
    d->counted = (double)e->received;
    d->counted_at = e->at;
}

static void draw_event(struct profile *p, const struct trace_event *e)
{
    const size_t slot = slot_of(p, e->at);

    switch (e->kind) {
    case TRACE_REQUEST:
        draw_request(p, e);
        break;
    case TRACE_DEPOT:
        draw_counter(p, e);
        break;
    case TRACE_BYTES:
        p->frontier[slot] = (double)e->in_order;
        p->stored[slot] = (double)e->stored;
        break;
    case TRACE_PLAYER:
        p->player[slot] = (double)e->in_order;
        p->is_stalled[slot] |= e->is_stalled;
        break;
    case TRACE_RUN:
    case TRACE_LANE:
    case TRACE_BEGIN:
    case TRACE_LOG:
    case TRACE_END:
        break;
    }
}

/* ---- the whole ---- */

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
    else
        draw_event(g->p, e);
}

static bool is_over(const struct reading *g)
{
    return g->failed || (g->stage == STAGE_SEARCH && g->run != 0);
}

/* From its beginning; `from` is there, or can be sought. */
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
    place_lanes(p);
    if (!g.failed)
        status = read_through(&g, STAGE_DRAW, from, path);
    if (!g.failed)
        return status;
    words_error("out of memory");
    return STATUS_FAILED;
}

static struct profile *new_profile(void)
{
    struct profile *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->depots = calloc(PROFILE_DEPOTS, sizeof(struct profile_depot *));
    p->lanes = calloc(PROFILE_LANES, sizeof(struct profile_lane *));
    p->begin = p->end = p->probed = -1;
    for (size_t i = 0; i < PROFILE_SLOTS; i++)
        p->frontier[i] = p->stored[i] = p->player[i] = -1;
    if (p->depots != NULL && p->lanes != NULL)
        return p;
    profile_free(p);
    return NULL;
}

int profile_read_stream(struct profile **out, FILE *from, const char *path,
                        unsigned run)
{
    struct profile *p = new_profile();

    *out = NULL;
    if (p == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
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
    for (size_t i = 0; p->depots != NULL && i < p->n_depots; i++)
        free(p->depots[i]);
    for (size_t i = 0; p->lanes != NULL && i < p->n_lanes; i++)
        free(p->lanes[i]);
    free(p->depots);
    free(p->lanes);
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

/* What the depot could have delivered in a slot. */
static double could(const struct profile *p, const struct profile_depot *d,
                    size_t slot, double rate)
{
    const double at = p->begin + (double)(slot + 1) * profile_slot_s(p);

    if (d->is_receiving[slot])
        return d->bytes[slot] > rate * profile_slot_s(p) / 4
                   ? d->bytes[slot]
                   : rate * profile_slot_s(p);
    if (d->begin < 0 || at < d->begin || (d->has_given_up && at > d->end))
        return 0;
    return rate * profile_slot_s(p);
}

double profile_least_s(const struct profile *p)
{
    double *rates = malloc((p->n_depots + 1) * sizeof *rates);
    double bytes = 0;
    size_t slot = 0;

    if (rates == NULL)
        return 0;
    for (size_t i = 0; i < p->n_depots; i++)
        rates[i] = profile_rate(p, p->depots[i]);
    for (; slot < PROFILE_SLOTS && bytes < (double)p->size; slot++)
        for (size_t i = 0; i < p->n_depots; i++)
            bytes += could(p, p->depots[i], slot, rates[i]);
    free(rates);
    return (double)slot * profile_slot_s(p);
}
