/* SPDX-License-Identifier: MIT */
#include "session/stand_in.h"

#include "session/stripes_parts.h"

/* ---- which depots can be asked ---- */

/* Returns true if the parity that replaces a shard of this stripe must all come
 * from one depot. */
static bool is_apart(const struct xd_stripes *s, size_t stripe)
{
    return s->states && s->states[stripe].is_apart;
}

/* Returns true if this parity of the depot may replace bytes of the shard.  If
 * all parity for the shard must come from one depot, only the parity that is
 * already used there may. */
static bool may_take(const struct xd_stripes *s, size_t stripe,
                     struct xd_range shard, unsigned depot, unsigned parity)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    for (size_t i = 0; is_apart(s, stripe) && o && i < o->n_runs; i++)
        if ((o->runs[i].depot != depot || o->runs[i].parity != parity) &&
            !xd_range_is_empty(xd_range_clip(o->runs[i].range, shard)))
            return false;
    return true;
}

static struct xd_range shard_of(const struct xd_stripes *s, size_t stripe,
                                uint64_t byte)
{
    unsigned number;

    return xd_stripes_shard(&s->list[stripe], byte, &number);
}

typedef void report_fn(void *world, unsigned depot, struct xd_range range);

/* Reports the ranges of `rest` in which the holder's parity is unused. */
static void report_unused(struct xd_stripes *s, size_t stripe,
                          const struct xd_parity_holder *h,
                          struct xd_range rest, report_fn *report)
{
    struct xd_range gap;

    while (gap = xd_stripes_next_unused(s, stripe, h->parity, rest),
           !xd_range_is_empty(gap)) {
        report(s->world, h->depot, gap);
        rest.begin = gap.end;
    }
}

/* Returns the first part of `r` where parity of the depot is unused, and sets
 * *out to the number of that parity.  Empty if there is none. */
static struct xd_range next_of_depot(const struct xd_stripes *s, size_t stripe,
                                     unsigned depot, struct xd_range r,
                                     unsigned *out)
{
    const struct xd_range shard = shard_of(s, stripe, r.begin);
    struct xd_range first = {r.end, r.end};
    struct xd_parity_holder h = {0};

    while (s->ops->next_holder(s->world, stripe, &h)) {
        const struct xd_range gap =
            h.depot == depot && may_take(s, stripe, shard, depot, h.parity)
                ? xd_stripes_next_unused(s, stripe, h.parity, r)
                : first;

        if (xd_range_is_empty(gap) || gap.begin >= first.begin)
            continue;
        first = gap;
        *out = h.parity;
    }
    return first;
}

/* Returns the first part of `r` that is being requested from the depot; empty
 * at r.end if there is none. */
static struct xd_range next_asked(const struct xd_stripes *s, size_t stripe,
                                  unsigned depot, struct xd_range r)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    struct xd_range first = {r.end, r.end};

    for (size_t i = 0; o && i < o->n_runs; i++) {
        const struct xd_range asked = xd_range_clip(o->runs[i].range, r);

        if (o->runs[i].fetch != XD_STORED && o->runs[i].depot == depot &&
            !xd_range_is_empty(asked) && asked.begin < first.begin)
            first = asked;
    }
    return first;
}

static void lend_but_asked(struct xd_stripes *s, size_t stripe, unsigned depot,
                           struct xd_range rest)
{
    while (!xd_range_is_empty(rest)) {
        const struct xd_range asked = next_asked(s, stripe, depot, rest);

        if (asked.begin > rest.begin)
            s->ops->lend(s->world, depot,
                         (struct xd_range){rest.begin, asked.begin});
        rest.begin = asked.end;
    }
}

static bool has_other(const struct xd_stripes *s, size_t stripe, unsigned depot,
                      unsigned parity)
{
    struct xd_parity_holder h = {0};

    while (s->ops->next_holder(s->world, stripe, &h))
        if (h.depot == depot && h.parity != parity)
            return true;
    return false;
}

