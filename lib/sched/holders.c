#include "sched/holders.h"

static bool fits(const struct xd_holder *d, unsigned need)
{
    if (d->state == XD_HOLDER_DROPPED)
        return false;
    if ((need & XD_NEED_OPEN) && d->state != XD_HOLDER_OPEN)
        return false;
    if ((need & XD_NEED_RESERVE) && d->state != XD_HOLDER_RESERVE)
        return false;
    return !(need & XD_NEED_AWAKE) || !d->resting;
}

/* The part of the held run around `byte` that begins there; empty if the
 * depot does not hold it. */
static struct xd_range run_at(const struct xd_book *b,
                              const struct xd_holder *d, uint64_t byte)
{
    struct xd_range r =
        xd_rangeset_next(&d->held, (struct xd_range){byte, b->wanted.end});

    if (r.begin != byte)
        r.end = r.begin = byte;
    return r;
}

uint64_t xd_holders_sole_end(const struct xd_book *b, unsigned depot,
                             uint64_t byte)
{
    uint64_t end = run_at(b, &b->depots[depot], byte).end;

    for (unsigned i = 0; i < b->n_depots; i++) {
        const struct xd_holder *d = &b->depots[i];

        if (!d->no_ranges && fits(d, 0))
            end =
                xd_rangeset_next(&d->held, (struct xd_range){byte, end}).begin;
    }
    for (size_t i = 0; i < b->n_cuts; i++)
        if (b->cuts[i] > byte && b->cuts[i] < end)
            return b->cuts[i];
    return end;
}

/* The first depot from `from` on, in the set, that holds `byte`, and the end of
 * its run. */
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

static unsigned open_holder(const struct xd_book *b, unsigned need,
                            uint64_t byte, uint64_t *out_end)
{
    unsigned best = b->n_depots;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];
        struct xd_range run;

        ++*b->steps;
        if (i >= best || !fits(&b->depots[i], need))
            continue;
        run = run_at(b, &b->depots[i], byte);
        if (xd_range_is_empty(run))
            continue;
        *out_end = run.end;
        best = i;
    }
    return best;
}

/* Where every depot knows ranges. */
static unsigned find_bringer(const struct xd_book *b, unsigned need,
                             uint64_t byte, uint64_t *out_end)
{
    unsigned i;

    if (need & XD_NEED_OPEN)
        return open_holder(b, need, byte, out_end);
    if (!(need & XD_NEED_RESERVE))
        return next_holder(b, &b->usable, 0, byte, out_end);
    i = next_holder(b, &b->fresh, 0, byte, out_end);
    return i < b->n_depots ? i : next_holder(b, &b->tried, 0, byte, out_end);
}

/* Those without ranges could only where no other is left. */
static unsigned find_any_bringer(const struct xd_book *b, unsigned need,
                                 uint64_t byte, uint64_t *out_end)
{
    unsigned without_ranges = b->n_depots;
    bool is_sole = true;

    for (unsigned i = 0; i < b->n_depots; i++) {
        const struct xd_holder *d = &b->depots[i];
        struct xd_range run;

        if (!fits(d, 0))
            continue;
        run = run_at(b, d, byte);
        if (xd_range_is_empty(run))
            continue;
        if (d->no_ranges) {
            if (fits(d, need) && without_ranges == b->n_depots)
                without_ranges = i;
            continue;
        }
        is_sole = false;
        if (fits(d, need)) {
            *out_end = run.end;
            return i;
        }
    }
    if (!is_sole || without_ranges == b->n_depots)
        return b->n_depots;
    *out_end = xd_holders_sole_end(b, without_ranges, byte);
    return without_ranges;
}

unsigned xd_holders_bringer(const struct xd_book *b, unsigned need,
                            uint64_t byte, uint64_t *out_end)
{
    return b->has_no_ranges ? find_any_bringer(b, need, byte, out_end)
                            : find_bringer(b, need, byte, out_end);
}

/* As far as another depot, which knows ranges, holds the bytes; `byte` itself
 * if none does. */
static uint64_t held_elsewhere_to(const struct xd_book *b, uint64_t byte)
{
    for (unsigned i = 0; i < b->n_depots; i++) {
        const struct xd_holder *d = &b->depots[i];
        struct xd_range run = run_at(b, d, byte);

        if (!d->no_ranges && fits(d, 0) && !xd_range_is_empty(run))
            return run.end;
    }
    return byte;
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
        run.end = held_elsewhere_to(b, from);
        if (run.end == from)
            return from;
        from = run.end;
    }
    return end;
}

/* As far as a depot other than `depot` holds the bytes; `byte` itself if none
 * does. */
static uint64_t spared_to(const struct xd_book *b, unsigned depot,
                          uint64_t byte)
{
    uint64_t end = byte;
    unsigned i = next_holder(b, &b->usable, 0, byte, &end);

    if (i == depot) {
        end = byte;
        next_holder(b, &b->usable, depot + 1, byte, &end);
    }
    return end;
}

bool xd_holders_is_needed(const struct xd_book *b, unsigned depot)
{
    struct xd_range rest = b->wanted;

    while (!xd_range_is_empty(rest)) {
        struct xd_range gap =
            xd_ledger_next_gap(b->ledger, XD_BYTES_RECEIVED, rest);
        struct xd_range run = xd_rangeset_next(
            &b->depots[depot].held, (struct xd_range){gap.begin, rest.end});

        rest.begin = run.begin;
        if (rest.begin >= gap.end)
            continue;
        rest.begin = spared_to(b, depot, run.begin);
        if (rest.begin == run.begin)
            return true;
    }
    return false;
}
