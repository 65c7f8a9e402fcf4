/* SPDX-License-Identifier: MIT */
#include "session/repair.h"

#include <xdownload/error.h>

/* Maximum number of rounds with a single depot.  Each fetches at most the size
 * of the file. */
#define MOST_ALONE 2

void xd_repair_fini(struct xd_repair *r)
{
    xd_rangeset_fini(&r->exchanged);
    xd_rangeset_fini(&r->suspected);
    xd_rangeset_fini(&r->tried);
    xd_rangeset_fini(&r->differed);
}

static struct xd_range depot_range(unsigned depot)
{
    return (struct xd_range){depot, (uint64_t)depot + 1};
}

static uint64_t bytes_of(const struct xd_repair *r, unsigned depot)
{
    return xd_ledger_bytes_of(r->ledger, depot, *r->wanted);
}

/* ---- a round ---- */

/* Returns whether this round sets the bytes of `depot` aside, to compare them
 * with the bytes of other depots. */
static bool is_set_aside(const struct xd_repair *r, unsigned depot)
{
    return (depot == r->depot) != r->is_alone;
}

/* Returns the first run, from `from` on, that one depot delivered and that this
 * round sets aside. */
static struct xd_range next_set_aside(const struct xd_repair *r, uint64_t from)
{
    struct xd_range rest = {from, r->wanted->end}, run;
    unsigned depot;

    while (run = xd_runs_next_depot(&r->ledger->origins, rest, &depot),
           !xd_range_is_empty(run) && !is_set_aside(r, depot))
        rest.begin = run.end;
    return run;
}

int xd_repair_set_aside(struct xd_repair *r)
{
    uint64_t from = r->wanted->begin;
    struct xd_range run;

    r->step = XD_REPAIR_STEP_FETCH;
    while (run = next_set_aside(r, from), !xd_range_is_empty(run)) {
        if (xd_ledger_change(r->ledger, XD_SET_ASIDE, run) < 0)
            return XD_E_NOMEM;
        from = run.end;
    }
    return 0;
}

bool xd_repair_is_fetching(const struct xd_repair *r)
{
    return r->step == XD_REPAIR_STEP_FETCH;
}

bool xd_repair_avoids(const struct xd_repair *r, unsigned depot)
{
    return xd_repair_is_fetching(r) && is_set_aside(r, depot);
}

bool xd_repair_compares(const struct xd_repair *r, size_t n_depots)
{
    return xd_repair_is_fetching(r) && !r->is_alone && !r->is_disputed &&
           n_depots > 2;
}

/* ---- depots ---- */

/* Returns true if the depot delivered bytes and was not suspected yet. */
static bool may_be_suspected(const struct xd_repair *r, unsigned depot)
{
    return !xd_rangeset_contains(&r->suspected, depot_range(depot)) &&
           bytes_of(r, depot) > 0;
}

/* Returns the next suspect: the depot that was outvoted, or else the one that
 * delivered the fewest bytes.  XD_HELD if no suspect is left. */
static unsigned find_suspect(const struct xd_repair *r, size_t n_depots)
{
    unsigned found = XD_HELD;

    if (r->has_outvoted && may_be_suspected(r, r->outvoted))
        return r->outvoted;
    for (unsigned i = 0; i < n_depots; i++) {
        if (may_be_suspected(r, i) &&
            (found == XD_HELD || bytes_of(r, i) < bytes_of(r, found)))
            found = i;
    }
    return found;
}

/* Returns the next depot from which to fetch the whole file; XD_HELD if there
 * is none. */
static unsigned find_alone(const struct xd_repair *r, size_t n_depots)
{
    unsigned found = XD_HELD;

    for (unsigned i = 0; i < n_depots && r->n_alone < MOST_ALONE; i++) {
        struct xd_repair_depot depot = r->look(r->world, i);

        if (depot.is_banned || !depot.has_all ||
            xd_rangeset_contains(&r->tried, depot_range(i)))
            continue;
        if (found == XD_HELD || (r->has_outvoted && i == r->outvoted))
            found = i;
    }
    return found;
}

/* Marks as tried all depots that delivered the same bytes as the depot whose
 * file was wrong. */