/* Tells the scheduler not to ask the depot for positions in `rest` where all of
 * its parity is in use.  Positions at which some of the parity is being
 * requested are left out.  `has_more` means that the depot has several parity
 * shards of the stripe.  Most depots have one, and searching for more takes
 * long in a wide code. */
static void lend_used(struct xd_stripes *s, size_t stripe,
                      const struct xd_parity_holder *h, bool has_more,
                      struct xd_range rest)
{
    unsigned parity;

    while (!xd_range_is_empty(rest)) {
        const struct xd_range gap =
            has_more ? next_of_depot(s, stripe, h->depot, rest, &parity)
                     : xd_stripes_next_unused(s, stripe, h->parity, rest);

        lend_but_asked(s, stripe, h->depot,
                       (struct xd_range){rest.begin, gap.begin});
        rest.begin = gap.end;
    }
}

/* If `is_lent`, reports that the parity of the run is now in use at the
 * positions of `r`, so that it cannot replace another shard there.  Otherwise,
 * reports that it can do so again.  `r` is within one shard.  If one depot must
 * deliver all parity for a shard, parity of other depots cannot replace this
 * shard. */
static void report_others(struct xd_stripes *s, size_t stripe,
                          const struct xd_coded_run *run, struct xd_range r,
                          bool is_lent)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    struct xd_parity_holder h = {0};
    bool has_more;
    unsigned own;
    const struct xd_range shard = xd_stripes_shard(shape, r.begin, &own);

    while (s->ops->next_holder(s->world, stripe, &h)) {
        if (is_apart(s, stripe) &&
            (is_lent ? h.depot != run->depot
                     : may_take(s, stripe, shard, h.depot, h.parity)))
            report_unused(s, stripe, &h, shard,
                          is_lent ? s->ops->lend : s->ops->give_back);
        if (h.parity != run->parity)
            continue;
        has_more = is_lent && has_other(s, stripe, h.depot, h.parity);
        for (unsigned i = 0; i < shape->k; i++) {
            const struct xd_range beside = xd_stripes_beside(shape, i, r);

            if ((is_lent && i == own) || xd_range_is_empty(beside))
                continue;
            if (is_lent)
                lend_used(s, stripe, &h, has_more, beside);
            else if (may_take(s, stripe, xd_stripes_data(shape, i), h.depot,
                              h.parity))
                s->ops->give_back(s->world, h.depot, beside);
        }
    }
}

/* Tells the scheduler that the parity of the run is available again, except
 * where other runs use it. */
static void give_back(struct xd_stripes *s, size_t stripe,
                      const struct xd_coded_run *run)
{
    struct xd_range rest = run->range, gap;

    while (gap = xd_stripes_next_unused(s, stripe, run->parity, rest),
           !xd_range_is_empty(gap)) {
        report_others(s, stripe, run, gap, false);
        rest.begin = gap.end;
    }
}

/* Tells the scheduler that the depot can be asked for its unused parity. */
static void hold(struct xd_stripes *s, size_t stripe,
                 const struct xd_parity_holder *h)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];

    for (unsigned i = 0; i < shape->k; i++) {
        const struct xd_range shard = xd_stripes_data(shape, i);

        if (may_take(s, stripe, shard, h->depot, h->parity))
            report_unused(s, stripe, h, shard, s->ops->give_back);
    }
}

void xd_stand_in_hold(struct xd_stripes *s, size_t stripe, unsigned depot)
{
    struct xd_parity_holder h = {0};

    while (s->ops->next_holder(s->world, stripe, &h))
        if (h.depot == depot)
            hold(s, stripe, &h);
}

/* Forgets that requests for parity were refused: tells the scheduler that
 * depots can be asked again, except where their parity replaces data.  Returns
 * whether there were any refused requests. */
