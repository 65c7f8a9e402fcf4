/* SPDX-License-Identifier: MIT */
/*
 * Bytes become a scenario and then events: any that may come, in any order,
 * at any time.  The rules of lib/sim check each action.  When the bytes are used up all depots do as they are told, and the
 * download must come to an end.
 */
#include "fuzz.h"
#include "sched/policy.h"
#include "sim/rules.h"

/* The rules look at every run of bytes, block and depot for each action: small files
 * and few depots show as much and let many more inputs be tried. */
#define MOST_BYTES 160
#define MOST_DEPOTS 5
#define MOST_LANES 3
#define MOST_CUTS 8
#define MOST_EVENTS 400
#define MOST_ACTIONS 5000 /* without an event, and events after the last byte */

struct world {
    struct fuzz_input in;
    struct xd_ledger ledger;
    struct xd_sched *sched;
    struct xd_rules *rules;
    uint64_t size; /* also where a file of unknown size ends, more or less */
    xd_usec now, until;
    struct xd_range lost[MOST_DEPOTS]; /* the last, which may come back */
    bool is_over;
};

/* The scenario. */

static void draw_cuts(struct world *w, struct xd_layout *l)
{
    unsigned n = fuzz_below(&w->in, MOST_CUTS);
    uint64_t at = 0;

    while (n-- > 0) {
        at += fuzz_between(&w->in, 1, 60);
        if (at >= w->size)
            break;
        l->cuts[l->n_cuts++] = at;
    }
}

/* A depot holds those of the runs between cuts that a byte names; with tiers, in
 * which differs from run to run. */
static void draw_holding(struct world *w, const struct xd_layout *l,
                         struct xd_holding *h)
{
    unsigned which = fuzz_byte(&w->in);

    for (size_t i = 0; i <= l->n_cuts; i++) {
        struct xd_range r = {i > 0 ? l->cuts[i - 1] : 0,
                             i < l->n_cuts ? l->cuts[i] : w->size};

        if (which >> i % 8 & 1)
            continue;
        if (h->tiers)
            h->tiers[h->n_held] = (uint8_t)((which + i * (which / 8)) % 3);
        if (!h->tiers && h->n_held > 0 && h->held[h->n_held - 1].end == r.begin)
            h->held[h->n_held - 1].end = r.end;
        else
            h->held[h->n_held++] = r;
    }
}

static struct xd_range draw_part(struct world *w, struct xd_range of)
{
    unsigned length = (unsigned)xd_range_length(of);
    unsigned a = fuzz_below(&w->in, length + 1);
    unsigned b = fuzz_below(&w->in, length + 1);

    return (struct xd_range){of.begin + (a < b ? a : b),
                             of.begin + (a < b ? b : a)};
}

static struct xd_sched_options draw_options(struct world *w, unsigned n_depots)
{
    static const struct xd_policy *const policies[] = {
        &xd_policy_progress, &xd_policy_aggressive, &xd_policy_basic,
        &xd_policy_adaptive};
    unsigned flags = fuzz_byte(&w->in);
    struct xd_sched_options o = {
        .policy = policies[fuzz_below(&w->in, 4)],
        .redundancy = fuzz_between(&w->in, 1, 4),
        .progress = flags & 1 ? XD_AUTO : fuzz_below(&w->in, 10),
        .lanes_per_depot = fuzz_between(&w->in, 1, MOST_LANES),
        .max_open = fuzz_between(&w->in, 1, n_depots),
        .block_bytes = fuzz_between(&w->in, 3, 40),
        .window_bytes = flags & 2 ? fuzz_between(&w->in, 1, MOST_BYTES) : 0,
        .most_objects = flags / 64,
        .max_failures = fuzz_between(&w->in, 1, 6),
        .run_losers = flags & 4,
        .whole_blocks = flags & 4 && flags & 128,
        .max_pings = flags & 8 ? 1 + flags / 16 : 0};

    return o;
}