static int drop_equals(struct xd_repair *r, size_t n_depots)
{
    const struct xd_rangeset *differed = &r->differed;

    for (unsigned i = 0; i < n_depots; i++) {
        bool differs = bytes_of(r, i) == 0;

        for (size_t j = 0; j < differed->n && !differs; j++)
            differs = xd_ledger_bytes_of(r->ledger, i, differed->ranges[j]) > 0;
        if (!differs && xd_rangeset_add(&r->tried, depot_range(i)) < 0)
            return XD_E_NOMEM;
    }
    return 0;
}

/* Returns the first bytes of the depot that were replaced. */
static struct xd_range first_exchanged(const struct xd_repair *r,
                                       unsigned depot)
{
    struct xd_range run = {0, 0};

    for (size_t i = 0; i < r->exchanged.n && xd_range_is_empty(run); i++)
        run =
            xd_runs_next_of(&r->ledger->origins, depot, r->exchanged.ranges[i]);
    return run;
}

/* ---- events ---- */

void xd_repair_wrong(struct xd_repair *r, bool can_exchange)
{
    r->step = XD_REPAIR_STEP_WRONG;
    r->can_exchange = can_exchange;
}

void xd_repair_right(struct xd_repair *r)
{
    r->step = XD_REPAIR_STEP_RIGHT;
    r->at = 0;
}

void xd_repair_disputed(struct xd_repair *r)
{
    r->is_disputed = true;
}

void xd_repair_fetched(struct xd_repair *r)
{
    r->step = XD_REPAIR_STEP_COMPARE;
    r->at = r->wanted->begin;
}

bool xd_repair_unavailable(struct xd_repair *r)
{
    if (!xd_repair_is_fetching(r))
        return false;
    r->step = XD_REPAIR_STEP_AGAIN;
    return true;
}

/* A depot that is suspected because it was outvoted stays the suspect.
 * Otherwise two depots could replace each other for ever. */
bool xd_repair_outvoted(struct xd_repair *r, unsigned depot)
{
    bool was_outvoted = r->has_outvoted && r->outvoted == r->depot;

    if (r->is_alone || !may_be_suspected(r, depot))
        return false;
    r->has_outvoted = true;
    r->outvoted = depot;
    if (was_outvoted || !xd_repair_unavailable(r))
        return false;
    /* The former suspect may be suspected again later.  If memory runs out, it
     * is not suspected again. */
    (void)xd_rangeset_remove(&r->suspected, depot_range(r->depot));
    return true;
}

/* ---- actions ---- */

static struct xd_repair_action act(struct xd_repair *r,
                                   enum xd_repair_action_kind kind,
                                   enum xd_repair_step step)
{
    r->step = step;
    return (struct xd_repair_action){.kind = kind, .depot = r->depot};
}

static struct xd_repair_action exchange(struct xd_repair *r,
                                        struct xd_range range, uint64_t next)
{
    r->at = next;
    return (struct xd_repair_action){.kind = XD_REPAIR_EXCHANGE,
                                     .range = range};
}

/* Starts a round.  It fetches the bytes of the next suspect from other depots.
 * If no suspect is left, it fetches the whole file from a single depot.  If
 * that is impossible, it gives up and keeps the file as it was. */
static struct xd_repair_action begin_round(struct xd_repair *r, size_t n_depots)
{
    unsigned suspect = r->is_alone ? XD_HELD : find_suspect(r, n_depots);

    if (xd_ledger_change(r->ledger, XD_RESTORE, *r->wanted) < 0)
        return act(r, XD_REPAIR_NO_MEMORY, XD_REPAIR_STEP_NONE);
    r->is_alone = suspect == XD_HELD;
    r->is_disputed = r->is_alone; /* votes no longer matter */
    r->depot = r->is_alone ? find_alone(r, n_depots) : suspect;
    if (r->depot == XD_HELD)
        return act(r, XD_REPAIR_GIVE_UP, XD_REPAIR_STEP_NONE);
    r->n_alone += r->is_alone;
    if (xd_rangeset_add(r->is_alone ? &r->tried : &r->suspected,
                        depot_range(r->depot)) < 0)
        return act(r, XD_REPAIR_NO_MEMORY, XD_REPAIR_STEP_NONE);
    return act(r, r->is_alone ? XD_REPAIR_FETCH_ALONE : XD_REPAIR_SUSPECT,
               XD_REPAIR_STEP_STOP);
}