static bool hold_again(struct xd_stripes *s, size_t stripe)
{
    struct xd_parity_holder h = {0};

    if (!s->states || !s->states[stripe].has_refused)
        return false;
    s->states[stripe].has_refused = false;
    while (s->ops->next_holder(s->world, stripe, &h))
        hold(s, stripe, &h);
    return true;
}

static void look_again(struct xd_stripes *s, size_t stripe, xd_usec now)
{
    if (xd_stripes_look_again(s, stripe, now) < 0)
        s->ops->run_out(s->world);
}

/* ---- requests ---- */

static bool has_parity(const struct xd_stripes *s, size_t stripe,
                       unsigned depot, unsigned parity)
{
    struct xd_parity_holder h = {0};

    while (s->ops->next_holder(s->world, stripe, &h))
        if (h.depot == depot && h.parity == parity)
            return true;
    return false;
}

/* Called if all parity of the depot is in use or not allowed here.  Chooses the
 * parity that replaces this range already, or is being requested for it, if the
 * depot has that parity.  Otherwise chooses any parity of the depot; the
 * request will then be refused. */
static bool choose_again(const struct xd_stripes *s, size_t stripe,
                         unsigned depot, struct xd_range range,
                         struct xd_coded_run *out)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    const struct xd_range shard = shard_of(s, stripe, range.begin);
    struct xd_parity_holder h = {0};
    bool has_any = false;

    for (size_t i = 0; o && i < o->n_runs; i++) {
        const struct xd_range there = xd_range_clip(o->runs[i].range, range);

        if (there.begin == range.begin && !xd_range_is_empty(there) &&
            has_parity(s, stripe, depot, o->runs[i].parity)) {
            out->parity = o->runs[i].parity;
            out->range = there;
            return true;
        }
    }
    while (s->ops->next_holder(s->world, stripe, &h)) {
        if (h.depot != depot ||
            (has_any && !may_take(s, stripe, shard, depot, h.parity)))
            continue;
        out->parity = h.parity;
        out->range = range;
        has_any = true;
    }
    return has_any;
}

bool xd_stand_in_choose(const struct xd_stripes *s, unsigned depot,
                        struct xd_range range, struct xd_coded_run *out)
{
    const size_t stripe = xd_stripes_find(s, range.begin);
    struct xd_range unused;

    if (stripe == XD_NO_STRIPE)
        return false;
    range = xd_range_clip(range, shard_of(s, stripe, range.begin));
    unused = next_of_depot(s, stripe, depot, range, &out->parity);
    if (unused.begin == range.begin && !xd_range_is_empty(unused)) {
        out->range = unused;
        return true;
    }
    if (!xd_range_is_empty(unused))
        range.end = unused.begin;
    return choose_again(s, stripe, depot, range, out);
}

/* Returns whether the parity of the run replaces another shard at the same
 * positions. */
static bool is_elsewhere(const struct xd_stripes *s, size_t stripe,
                         const struct xd_coded_run *run)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    const struct xd_stripe_shape *shape = &s->list[stripe];
    unsigned own, number;

    (void)xd_stripes_shard(shape, run->range.begin, &own);
    for (size_t i = 0; o && i < o->n_runs; i++) {
        const struct xd_range there = o->runs[i].range;

        (void)xd_stripes_shard(shape, there.begin, &number);
        if (o->runs[i].parity == run->parity && number != own &&
            !xd_range_is_empty(xd_range_clip(
                xd_stripes_beside(shape, number, run->range), there)))
            return true;
    }
    return false;
}

static bool refuse(struct xd_stripes *s, size_t stripe,
                   const struct xd_coded_run *run, xd_usec now)
{
    struct xd_stripe_state *state = xd_stripes_state(s, stripe);

    look_again(s, stripe, now);
    if (state)
        state->has_refused = true;
    s->ops->lend(s->world, run->depot, run->range);
    return false;
}