static void begin(struct world *w)
{
    static struct xd_range held[MOST_DEPOTS][MOST_CUTS + 1];
    static uint8_t tiers[MOST_DEPOTS][MOST_CUTS + 1];
    struct xd_range wanted;
    struct xd_holding depots[MOST_DEPOTS];
    uint64_t cuts[MOST_CUTS];
    unsigned kind = fuzz_byte(&w->in);
    struct xd_layout l = {.cuts = cuts, .depots = depots};
    struct xd_sched_options o;

    w->size = fuzz_between(&w->in, 1, MOST_BYTES);
    l.n_depots = fuzz_between(&w->in, 1, MOST_DEPOTS);
    l.size = kind % 8 == 7 ? UINT64_MAX : w->size;
    if (l.size != UINT64_MAX)
        draw_cuts(w, &l);
    for (size_t i = 0; i < l.n_depots && i < MOST_DEPOTS; i++) {
        depots[i] = (struct xd_holding){.held = held[i]};
        if (kind >= 128)
            depots[i].tiers = tiers[i];
        if (l.size != UINT64_MAX) {
            draw_holding(w, &l, &depots[i]);
        } else {
            held[i][0] = (struct xd_range){0, UINT64_MAX};
            tiers[i][0] = i % 2;
            depots[i].n_held = 1;
        }
        depots[i].max_lanes = kind / 8 % 4;
    }
    wanted = (struct xd_range){0, l.size};
    if (kind % 8 == 6)
        wanted = draw_part(w, wanted);
    o = draw_options(w, (unsigned)l.n_depots);
    w->sched = xd_sched_new(&l, &o, wanted, &w->ledger);
    FUZZ_CHECK(w->sched != NULL);
    w->rules = xd_rules_new(&l, xd_sched_options(w->sched), wanted);
    FUZZ_CHECK(w->rules != NULL);
    w->rules->sched = w->sched;
}

/* Actions. */

static void act(struct world *w)
{
    struct xd_sched_action a = {.kind = XD_DO_OPEN};
    unsigned n = 0;

    while (!w->is_over && a.kind != XD_DO_WAIT) {
        enum xd_rule rule;

        a = xd_sched_next(w->sched, w->now);
        rule = xd_rules_action(w->rules, &a, w->now);
        if (rule != XD_RULE_NONE)
            fprintf(stderr, "broken: %s\n", xd_rule_text(rule));
        FUZZ_CHECK(rule == XD_RULE_NONE);
        w->is_over = a.kind == XD_DO_FINISH || a.kind == XD_DO_FAIL;
        FUZZ_CHECK(++n < MOST_ACTIONS);
    }
    w->until = a.until;
}

/* Events. */

static void tell(struct world *w, struct xd_sched_event ev)
{
    if (w->is_over)
        return;
    ev.now = w->now;
    FUZZ_CHECK(xd_rules_event(w->rules, &ev) == XD_RULE_NONE);
    FUZZ_CHECK(xd_sched_event(w->sched, &ev) == 0);
    act(w);
}

/* Where the wanted bytes end, as far as anybody can know. */
static uint64_t known_end(const struct world *w)
{
    return w->rules->wanted.end < w->size ? w->rules->wanted.end : w->size;
}

/* The n-th live fetch, counted round; n_fetches if there is none. */
static unsigned live_fetch(const struct world *w, unsigned n)
{
    unsigned found = w->rules->n_fetches;

    for (unsigned i = 0; i < w->rules->n_fetches; i++) {
        unsigned at = (n + i) % w->rules->n_fetches;

        if (w->rules->fetches[at].is_live) {
            found = at;
            break;
        }
    }
    return found;
}

static void end_fetch(struct world *w, unsigned fetch,
                      enum xd_sched_event_kind kind)
{
    const struct xd_ruled_fetch *f = &w->rules->fetches[fetch];
    uint64_t end = f->range.end < w->size ? f->range.end : w->size;
    struct xd_sched_event ev = {
        .kind = kind, .fetch = fetch, .range = {f->range.begin, end}};

