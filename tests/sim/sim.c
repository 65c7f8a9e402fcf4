#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define SILENCE (5 * XD_SECOND)
#define CHECK_DELAY (3 * XD_MS)
#define READER_STEP (20 * XD_MS)
#define MOST_STEPS 200000

/* One fetch on its way: what happens to it next, and when. */
struct flight {
    bool is_live;
    unsigned depot;
    struct xd_range range;
    uint64_t got;
    uint64_t breaks_at; /* fails there; range.end or more: never */
    bool is_canceled;
    xd_usec next_at;
};

struct sim {
    const struct sim_scenario *sc;
    struct xd_sched *sched;
    struct model model;
    struct sim_outcome outcome;
    uint64_t random;
    xd_usec now;
    struct flight flights[MODEL_FETCHES];
    bool no_ranges_is_known[MODEL_DEPOTS];
    bool here[MODEL_BYTES];         /* arrived and not yet rejected */
    bool was_rejected[MODEL_BYTES]; /* by piece */
    bool is_checked[MODEL_BYTES];   /* by piece */
    xd_usec check_at[MODEL_BYTES];  /* by piece; 0: not yet */
    uint64_t reader;
    xd_usec reader_at;
    bool is_over;
};

uint64_t sim_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t below(struct sim *s, uint64_t n)
{
    return sim_random(&s->random) % n;
}

static void tell(struct sim *s, struct xd_sched_event ev)
{
    enum model_rule rule;

    if (s->is_over)
        return;
    ev.now = s->now;
    rule = model_event(&s->model, &ev);
    if (rule != RULE_NONE) {
        s->outcome.broken = rule;
        s->is_over = true;
        return;
    }
    if (xd_sched_event(s->sched, &ev) < 0)
        abort();
}

/* Pieces: accepted or rejected some time after all of one arrived. */

static struct xd_range piece_range(const struct sim *s, uint64_t piece)
{
    struct xd_range r = {piece * s->sc->piece_bytes,
                         (piece + 1) * s->sc->piece_bytes};
    struct xd_range wanted = s->sc->wanted;

    r.begin = r.begin > wanted.begin ? r.begin : wanted.begin;
    r.end = r.end < wanted.end ? r.end : wanted.end;
    return r;
}

static uint64_t n_pieces(const struct sim *s)
{
    if (s->sc->piece_bytes == 0 || s->sc->size_is_unknown)
        return 0;
    return (s->sc->size + s->sc->piece_bytes - 1) / s->sc->piece_bytes;
}

static bool all_here(const struct sim *s, struct xd_range r)
{
    for (uint64_t at = r.begin; at < r.end; at++)
        if (!s->here[at])
            return false;
    return true;
}

static void arrive(struct sim *s, struct xd_range r)
{
    for (uint64_t at = r.begin; at < r.end && at < MODEL_BYTES; at++) {
        s->outcome.bytes_received++;
        s->outcome.bytes_redundant += s->here[at];
        s->here[at] = true;
    }
    for (uint64_t i = 0; i < n_pieces(s); i++)
        if (!s->is_checked[i] && s->check_at[i] == 0 &&
            all_here(s, piece_range(s, i)))
            s->check_at[i] = s->now + CHECK_DELAY;
}

static void ban_liars(struct sim *s)
{
    for (unsigned d = 0; d < s->sc->n_depots; d++) {
        bool is_busy = false;

        for (unsigned i = 0; i < MODEL_FETCHES; i++)
            is_busy |= s->flights[i].is_live && s->flights[i].depot == d;
        if (s->sc->depots[d].is_a_liar && !is_busy)
            tell(s, (struct xd_sched_event){.kind = XD_EV_BANNED, .depot = d});
    }
}

static void check_piece(struct sim *s, uint64_t i)
{
    struct xd_range r = piece_range(s, i);

    s->check_at[i] = 0;
    if (r.begin >= r.end)
        return;
    if (!s->was_rejected[i] && below(s, 100) < s->sc->reject_percent) {
        s->was_rejected[i] = true;
        memset(s->here + r.begin, 0, r.end - r.begin);
        tell(s, (struct xd_sched_event){.kind = XD_EV_REJECTED, .range = r});
        ban_liars(s);
        return;
    }
    s->is_checked[i] = true;
    tell(s, (struct xd_sched_event){.kind = XD_EV_ACCEPTED, .range = r});
}

/* Flights. */

