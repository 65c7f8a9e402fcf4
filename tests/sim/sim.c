/* SPDX-License-Identifier: MIT */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#include "sim/net.h"

#define SILENCE (5 * XD_SECOND)
#define CHECK_DELAY (3 * XD_MS)
#define READER_STEP (20 * XD_MS)
#define MOST_STEPS 200000

/* One fetch on its way: what happens to it next, and when. */
struct request {
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
    struct xd_driver driver;
    struct sim_outcome outcome;
    uint64_t random;
    struct request requests[SIM_FETCHES];
    bool no_ranges_is_known[SIM_DEPOTS];
    bool here[SIM_BYTES];         /* arrived and not yet rejected */
    bool was_rejected[SIM_BYTES]; /* by piece */
    bool is_checked[SIM_BYTES];   /* by piece */
    xd_usec check_at[SIM_BYTES];  /* by piece; 0: not yet */
    uint64_t reader;
    xd_usec reader_at;
    unsigned jumps;
    unsigned n_joined; /* depots that the scheduler knows */
    struct {
        unsigned jumps; /* left */
        xd_usec next_at;
    } guests[SIM_GUESTS];
};

static uint64_t below(struct sim *s, uint64_t n)
{
    return xd_sim_random(&s->random) % n;
}

static void tell(struct sim *s, struct xd_sched_event ev)
{
    xd_driver_take_event(&s->driver, ev);
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
    for (uint64_t at = r.begin; at < r.end && at < SIM_BYTES; at++) {
        s->outcome.bytes_received++;
        s->outcome.bytes_redundant += s->here[at];
        s->here[at] = true;
    }
    for (uint64_t i = 0; i < n_pieces(s); i++)
        if (!s->is_checked[i] && s->check_at[i] == 0 &&
            all_here(s, piece_range(s, i)))
            s->check_at[i] = s->driver.now + CHECK_DELAY;
}

static void ban_liars(struct sim *s)
{
    for (unsigned d = 0; d < s->n_joined; d++) {
        bool is_busy = false;

        for (unsigned i = 0; i < SIM_FETCHES; i++)
            is_busy |= s->requests[i].is_live && s->requests[i].depot == d;
        if (s->sc->depots[d].is_a_liar && !is_busy)
            tell(s, (struct xd_sched_event){.kind = XD_EV_BANNED, .depot = d});
    }
}

static bool was_read(const struct sim *s, struct xd_range r)
{
    for (uint64_t at = r.begin; at < r.end; at++)
        if (xd_rules_has(&s->driver.rules->verified, at))
            return s->reader_at > 0;
    return false;
}

static void check_piece(struct sim *s, uint64_t i)
{
    struct xd_range r = piece_range(s, i);

    s->check_at[i] = 0;
    if (r.begin >= r.end)
        return;
    /* What was read counts for good. */
    if (!s->was_rejected[i] && !was_read(s, r) &&
        below(s, 100) < s->sc->reject_percent) {
        s->was_rejected[i] = true;
        memset(s->here + r.begin, 0, r.end - r.begin);
        if (xd_ledger_discard(&s->driver.ledger, r, XD_DISCARD_BAD_PIECE) < 0)
            s->driver.failed = true;
        tell(s, (struct xd_sched_event){.kind = XD_EV_REJECTED, .range = r});
        ban_liars(s);
        return;
    }
    s->is_checked[i] = true;
    tell(s, (struct xd_sched_event){.kind = XD_EV_VERIFIED, .range = r});
}

/* Flights. */

/* Bytes reach the scheduler, and count at once where no piece is checked. */
static void bring(struct sim *s, unsigned fetch, enum xd_sched_event_kind kind,
                  uint64_t end)
{
    struct request *f = &s->requests[fetch];
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
                                            ? s->driver.now + retry_after
                                            : 0});
    if (s->sc->piece_bytes == 0 && fresh.begin < fresh.end)
        tell(s,
             (struct xd_sched_event){.kind = XD_EV_VERIFIED, .range = fresh});
}

static uint64_t end_of(const struct sim *s, const struct request *f)
{
    return f->range.end < s->sc->size ? f->range.end : s->sc->size;
}

static xd_usec time_for(const struct sim *s, const struct request *f)
{
    return UINT64_C(8) * XD_SECOND / s->sc->depots[f->depot].bytes_per_s + 1;
}