bool xd_stand_in_begin(struct xd_stripes *s, const struct xd_coded_run *run,
                       xd_usec now)
{
    const size_t stripe = xd_stripes_find(s, run->range.begin);
    const struct xd_range shard = shard_of(s, stripe, run->range.begin);

    if (is_elsewhere(s, stripe, run) ||
        !may_take(s, stripe, shard, run->depot, run->parity) ||
        !xd_stripes_may_begin(s, stripe, run))
        return refuse(s, stripe, run, now);
    if (xd_stripes_begin(s, stripe, run) < 0) {
        s->ops->run_out(s->world);
        return false;
    }
    report_others(s, stripe, run, run->range, true);
    return true;
}

void xd_stand_in_stored(struct xd_stripes *s, unsigned fetch,
                        struct xd_range range, xd_usec now)
{
    if (xd_stripes_stored(s, fetch, range) < 0)
        s->ops->run_out(s->world);
    xd_stand_in_written(s, range, now);
}

void xd_stand_in_written(struct xd_stripes *s, struct xd_range range,
                         xd_usec now)
{
    for (size_t i = xd_stripes_from(s, range.begin);
         i < s->n && s->list[i].range.begin < range.end; i++) {
        int rc = s->ignores_late ? 0 : xd_stripes_look(s, i, now);

        if (rc == 0)
            rc = xd_stripes_put_ready(s, i);
        if (rc < 0)
            s->ops->run_out(s->world);
    }
}

void xd_stand_in_ended(struct xd_stripes *s, unsigned fetch, uint64_t byte,
                       xd_usec now)
{
    struct xd_coded_run run;
    size_t stripe;

    if (!xd_stripes_end(s, fetch, byte, &stripe, &run))
        return;
    give_back(s, stripe, &run);
    (void)hold_again(s, stripe);
    s->ops->ask_again(s->world);
    if (xd_stripes_is_open(s, stripe))
        look_again(s, stripe, now);
}

struct xd_range xd_stand_in_coming(const struct xd_stripes *s,
                                   struct xd_range r)
{
    const size_t stripe = xd_stripes_find(s, r.begin);

    if (stripe == XD_NO_STRIPE || !xd_stripes_is_asked(s, stripe))
        return (struct xd_range){r.begin, r.begin};
    return xd_range_clip(r, s->list[stripe].range);
}

/* ---- dropping parity ---- */

void xd_stand_in_release(struct xd_stripes *s, size_t stripe,
                         const struct xd_coded_run *run,
                         enum xd_discard_reason why)
{
    s->ops->discard(s->world, run->range, why);
    give_back(s, stripe, run);
}

void xd_stand_in_decoded(struct xd_stripes *s, size_t stripe,
                         const struct xd_coded_run *run)
{
    give_back(s, stripe, run);
}

static bool drop_within(struct xd_stripes *s, size_t stripe, unsigned depot,
                        struct xd_range r, enum xd_discard_reason why)
{
    struct xd_coded_run run;
    bool had_some = false;

    while (xd_stripes_take(s, stripe, depot, r, &run)) {
        xd_stand_in_release(s, stripe, &run, why);
        had_some = true;
    }
    return had_some;
}

bool xd_stand_in_drop_stripe(struct xd_stripes *s, size_t stripe,
                             enum xd_discard_reason why)
{
    return drop_within(s, stripe, XD_STORED, s->list[stripe].range, why);
}

void xd_stand_in_drop(struct xd_stripes *s, unsigned depot, struct xd_range but,
                      enum xd_discard_reason why)
{
    /* Goes backwards, because a closed stripe is replaced by the last one. */
    for (size_t i = s->n_open; i-- > 0;) {
        const size_t stripe = s->open[i].number;
        const struct xd_range range = s->list[stripe].range;

        if (xd_range_is_empty(xd_range_clip(range, but)))
            (void)drop_within(s, stripe, depot, range, why);
    }
}

/* Returns whether this parity already replaces another shard at a position
 * where a byte of this shard is missing. */