    if (kind == XD_EV_STARTED)
        ev.range.end = f->got;
    else if (kind != XD_EV_DONE)
        ev.range.end =
            f->got + fuzz_below(&w->in, (unsigned)(end - f->got) + 1);
    if (kind == XD_EV_BYTES && ev.range.end == f->got)
        return;
    if (kind == XD_EV_FAILED)
        ev.retry_at = fuzz_byte(&w->in) % 4 == 3
                          ? w->now + fuzz_byte(&w->in) * XD_SECOND
                          : 0;
    tell(w, ev);
}

static void fetch_event(struct world *w)
{
    static const enum xd_sched_event_kind kinds[] = {
        XD_EV_BYTES, XD_EV_DONE, XD_EV_FAILED, XD_EV_CANCELED, XD_EV_STARTED};
    enum xd_sched_event_kind kind =
        kinds[fuzz_below(&w->in, sizeof kinds / sizeof kinds[0])];
    unsigned fetch = live_fetch(w, fuzz_byte(&w->in));

    if (fetch == w->rules->n_fetches)
        return;
    if (kind == XD_EV_CANCELED && !w->rules->fetches[fetch].is_canceled)
        kind = XD_EV_BYTES;
    end_fetch(w, fetch, kind);
}

static void accept_what_arrived(struct world *w)
{
    for (uint64_t at = w->rules->wanted.begin; at < known_end(w); at++) {
        struct xd_range r = {at, at};

        while (r.end < known_end(w) &&
               xd_rules_has(&w->rules->arrived, r.end) &&
               !xd_rules_has(&w->rules->verified, r.end))
            r.end++;
        if (r.begin < r.end)
            tell(w,
                 (struct xd_sched_event){.kind = XD_EV_VERIFIED, .range = r});
    }
}

/* What is accepted may come from elsewhere, but of a file of unknown size. */
static void range_event(struct world *w, enum xd_sched_event_kind kind)
{
    struct xd_range known = {w->rules->wanted.begin, known_end(w)}, part;

    if (w->rules->size_is_unknown && kind == XD_EV_VERIFIED) {
        accept_what_arrived(w);
    } else if (known.begin < known.end) {
        part = draw_part(w, known);
        if (kind == XD_EV_REJECTED)
            FUZZ_CHECK(
                xd_ledger_discard(&w->ledger, part, XD_DISCARD_BAD_PIECE) == 0);
        tell(w, (struct xd_sched_event){.kind = kind, .range = part});
    }
}

static bool runs_there(const struct world *w, unsigned depot,
                       struct xd_range range)
{
    for (unsigned i = 0; i < w->rules->n_fetches; i++) {
        const struct xd_ruled_fetch *f = &w->rules->fetches[i];

        if (f->is_live && f->depot == depot && f->range.begin < range.end &&
            range.begin < f->range.end)
            return true;
    }
    return false;
}

/* A part of what the depot still has, in one piece. */
static struct xd_range draw_held(struct world *w, unsigned depot)
{
    const struct xd_rangeset *has = &w->rules->depots[depot].has;
    struct xd_range r = {fuzz_below(&w->in, (unsigned)w->size), 0};
    uint64_t most = fuzz_between(&w->in, 1, MOST_BYTES);

    for (r.end = r.begin;
         r.end < w->size && xd_rules_has(has, r.end) && most > 0; most--)
        r.end++;
    return r;
}

static void lose(struct world *w, unsigned depot)
{
    struct xd_range r = draw_held(w, depot);

    if (w->rules->size_is_unknown)
        r = (struct xd_range){0, UINT64_MAX};
    if (runs_there(w, depot, r))
        return;
    w->lost[depot] = r;
    tell(w, (struct xd_sched_event){
                .kind = XD_EV_LOST, .depot = depot, .range = r});
}