/* A depot shows what it is when its fetch begins. */
static void take_off(struct sim *s, const struct xd_sched_action *a)
{
    const struct sim_depot *d = &s->sc->depots[a->depot];
    struct request *f = &s->requests[a->fetch];
    uint64_t length;

    *f = (struct request){.is_live = true,
                          .depot = a->depot,
                          .range = a->range,
                          .got = a->range.begin,
                          .breaks_at = UINT64_MAX,
                          .next_at = s->driver.now + d->latency + 1};
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
    struct request *f = &s->requests[fetch];
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

static void go_on(struct sim *s, unsigned fetch)
{
    struct request *f = &s->requests[fetch];
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
    f->next_at = s->driver.now + time_for(s, f);
    if (s->sc->depots[f->depot].is_silent && f->got >= f->breaks_at)
        f->next_at = s->driver.now + SILENCE;
}

/* Readers. */

static uint64_t known_end(const struct sim *s)
{
    uint64_t end = s->driver.rules->wanted.end;

    return end < SIM_BYTES ? end : SIM_BYTES;
}

static bool can_read(const struct sim *s)
{
    return s->reader < known_end(s) &&
           xd_rules_has(&s->driver.rules->verified, s->reader);
}

/* A piece counts only when all of it is here. */
static void want(struct sim *s, unsigned reader, uint64_t from, uint64_t bytes)
{
    if (s->sc->piece_bytes > 0) {
        bytes += from % s->sc->piece_bytes;
        from -= from % s->sc->piece_bytes;
    }
    tell(s, (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                    .reader = reader,
                                    .range = {from, from + bytes},
                                    .due = s->driver.now + below(s, 1000),
                                    .bytes_per_s = below(s, 2) * 1000});
}

/* The reader goes elsewhere, or at last to the first byte that it misses and
 * that is not beyond hope. */
static void jump(struct sim *s)
{
    struct xd_rules *r = s->driver.rules;

    if (s->jumps > 0) {
        s->jumps--;
        s->reader = r->wanted.begin + below(s, known_end(s) - r->wanted.begin);
    } else {
        s->reader = r->wanted.begin;
        while (s->reader < known_end(s) &&
               (xd_rules_has(&r->verified, s->reader) ||
                xd_rules_has(&r->reported, s->reader)))
            s->reader++;
    }
    want(s, 0, s->reader, s->sc->o.window_bytes);
}

/* Whether the reader is at an end. */
static bool must_jump(const struct sim *s)
{
    return s->sc->jumps > 0 && !s->sc->size_is_unknown &&
           (s->reader == known_end(s) ||
            xd_rules_has(&s->driver.rules->reported, s->reader));
}

static void guest_looks(struct sim *s, unsigned i)
{
    uint64_t most = s->sc->o.window_bytes, from = below(s, s->sc->size);

    s->guests[i].next_at = 0;
    if (s->guests[i].jumps == 0) {
        want(s, i + 1, 0, 0);
        return;
    }
    s->guests[i].jumps--;
    s->guests[i].next_at = s->driver.now + 1 + below(s, 200 * XD_MS);
    want(s, i + 1, from, below(s, most) + 1);
}

static void read_on(struct sim *s)
{
    uint64_t most = s->sc->reader_bytes_per_s * READER_STEP / XD_SECOND + 1;
    uint64_t from = s->reader;

    s->reader_at = s->driver.now + READER_STEP;
    while (can_read(s) && s->reader < from + most)
        s->reader++;
    if (must_jump(s) || (s->jumps > 0 && below(s, 10) == 0))
        jump(s);
    else if (s->reader > from)
        want(s, 0, s->reader, s->sc->o.window_bytes);
}

/* Depots that join. */

static xd_usec joins_at(const struct sim *s)
{
    return s->n_joined < s->sc->n_depots ? s->sc->depots[s->n_joined].joins_at
                                         : 0;
}

/* With one run of bytes after the other. */
static void join(struct sim *s)
{
    const struct sim_depot *d = &s->sc->depots[s->n_joined];

    for (size_t i = 0; i < d->n_held; i++)
        tell(s, (struct xd_sched_event){.kind = XD_EV_JOINED,
                                        .depot = s->n_joined,
                                        .range = d->held[i],
                                        .max_lanes = d->max_lanes,
                                        .tier = d->tiers[i]});
    s->n_joined++;
}

/* The world. */

static void carry_out(void *world, const struct xd_sched_action *a)
{
    struct sim *s = world;

    if (a->kind == XD_DO_FETCH) {
        take_off(s, a);
    } else if (a->kind == XD_DO_SHORTEN) {
        s->requests[a->fetch].range.end = a->range.end;
        if (s->requests[a->fetch].breaks_at > a->range.end)
            s->requests[a->fetch].breaks_at = a->range.end;
    } else if (a->kind == XD_DO_CANCEL) {
        /* Sometimes too late: what was under way happens. */
        s->requests[a->fetch].is_canceled = below(s, 4) > 0;
        s->requests[a->fetch].next_at =
            s->driver.now + 1 + below(s, 40 * XD_MS);
    }
}

static void earliest(xd_usec at, xd_usec *when)
{
    if (at > 0 && at < *when)
        *when = at;
}

/* What happens at this moment, one thing at a time. */
static void happen(struct sim *s)
{
    for (unsigned i = 0; i < SIM_FETCHES; i++)
        if (s->requests[i].is_live && s->requests[i].next_at <= s->driver.now) {
            go_on(s, i);
            return;
        }
    for (uint64_t i = 0; i < n_pieces(s); i++)
        if (s->check_at[i] > 0 && s->check_at[i] <= s->driver.now) {
            check_piece(s, i);
            return;
        }
    if (joins_at(s) > 0 && joins_at(s) <= s->driver.now) {
        join(s);
        return;
    }
    for (unsigned i = 0; i < s->sc->n_guests; i++)
        if (s->guests[i].next_at > 0 && s->guests[i].next_at <= s->driver.now) {
            guest_looks(s, i);
            return;
        }
    if (s->reader_at > 0 && s->reader_at <= s->driver.now)
        read_on(s);
}

static void step(struct sim *s)
{
    xd_usec when = xd_driver_act(&s->driver);

    if (s->driver.is_over)
        return;
    for (unsigned i = 0; i < SIM_FETCHES; i++)
        if (s->requests[i].is_live)
            earliest(s->requests[i].next_at, &when);
    for (uint64_t i = 0; i < n_pieces(s); i++)
        earliest(s->check_at[i], &when);
    for (unsigned i = 0; i < s->sc->n_guests; i++)
        earliest(s->guests[i].next_at, &when);
    earliest(joins_at(s), &when);
    if (can_read(s) || must_jump(s))
        earliest(s->reader_at, &when);
    if (when == XD_NEVER) { /* nothing will ever happen */
        s->driver.broken = XD_RULE_IDLE;
        s->driver.is_over = true;
        return;
    }
    s->driver.now = when > s->driver.now ? when : s->driver.now;
    happen(s);
}

static void start(struct sim *s)
{
    struct xd_holding holdings[SIM_DEPOTS];
    struct xd_range everything = {0, UINT64_MAX}, wanted = s->sc->wanted;
    struct xd_layout layout = {.size = s->sc->size, .depots = holdings};
    uint64_t cuts[SIM_BYTES];

    while (s->n_joined < s->sc->n_depots && joins_at(s) == 0)
        s->n_joined++;
    layout.n_depots = s->n_joined;
    for (unsigned i = 0; i < s->sc->n_depots; i++) {
        static struct xd_range held[SIM_DEPOTS][SIM_BYTES / 2];
        static uint8_t tiers[SIM_DEPOTS][SIM_BYTES / 2];

        memcpy(held[i], s->sc->depots[i].held, sizeof held[i]);
        memcpy(tiers[i], s->sc->depots[i].tiers, sizeof tiers[i]);
        holdings[i] =
            (struct xd_holding){.held = held[i],
                                .n_held = s->sc->depots[i].n_held,
                                .max_lanes = s->sc->depots[i].max_lanes,
                                .tiers = tiers[i]};
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
    s->driver.world = s;
    s->driver.carry_out = carry_out;
    s->driver.spoil = s->sc->spoil;
    if (xd_driver_begin(&s->driver, &layout, &s->sc->o, wanted) < 0)
        abort();
    s->random = s->sc->seed;
    s->reader = wanted.begin;
    if (s->sc->o.window_bytes > 0)
        s->reader_at = 1;
    s->jumps = s->sc->jumps;
    for (unsigned i = 0; i < s->sc->n_guests; i++) {
        s->guests[i].next_at = 1;
        s->guests[i].jumps = s->sc->jumps;
    }
    if (s->sc->resumed.begin < s->sc->resumed.end) {
        memset(s->here + s->sc->resumed.begin, 1,
               s->sc->resumed.end - s->sc->resumed.begin);
        tell(s, (struct xd_sched_event){.kind = XD_EV_VERIFIED,
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
    while (!s.driver.is_over) {
        step(&s);
        if (++steps == MOST_STEPS)
            s.driver.is_over = s.driver.is_endless = true;
    }
    if (s.driver.failed)
        abort();
    s.outcome.took = s.driver.now;
    s.outcome.broken = s.driver.broken;
    s.outcome.is_endless = s.driver.is_endless;
    s.outcome.is_complete = s.driver.is_complete;
    xd_driver_fini(&s.driver);
    return s.outcome;
}
