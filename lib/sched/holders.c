/* SPDX-License-Identifier: MIT */
#include "sched/holders.h"

#include "sched/sched.h"

static bool fits(const struct xd_holder *d, unsigned need)
{
    if (d->state == XD_HOLDER_DROPPED)
        return false;
    if ((need & XD_NEED_OPEN) && d->state != XD_HOLDER_OPEN)
        return false;
    if ((need & XD_NEED_RESERVE) && d->state != XD_HOLDER_RESERVE)
        return false;
    return !(need & XD_NEED_AWAKE) || !d->is_backing_off;
}

/* Returns the part of the held run that starts at `byte`, or an empty range if
 * the depot does not hold the byte. */
static struct xd_range run_at(const struct xd_book *b,
                              const struct xd_holder *d, uint64_t byte)
{
    struct xd_range r =
        xd_rangeset_next(&d->held, (struct xd_range){byte, b->wanted.end});

    if (r.begin != byte)
        r.end = r.begin = byte;
    return r;
}

/* Returns the depots that are preferred to this one without ranges.  The caller
 * must skip members that do not support ranges either. */
static const struct xd_depot_set *preferred_to(const struct xd_book *b,
                                               unsigned depot)
{
    return b->depots[depot].is_last_resort ? &b->usable : &b->proven;
}

uint64_t xd_holders_sole_end(const struct xd_book *b, unsigned depot,
                             uint64_t byte)
{
    const struct xd_depot_set *others = preferred_to(b, depot);
    uint64_t end = run_at(b, &b->depots[depot], byte).end;
    unsigned i = xd_depot_set_next(others, 0);

    for (; i < b->n_depots; i = xd_depot_set_next(others, i + 1))
        if (!b->depots[i].no_ranges)
            end = xd_rangeset_next(&b->depots[i].held,
                                   (struct xd_range){byte, end})
                      .begin;
    return xd_book_cut(b, (struct xd_range){byte, end}).end;
}

/* Returns the first depot of the set, at or after `from`, that holds `byte`,
 * and the end of its run. */
static unsigned next_holder(const struct xd_book *b,
                            const struct xd_depot_set *set, unsigned from,
                            uint64_t byte, uint64_t *out_end)
{
    unsigned i = xd_depot_set_next(set, from);

    for (; i < b->n_depots; i = xd_depot_set_next(set, i + 1)) {
        struct xd_range run = run_at(b, &b->depots[i], byte);

        ++*b->steps;
        if (xd_range_is_empty(run))
            continue;
        *out_end = run.end;
        return i;
    }
    return b->n_depots;
}

/* Like next_holder(), but only depots that support ranges. */
static unsigned next_ranged(const struct xd_book *b,
                            const struct xd_depot_set *set, uint64_t byte,
                            uint64_t *out_end)
{
    unsigned i = next_holder(b, set, 0, byte, out_end);

    while (i < b->n_depots && b->depots[i].no_ranges)
        i = next_holder(b, set, i + 1, byte, out_end);
    return i;
}

static unsigned open_holder(const struct xd_book *b, unsigned need,
                            uint64_t byte, uint64_t *out_end)
{
    unsigned best = b->n_depots;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];
        struct xd_range run;

        ++*b->steps;
        if (i >= best || b->depots[i].no_ranges || !fits(&b->depots[i], need))
            continue;
        run = run_at(b, &b->depots[i], byte);
        if (xd_range_is_empty(run))
            continue;
        *out_end = run.end;
        best = i;
    }
    return best;
}

/* Searches only depots that support ranges. */
static unsigned find_ranged(const struct xd_book *b, unsigned need,
                            uint64_t byte, uint64_t *out_end)
{
    unsigned i;

    if (need & XD_NEED_OPEN)
        return open_holder(b, need, byte, out_end);
    if (!(need & XD_NEED_RESERVE))
        return next_ranged(b, &b->usable, byte, out_end);
    i = next_ranged(b, &b->fresh, byte, out_end);
    return i < b->n_depots ? i : next_ranged(b, &b->tried, byte, out_end);
}