/* Bytes reach the scheduler, and count at once where no piece is checked. */
static void bring(struct sim *s, unsigned fetch, enum xd_sched_event_kind kind,
                  uint64_t end)
{
    struct flight *f = &s->flights[fetch];
    struct xd_range fresh = {f->got, end};
    xd_usec retry_after = s->sc->depots[f->depot].retry_after;

    arrive(s, fresh);
    f->got = end;
    f->is_live = kind == XD_EV_BYTES;
    tell(s, (struct xd_sched_event){.kind = kind,
                                    .fetch = fetch,
                                    .range = {f->range.begin, end},
                                    .retry_at =
                                        kind == XD_EV_FAILED && retry_after > 0
                                            ? s->now + retry_after
                                            : 0});
    if (s->sc->piece_bytes == 0 && fresh.begin < fresh.end)
        tell(s,
             (struct xd_sched_event){.kind = XD_EV_ACCEPTED, .range = fresh});
}

static uint64_t end_of(const struct sim *s, const struct flight *f)
{
    return f->range.end < s->sc->size ? f->range.end : s->sc->size;
}

static xd_usec time_for(const struct sim *s, const struct flight *f)
{
    return UINT64_C(8) * XD_SECOND / s->sc->depots[f->depot].bytes_per_s + 1;
}

/* A depot shows what it is when its fetch begins. */
static void take_off(struct sim *s, const struct xd_sched_action *a)
{
    const struct sim_depot *d = &s->sc->depots[a->depot];
    struct flight *f = &s->flights[a->fetch];
    uint64_t length;

    *f = (struct flight){.is_live = true,
                         .depot = a->depot,
                         .range = a->range,
                         .got = a->range.begin,
                         .breaks_at = UINT64_MAX,
                         .next_at = s->now + d->latency + 1};
    length = end_of(s, f) - f->range.begin;
    if (d->is_silent || (length > 0 && below(s, 100) < d->fail_percent))
        f->breaks_at = f->range.begin + below(s, length + 1);
    if (d->is_dead)
        f->breaks_at = f->range.begin;
    if (f->range.begin < d->claimed.end && d->claimed.begin < f->range.end &&
        d->claimed.begin < f->breaks_at)
        f->breaks_at = d->claimed.begin > f->range.begin ? d->claimed.begin
                                                         : f->range.begin;
    if (d->no_ranges && !s->no_ranges_is_known[a->depot])
        f->breaks_at = f->range.begin;
    if (d->is_silent && f->breaks_at == f->range.begin)
        f->next_at += SILENCE;
}

static void break_off(struct sim *s, unsigned fetch)
{
    struct flight *f = &s->flights[fetch];
    const struct sim_depot *d = &s->sc->depots[f->depot];
    struct xd_range lost = d->claimed;

    if (d->no_ranges && !s->no_ranges_is_known[f->depot]) {
        s->no_ranges_is_known[f->depot] = true;
        tell(s, (struct xd_sched_event){.kind = XD_EV_NORANGES,
                                        .depot = f->depot});
    }
    bring(s, fetch, XD_EV_FAILED, f->got);
    lost.begin = lost.begin > f->got ? lost.begin : f->got;
    lost.end = lost.end < f->range.end ? lost.end : f->range.end;
    if (lost.begin == f->got && lost.begin < lost.end)
        tell(s, (struct xd_sched_event){
                    .kind = XD_EV_LOST, .depot = f->depot, .range = lost});
}

static void fly(struct sim *s, unsigned fetch)
{
    struct flight *f = &s->flights[fetch];
    uint64_t step = 1 + below(s, 8), end = end_of(s, f);

    if (f->is_canceled) {
        bring(s, fetch, XD_EV_CANCELED, f->got);
        return;
    }
    if (f->got >= f->breaks_at) {
        break_off(s, fetch);
        return;
    }
    if (f->got + step > f->breaks_at)
        step = f->breaks_at - f->got;
    if (f->got + step >= end && f->breaks_at >= end) {
        bring(s, fetch, XD_EV_DONE, end);
        return;
    }
    bring(s, fetch, XD_EV_BYTES, f->got + step);
    f->next_at = s->now + time_for(s, f);
    if (s->sc->depots[f->depot].is_silent && f->got >= f->breaks_at)
        f->next_at = s->now + SILENCE;
}

static void read_on(struct sim *s)
{
    uint64_t most = s->sc->reader_bytes_per_s * READER_STEP / XD_SECOND + 1;
    uint64_t from = s->reader;

    s->reader_at = s->now + READER_STEP;
    while (s->reader < s->model.wanted.end && s->reader < MODEL_BYTES &&
           s->reader < from + most && s->model.accepted[s->reader])
        s->reader++;
    if (s->reader > from)
        tell(s, (struct xd_sched_event){.kind = XD_EV_READER,
                                        .range = {s->reader, 0}});
}

/* The world. */