static void depot_event(struct world *w)
{
    static const enum xd_sched_event_kind kinds[] = {
        XD_EV_LOST,   XD_EV_NORANGES,  XD_EV_BANNED, XD_EV_HOLDS,
        XD_EV_SHARES, XD_EV_CONNECTED, XD_EV_HINT};
    unsigned depot = fuzz_below(&w->in, w->rules->n_depots);
    struct xd_sched_event ev = {
        .kind = kinds[fuzz_below(&w->in, sizeof kinds / sizeof kinds[0])],
        .depot = depot,
        .is_last_resort = depot % 2 == 1,
        .range = w->lost[depot]};

    if (ev.kind == XD_EV_HINT)
        ev.range = (struct xd_range){fuzz_byte(&w->in), fuzz_byte(&w->in)};
    if (ev.kind == XD_EV_LOST)
        lose(w, depot);
    else if (ev.kind != XD_EV_BANNED ||
             !runs_there(w, depot, (struct xd_range){0, UINT64_MAX}))
        tell(w, ev);
}

/* The reader takes what lies in order and is good. */
static void read_on(struct world *w)
{
    uint64_t at = w->rules->wanted.begin;

    if (w->rules->o.window_bytes == 0)
        return;
    while (at < known_end(w) && xd_rules_has(&w->rules->verified, at))
        at++;
    tell(w,
         (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                 .range = {at, at + w->rules->o.window_bytes}});
}

static void time_passes(struct world *w, xd_usec usec)
{
    w->now += usec;
    tell(w, (struct xd_sched_event){.kind = XD_EV_TICK});
}

/* What came of the first ping that is on its way. */
static void end_ping(struct world *w)
{
    unsigned i = 0;

    if (w->rules->n_pings == 0)
        return;
    while (!w->rules->depots[i].is_pinged)
        i++;
    tell(w, (struct xd_sched_event){
                .kind = XD_EV_PINGED,
                .depot = i,
                .ping = (enum xd_ping_result)fuzz_below(&w->in, 4),
                .round_trip = fuzz_byte(&w->in) * XD_MS});
}

static void step(struct world *w)
{
    unsigned kind = fuzz_below(&w->in, 16);

    if (kind % 2 == 0)
        end_ping(w);

    if (kind < 9)
        fetch_event(w);
    else if (kind < 11)
        range_event(w, XD_EV_VERIFIED);
    else if (kind == 11)
        range_event(w, XD_EV_REJECTED);
    else if (kind == 12)
        depot_event(w);
    else if (kind == 13)
        read_on(w);
    else
        time_passes(w, fuzz_byte(&w->in) * 100 * XD_MS);
}

/* The end. */

/* Without a byte left every choice is the first: a fetch brings all. */
static void come_to_an_end(struct world *w)
{
    unsigned n = 0;

    while (!w->is_over) {
        unsigned fetch;

        while (w->rules->n_pings > 0 && !w->is_over)
            end_ping(w);
        fetch = live_fetch(w, 0);
        if (fetch < w->rules->n_fetches) {
            end_fetch(w, fetch,
                      w->rules->fetches[fetch].is_canceled ? XD_EV_CANCELED
                                                           : XD_EV_DONE);
        } else {
            FUZZ_CHECK(w->until != XD_NEVER || w->rules->o.window_bytes > 0);
            if (w->until != XD_NEVER)
                time_passes(w, w->until - w->now);
        }
        accept_what_arrived(w);
        read_on(w);
        FUZZ_CHECK(++n < MOST_ACTIONS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct world w;

    memset(&w, 0, sizeof w);
    w.in = fuzz_input(data, len);
    w.now = XD_SECOND;
    begin(&w);
    act(&w);
    for (unsigned i = 0; i < MOST_EVENTS && !fuzz_is_over(&w.in); i++)
        step(&w);
    w.in.at = w.in.end;
    accept_what_arrived(&w);
    come_to_an_end(&w);
    xd_sched_free(w.sched);
    xd_ledger_fini(&w.ledger);
    xd_rules_free(w.rules);
    return 0;
}