/* An open depot without ranges does not prevent opening others, unless it is
 * the only one left.  One in reserve is opened if no other depot has proved
 * itself. */
static unsigned find_without_ranges(const struct xd_book *b, unsigned need,
                                    uint64_t byte, uint64_t *out_end)
{
    const struct xd_depot_set *others =
        need & XD_NEED_RESERVE ? &b->proven : &b->usable;
    uint64_t unused;
    unsigned i = xd_depot_set_next(&b->without_ranges, 0);

    if (i == b->n_depots || next_ranged(b, others, byte, &unused) < b->n_depots)
        return b->n_depots;
    for (; i < b->n_depots; i = xd_depot_set_next(&b->without_ranges, i + 1)) {
        const struct xd_holder *d = &b->depots[i];

        if (!fits(d, need) || xd_range_is_empty(run_at(b, d, byte)) ||
            next_ranged(b, preferred_to(b, i), byte, &unused) < b->n_depots)
            continue;
        *out_end = xd_holders_sole_end(b, i, byte);
        return i;
    }
    return b->n_depots;
}

unsigned xd_holders_deliverer(const struct xd_book *b, unsigned need,
                              uint64_t byte, uint64_t *out_end)
{
    unsigned i = find_ranged(b, need, byte, out_end);

    return i < b->n_depots ? i : find_without_ranges(b, need, byte, out_end);
}

uint64_t xd_holders_work(const struct xd_book *b, unsigned depot, uint64_t from)
{
    const struct xd_holder *d = &b->depots[depot];
    uint64_t end = b->wanted.end;

    while (from < end) {
        struct xd_range gap = xd_ledger_next_gap(b->ledger, XD_BYTES_RECEIVED,
                                                 (struct xd_range){from, end});
        struct xd_range run =
            xd_rangeset_next(&d->held, (struct xd_range){gap.begin, end});

        from = run.begin;
        if (from >= gap.end)
            continue;
        if (!d->no_ranges)
            return from;
        if (next_ranged(b, preferred_to(b, depot), from, &run.end) ==
            b->n_depots)
            return from;
        from = run.end;
    }
    return end;
}

/* Returns how far another depot than `depot` has the bytes, in any tier; `byte`
 * if none does. */
static uint64_t spared_to(const struct xd_book *b, unsigned depot,
                          uint64_t byte)
{
    unsigned i = xd_depot_set_next(&b->usable, 0);

    for (; i < b->n_depots; i = xd_depot_set_next(&b->usable, i + 1)) {
        struct xd_range run =
            xd_rangeset_next(xd_holder_has(&b->depots[i]),
                             (struct xd_range){byte, b->wanted.end});

        ++*b->steps;
        if (i != depot && run.begin == byte)
            return run.end;
    }
    return byte;
}

bool xd_holders_is_needed(const struct xd_book *b, unsigned depot)
{
    struct xd_range rest = b->wanted;

    while (!xd_range_is_empty(rest)) {
        struct xd_range gap =
            xd_ledger_next_gap(b->ledger, XD_BYTES_RECEIVED, rest);
        struct xd_range run =
            xd_rangeset_next(xd_holder_has(&b->depots[depot]),
                             (struct xd_range){gap.begin, rest.end});

        rest.begin = run.begin;
        if (rest.begin >= gap.end)
            continue;
        rest.begin = spared_to(b, depot, run.begin);
        if (rest.begin == run.begin)
            return true;
    }
    return false;
}

/* Smaller differences of latency are ignored, because a busy machine causes
 * them. */
#define LEAST_CHANGE (20 * XD_MS)

bool xd_learned_is_outdated(const struct xd_learned *learned, xd_usec latency)
{
    return learned->latency > 0 && latency > 2 * learned->latency &&
           latency > learned->latency + LEAST_CHANGE;
}