static void carry_out(struct sim *s, const struct xd_sched_action *a)
{
    switch (a->kind) {
    case XD_DO_FETCH:
        take_off(s, a);
        break;
    case XD_DO_CANCEL: /* sometimes too late: what was under way happens */
        s->flights[a->fetch].is_canceled = below(s, 4) > 0;
        s->flights[a->fetch].next_at = s->now + 1 + below(s, 40 * XD_MS);
        break;
    case XD_DO_FINISH:
    case XD_DO_FAIL:
        s->outcome.is_complete = a->kind == XD_DO_FINISH;
        s->is_over = true;
        break;
    case XD_DO_WAIT:
    case XD_DO_OPEN:
    case XD_DO_PARK:
        break;
    }
}

/* Let the scheduler act until it waits; when it wants to be woken. */
static xd_usec act(struct sim *s)
{
    struct xd_sched_action a = {.kind = XD_DO_OPEN};
    unsigned steps = 0;

    while (!s->is_over && a.kind != XD_DO_WAIT) {
        a = xd_sched_next(s->sched, s->now);
        if (s->sc->spoil)
            s->sc->spoil(&a);
        s->outcome.broken = model_action(&s->model, &a, s->now);
        s->is_over = s->outcome.broken != RULE_NONE;
        if (!s->is_over)
            carry_out(s, &a);
        if (++steps == MOST_STEPS)
            s->is_over = s->outcome.is_endless = true;
    }
    return a.until;
}

static void earliest(xd_usec at, xd_usec *when)
{
    if (at > 0 && at < *when)
        *when = at;
}

/* What happens at this moment, one thing at a time. */
static void happen(struct sim *s)
{
    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        if (s->flights[i].is_live && s->flights[i].next_at <= s->now) {
            fly(s, i);
            return;
        }
    for (uint64_t i = 0; i < n_pieces(s); i++)
        if (s->check_at[i] > 0 && s->check_at[i] <= s->now) {
            check_piece(s, i);
            return;
        }
    if (s->reader_at > 0 && s->reader_at <= s->now)
        read_on(s);
}

static void step(struct sim *s)
{
    xd_usec when = act(s);

    if (s->is_over)
        return;
    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        if (s->flights[i].is_live)
            earliest(s->flights[i].next_at, &when);
    for (uint64_t i = 0; i < n_pieces(s); i++)
        earliest(s->check_at[i], &when);
    if (s->reader < s->model.wanted.end && s->reader < MODEL_BYTES &&
        s->model.accepted[s->reader])
        earliest(s->reader_at, &when);
    if (when == XD_NEVER) { /* nothing will ever happen */
        s->outcome.broken = RULE_IDLE;
        s->is_over = true;
        return;
    }
    s->now = when > s->now ? when : s->now;
    happen(s);
}

static void start(struct sim *s)
{
    struct xd_holding holdings[MODEL_DEPOTS];
    struct xd_range everything = {0, UINT64_MAX}, wanted = s->sc->wanted;
    struct xd_layout layout = {
        .size = s->sc->size, .depots = holdings, .n_depots = s->sc->n_depots};
    uint64_t cuts[MODEL_BYTES];

    for (unsigned i = 0; i < s->sc->n_depots; i++) {
        static struct xd_range held[MODEL_DEPOTS][MODEL_BYTES / 2];

        memcpy(held[i], s->sc->depots[i].held, sizeof held[i]);
        holdings[i] = (struct xd_holding){held[i], s->sc->depots[i].n_held,
                                          s->sc->depots[i].max_lanes};
        if (s->sc->size_is_unknown) {
            holdings[i].held = &everything;
            holdings[i].n_held = 1;
        }
    }
    memcpy(cuts, s->sc->cuts, sizeof cuts);
    layout.cuts = cuts;
    layout.n_cuts = s->sc->n_cuts;
    if (s->sc->size_is_unknown) {
        layout.size = UINT64_MAX;
        wanted = everything;
    }
    s->sched = xd_sched_new(&layout, &s->sc->o, wanted);
    if (s->sched == NULL)
        abort();
    model_init(&s->model, &layout, xd_sched_options(s->sched), wanted);
    s->random = s->sc->seed;
    s->reader = wanted.begin;
    if (s->sc->o.window_bytes > 0)
        s->reader_at = 1;
    if (s->sc->resumed.begin < s->sc->resumed.end) {
        memset(s->here + s->sc->resumed.begin, 1,
               s->sc->resumed.end - s->sc->resumed.begin);
        tell(s, (struct xd_sched_event){.kind = XD_EV_ACCEPTED,
                                        .range = s->sc->resumed});
    }
}

struct sim_outcome sim_run(const struct sim_scenario *sc)
{
    static struct sim s;
    unsigned steps = 0;

    memset(&s, 0, sizeof s);
    s.sc = sc;
    start(&s);
    while (!s.is_over) {
        step(&s);
        if (++steps == MOST_STEPS)
            s.is_over = s.outcome.is_endless = true;
    }
    s.outcome.took = s.now;
    xd_sched_free(s.sched);
    return s.outcome;
}