static bool lacks_some(const struct xd_stripes *s, size_t stripe,
                       unsigned parity, struct xd_range shard)
{
    while (!xd_range_is_empty(shard)) {
        const struct xd_range unused =
            xd_stripes_next_unused(s, stripe, parity, shard);
        const struct xd_range used = {shard.begin, unused.begin};

        if (!xd_stripes_have(s, stripe, xd_range_clip(used, shard)))
            return true;
        shard.begin = unused.end;
    }
    return false;
}

/* Returns whether the run belongs to a shard that one depot must replace alone,
 * and that depot can no longer deliver the rest.  The run is then dropped, and
 * its parity may be requested again.  To prevent endless repeats, this returns
 * true at most once per shard of the stripe. */
static bool is_left(const struct xd_stripes *s, size_t stripe,
                    const struct xd_coded_run *run, struct xd_range shard)
{
    return is_apart(s, stripe) &&
           s->states[stripe].n_left < s->list[stripe].n &&
           !xd_stripes_is_asked(s, stripe) &&
           !xd_stripes_have(s, stripe, shard) &&
           (s->ops->fails(s->world, run->depot) ||
            !has_parity(s, stripe, run->depot, run->parity) ||
            !may_take(s, stripe, shard, run->depot, run->parity) ||
            lacks_some(s, stripe, run->parity, shard));
}

/* Frees parity for data that no depot has.  Takes it from incomplete runs, and
 * from runs that replace data which some depot still has.  Returns false if
 * nothing can be taken. */
static bool spare(struct xd_stripes *s, size_t stripe, xd_usec now)
{
    struct xd_coded_run run;

    for (size_t i = 0; xd_stripes_next_run(s, stripe, &i, &run); i++) {
        const struct xd_range shard = shard_of(s, stripe, run.range.begin);
        const bool is_held = s->ops->holds(s->world, shard);

        if (!is_held && !is_left(s, stripe, &run, shard))
            continue;
        if (!is_held)
            s->states[stripe].n_left++;
        (void)drop_within(s, stripe, XD_STORED, shard, XD_DISCARD_DROPPED);
        look_again(s, stripe, now);
        return true;
    }
    return false;
}

bool xd_stand_in_spares(struct xd_stripes *s, uint64_t byte, xd_usec now)
{
    const size_t stripe = xd_stripes_find(s, byte);

    if (stripe == XD_NO_STRIPE)
        return false;
    if (!hold_again(s, stripe))
        return spare(s, stripe, now);
    s->ops->ask_again(s->world);
    return true;
}

/* ---- after a while ---- */

/* Reports that all depots with parity of the stripe hold the late shard. */
static void join_late(struct xd_stripes *s, size_t stripe,
                      struct xd_range shard)
{
    struct xd_parity_holder h = {0};

    while (s->ops->next_holder(s->world, stripe, &h))
        if (may_take(s, stripe, shard, h.depot, h.parity))
            report_unused(s, stripe, &h, shard, s->ops->join);
}

static void reconsider(struct xd_stripes *s, size_t stripe, xd_usec now)
{
    (void)hold_again(s, stripe);
    s->ops->ask_again(s->world);
    if (xd_stripes_is_short(s, stripe))
        (void)spare(s, stripe, now);
    if (xd_stripes_is_open(s, stripe))
        look_again(s, stripe, now);
}

xd_usec xd_stand_in_watch(struct xd_stripes *s, xd_usec now)
{
    struct xd_range shard;
    xd_usec late_at, again_at;
    size_t stripe;

    while (stripe = xd_stripes_next_late(s, now, &late_at),
           stripe != XD_NO_STRIPE)
        for (unsigned i = 0; xd_stripes_next_lacking(s, stripe, &i, &shard);
             i++)
            join_late(s, stripe, shard);
    while (stripe = xd_stripes_next_again(s, now, &again_at),
           stripe != XD_NO_STRIPE)
        reconsider(s, stripe, now);
    return xd_earlier(late_at, again_at);
}