/* Ends a round after the file was restored. */
static struct xd_repair_action end_round(struct xd_repair *r, size_t n_depots)
{
    if (r->is_alone && drop_equals(r, n_depots) < 0)
        return act(r, XD_REPAIR_NO_MEMORY, XD_REPAIR_STEP_NONE);
    return begin_round(r, n_depots);
}

/* It is unknown which depots sent the bytes of an earlier run.  So those bytes
 * are fetched again before any depot is suspected. */
static struct xd_repair_action heed_wrong(struct xd_repair *r)
{
    if (bytes_of(r, XD_HELD) > 0)
        return act(r, XD_REPAIR_FETCH_HELD, XD_REPAIR_STEP_NONE);
    if (!r->can_exchange)
        return act(r, XD_REPAIR_GIVE_UP, XD_REPAIR_STEP_NONE);
    xd_rangeset_fini(&r->differed);
    r->differed = r->exchanged;
    r->exchanged = (struct xd_rangeset){0};
    r->at = 0;
    return act(r, XD_REPAIR_PREPARE, XD_REPAIR_STEP_BACK);
}

/* Undoes the exchange, because it did not help. */
static struct xd_repair_action put_back(struct xd_repair *r, size_t n_depots)
{
    const struct xd_rangeset *differed = &r->differed;

    if (r->at < differed->n)
        return exchange(r, differed->ranges[r->at], r->at + 1);
    xd_rangeset_fini(&r->exchanged);
    return end_round(r, n_depots);
}

static struct xd_repair_action compare(struct xd_repair *r, size_t n_depots)
{
    struct xd_range run = next_set_aside(r, r->at);

    if (!xd_range_is_empty(run))
        return exchange(r, run, run.end);
    if (r->exchanged.n == 0) {
        xd_rangeset_fini(&r->differed);
        return end_round(r, n_depots);
    }
    if (xd_ledger_change(r->ledger, XD_RESTORE, *r->wanted) < 0)
        return act(r, XD_REPAIR_NO_MEMORY, XD_REPAIR_STEP_NONE);
    return act(r, XD_REPAIR_CHECK, XD_REPAIR_STEP_NONE);
}

/* Records in the ledger that the replaced bytes were wrong. */
static int discard_exchanged(struct xd_repair *r)
{
    for (size_t i = 0; i < r->exchanged.n; i++)
        if (xd_ledger_discard(r->ledger, r->exchanged.ranges[i],
                              XD_DISCARD_BAD_FILE) < 0)
            return XD_E_NOMEM;
    return r->exchanged.n > 0
               ? xd_ledger_change(r->ledger, XD_RESTORE, *r->wanted)
               : 0;
}

/* Blames each depot whose bytes were exchanged, one per call, because the file
 * matches its hash with the new bytes. */
static struct xd_repair_action heed_right(struct xd_repair *r, size_t n_depots)
{
    while (r->at < n_depots) {
        struct xd_repair_action a = {.kind = XD_REPAIR_BLAME,
                                     .depot = (unsigned)r->at++};

        a.range = first_exchanged(r, a.depot);
        if (!xd_range_is_empty(a.range))
            return a;
    }
    return act(
        r, discard_exchanged(r) < 0 ? XD_REPAIR_NO_MEMORY : XD_REPAIR_FINISH,
        XD_REPAIR_STEP_NONE);
}

struct xd_repair_action xd_repair_next(struct xd_repair *r, size_t n_depots)
{
    switch (r->step) {
    case XD_REPAIR_STEP_WRONG:
        return heed_wrong(r);
    case XD_REPAIR_STEP_BACK:
        return put_back(r, n_depots);
    case XD_REPAIR_STEP_AGAIN:
        return begin_round(r, n_depots);
    case XD_REPAIR_STEP_COMPARE:
        return compare(r, n_depots);
    case XD_REPAIR_STEP_RIGHT:
        return heed_right(r, n_depots);
    case XD_REPAIR_STEP_NONE:
    case XD_REPAIR_STEP_STOP:
    case XD_REPAIR_STEP_FETCH:
        break;
    }
    return (struct xd_repair_action){.kind = XD_REPAIR_NOTHING};
}
