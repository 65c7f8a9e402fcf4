/* SPDX-License-Identifier: MIT */
/*
 * The three policies of the paper (Plank et al., 2003, section 3.2).  All are
 * progress-driven redundancy with different R and P:
 *
 * - If more than P blocks after an incomplete block with download number below
 *   R are complete, take the first such block.
 * - Otherwise take the next block with download number zero.
 * - If there is none, take the first incomplete block with download number
 *   below R.
 *
 * The download number of an incomplete block is the number of running attempts
 * to fetch it.
 *
 * If any block is late, the first one with download number below R is, because
 * it has the most complete blocks after it.  So a single query of the board
 * decides the first rule.  With P = 0 that block is always taken.
 *
 * Only blocks that the depot of the lane may take are considered.  For a reader
 * the file begins at its window, and complete blocks after the window do not
 * make others late.  If the next block is only excluded by the end of the
 * window, the lane waits for it, because a duplicate of another block would
 * waste bytes.
 *
 *     blocks       |   0   |   1   |   2   |   3   |   4   |
 *     window               .    |==================|
 *                               head
 *
 * If a window begins inside a block whose first part no reader wants, the rest
 * of that block, the window's *head*, is treated as a block of its own.
 * Attempts at other parts of the block do not count for it.
 */
#include "sched/policy.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"
#include "sched/board.h"
#include "sched/plank/blocks.h"
#include "sched/plank/trials.h"

struct attempt {
    uint64_t block;
    unsigned depot;
    struct xd_range range;
    bool is_running;
};

/* The blocks that a lane may choose from in one window: those from `next` on,
 * and the head before them, if there is one. */
struct choice {
    unsigned slot;
    uint64_t next, end; /* `end`: the first block that ends after the window */
    struct xd_range head;
    bool head_is_open, head_is_fresh;
};

struct plank {
    const struct xd_book *book;
    struct xd_blocks blocks;
    struct xd_board board;
    struct xd_trials trials;  /* failed attempts at incomplete blocks */
    struct attempt *attempts; /* one for each fetch */
    bool has_losses;          /* a depot may hold only a part of a block */
};

static void plank_free(void *policy)
{
    struct plank *p = policy;

    if (p == NULL)
        return;
    xd_blocks_fini(&p->blocks);
    xd_board_fini(&p->board);
    xd_trials_fini(&p->trials);
    xd_free(p->attempts);
    xd_free(p);
}

static void *plank_new(const struct xd_book *book)
{
    struct plank *p = xd_alloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->book = book;
    p->attempts = xd_alloc(book->n_fetches, sizeof *p->attempts);
    if (p->attempts == NULL ||
        xd_blocks_init(&p->blocks, book->wanted, book->o.block_bytes,
                       book->cuts, book->n_cuts) < 0 ||
        xd_board_init(&p->board, p->blocks.n, book->n_slots) < 0) {
        plank_free(p);
        return NULL;
    }
    return p;
}

static int plank_grown(void *policy, unsigned n_depots, unsigned n_fetches)
{
    struct plank *p = policy;

    (void)n_depots;
    if (xd_lengthen(&p->attempts, n_fetches, p->book->n_fetches,
                    sizeof *p->attempts) < 0)
        return XD_E_NOMEM;
    return xd_board_grow(&p->board, p->book->n_slots);
}

static bool holds(const struct plank *p, unsigned depot, uint64_t byte)
{
    struct xd_range one = {byte, byte + 1};

    return xd_rangeset_contains(&p->book->depots[depot].held, one);
}

static uint64_t first_missing(const struct plank *p, uint64_t block)
{
    struct xd_range r = xd_blocks_range(&p->blocks, block);

    return xd_ledger_first_gap(p->book->ledger, XD_BYTES_RECEIVED, r);
}

static bool runs_at(const struct plank *p, uint64_t block, unsigned depot)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct attempt *a = &p->attempts[i];

        if (a->is_running && a->block == block && a->depot == depot)
            return true;
    }
    return false;
}

static unsigned download_number(const struct plank *p, uint64_t block)
{
    unsigned n = 0;

    for (unsigned i = 0; i < p->book->n_fetches; i++)
        n += p->attempts[i].is_running && p->attempts[i].block == block;
    return n;
}

static bool has_tried(const struct plank *p, uint64_t block, unsigned depot)
{
    return xd_trials_has(&p->trials, block, depot) || runs_at(p, block, depot);
}

/*
 * A depot never has two attempts at a block at a time.  After a failure it may
 * try again only when every other depot that could has tried.
 *
 * Depots hold all of a block or nothing, unless one has lost a part.  Then the
 * first missing byte decides, so that depots with different parts can complete
 * the block.
 */
static bool may_take_at(const struct plank *p, unsigned depot, uint64_t block,
                        uint64_t byte)
{
    if (!holds(p, depot, byte) || runs_at(p, block, depot))
        return false;
    if (!xd_trials_has(&p->trials, block, depot))
        return true;
    for (unsigned slot = 0; slot < p->book->n_slots; slot++) {
        unsigned other = p->book->slots[slot];

        if (other < p->book->n_depots && other != depot &&
            xd_holder_is_ready(&p->book->depots[other]) &&
            holds(p, other, byte) && !has_tried(p, block, other))
            return false;
    }
    return true;
}

static bool may_take(const struct plank *p, unsigned depot, uint64_t block)
{
    return may_take_at(p, depot, block, first_missing(p, block));
}

static void mark(struct plank *p, uint64_t block)
{
    unsigned n = download_number(p, block);

    xd_board_mark(&p->board, block,
                  n == 0                      ? XD_MARK_FRESH
                  : n < p->book->o.redundancy ? XD_MARK_OPEN
                                              : XD_MARK_FULL);
}

static bool is_complete(const struct plank *p, uint64_t block)
{
    return xd_ledger_has(p->book->ledger, XD_BYTES_RECEIVED,
                         xd_blocks_range(&p->blocks, block));
}

/* Recomputes everything on the board about an incomplete block. */
static void reconsider(struct plank *p, uint64_t block)
{
    mark(p, block);
    for (unsigned slot = 0; slot < p->book->n_slots; slot++) {
        unsigned depot = p->book->slots[slot];

        xd_board_allow(&p->board, slot, block,
                       depot < p->book->n_depots && may_take(p, depot, block));
    }
}

static void refresh(struct plank *p, uint64_t block)
{
    reconsider(p, block);
    xd_board_publish(&p->board, block, block);
}

/* Which depots may try again depends on which others could. */
static void refresh_tried(struct plank *p)
{
    for (size_t i = 0; i < p->trials.n; i++)
        if (i == 0 || p->trials.list[i].block != p->trials.list[i - 1].block)
            refresh(p, p->trials.list[i].block);
}

/* Returns how many attempts fetch the byte. */
static unsigned number_at(const struct plank *p, uint64_t byte)
{
    unsigned n = 0;

    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct attempt *a = &p->attempts[i];

        n += a->is_running && a->range.begin <= byte && byte < a->range.end;
    }
    return n;
}

/* Returns the end of the bytes, starting at `byte`, that may have one more copy
 * in flight.  Attempts at a head ignore the rest of the block, which may be in
 * flight already. */
static uint64_t open_to(const struct plank *p, uint64_t byte, uint64_t end)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct attempt *a = &p->attempts[i];

        if (a->is_running && byte < a->range.begin && a->range.begin < end &&
            number_at(p, a->range.begin) >= p->book->o.redundancy)
            end = a->range.begin;
    }
    return end;
}

/* Returns what a new attempt asks for.  If no other attempt fetches the first
 * missing byte, this is what is missing: after an interruption the received
 * part is kept.  Otherwise it is the paper's copy of the block, without
 * verified bytes and without parts that other attempts fetch. */
static struct xd_range missing_in(const struct plank *p, unsigned depot,
                                  struct xd_range r)
{
    const struct xd_rangeset *held = &p->book->depots[depot].held;
    uint64_t byte = xd_ledger_first_gap(p->book->ledger, XD_BYTES_RECEIVED, r);
    unsigned kept = number_at(p, byte) > 0 ? XD_BYTES_DONE : XD_BYTES_RECEIVED;
    struct xd_range gap, ask;

    ask.begin = ask.end = xd_ledger_first_gap(p->book->ledger, kept, r);
    if (!xd_rangeset_contains(held, (struct xd_range){ask.begin, byte}))
        ask.begin = byte;
    r.begin = byte;
    r.end = open_to(p, byte, xd_rangeset_next(held, r).end);
    while (gap = xd_ledger_next_gap(p->book->ledger, kept, r),
           !xd_range_is_empty(gap)) {
        ask.end = gap.end;
        r.begin = gap.end;
    }
    return ask;
}

/* Returns whether to copy the whole block as in the paper (whole_blocks).
 * After a failure only missing bytes are requested; otherwise depots that
 * always break off at the same position would never complete the block. */
static bool is_copied_whole(const struct plank *p, unsigned depot,
                            uint64_t block, struct xd_range r)
{
    uint64_t byte =
        xd_ledger_next_gap(p->book->ledger, XD_BYTES_RECEIVED, r).begin;

    return p->book->o.whole_blocks && number_at(p, byte) > 0 &&
           !xd_trials_any(&p->trials, block) &&
           number_at(p, r.begin) < p->book->o.redundancy &&
           open_to(p, r.begin, r.end) == r.end &&
           xd_book_cut(p->book, r).end == r.end &&
           xd_rangeset_contains(&p->book->depots[depot].held, r);
}

static struct xd_range range_to_ask(const struct plank *p, unsigned depot,
                                    uint64_t block, struct xd_range r)
{
    return is_copied_whole(p, depot, block, r) ? r : missing_in(p, depot, r);
}

static void begin(struct plank *p, unsigned fetch, unsigned depot,
                  uint64_t block, struct xd_range range)
{
    bool was_tried = xd_trials_any(&p->trials, block);

    /* A second attempt of this depot: all others have had their turn, so
     * everybody may try again. */
    if (xd_trials_has(&p->trials, block, depot))
        xd_trials_forget(&p->trials, block);
    p->attempts[fetch] = (struct attempt){block, depot, range, true};
    if (was_tried) {
        refresh(p, block);
        return;
    }
    mark(p, block);
    xd_board_allow(&p->board, p->book->depots[depot].slot, block, false);
    xd_board_publish(&p->board, block, block);
}

/* If a block is longer than the window, all of the window is a head. */
static struct choice look_at_window(const struct plank *p, unsigned depot)
{
    struct xd_range w = p->book->window->range;
    struct choice c = {.slot = p->book->depots[depot].slot};
    struct xd_range block;
    uint64_t byte;

    c.next = xd_blocks_find(&p->blocks, w.begin);
    c.end = w.end == p->blocks.whole.end ? p->blocks.n
                                         : xd_blocks_find(&p->blocks, w.end);
    block = xd_blocks_range(&p->blocks, c.next);
    if (block.end <= w.end && first_missing(p, c.next) >= w.begin)
        return c;
    c.head.begin = w.begin;
    c.head.end = block.end < w.end ? block.end : w.end;
    byte = xd_ledger_first_gap(p->book->ledger, XD_BYTES_RECEIVED, c.head);
    if (byte < c.head.end && may_take_at(p, depot, c.next, byte)) {
        c.head_is_open = number_at(p, byte) < p->book->o.redundancy;
        c.head_is_fresh = number_at(p, byte) == 0;
    }
    c.next++;
    return c;
}

static bool first_of(struct plank *p, const struct choice *c,
                     enum xd_board_kind kind, uint64_t *out)
{
    if (kind == XD_BOARD_FRESH ? c->head_is_fresh : c->head_is_open) {
        *out = c->next - 1;
        return true;
    }
    return xd_board_first(&p->board, c->slot, kind, c->next, out);
}

static bool is_late(struct plank *p, const struct choice *c, uint64_t block)
{
    if (p->book->o.progress == 0)
        return true;
    if (block >= c->end)
        return false;
    return xd_board_n_done(&p->board, c->end) -
               xd_board_n_done(&p->board, block + 1) >
           p->book->o.progress;
}

/* Returns the part of the block inside the window. */
static struct xd_range part_of(const struct plank *p, const struct choice *c,
                               uint64_t block)
{
    struct xd_range r = xd_blocks_range(&p->blocks, block);

    if (block < c->next)
        return c->head;
    if (r.begin < p->book->window->range.begin)
        r.begin = p->book->window->range.begin;
    return r;
}

static bool plank_choose(void *policy, unsigned fetch, unsigned depot,
                         xd_usec now, struct xd_range *out, unsigned *visits)
{
    struct plank *p = policy;
    struct choice c = look_at_window(p, depot);
    uint64_t block, fresh;
    bool found;

    (void)now;
    p->board.visits = 0;
    found = first_of(p, &c, XD_BOARD_OPEN, &block);
    if (found && !is_late(p, &c, block) &&
        first_of(p, &c, XD_BOARD_FRESH, &fresh))
        block = fresh;
    if (found && block >= c.next && block >= c.end)
        found = false;
    if (found) {
        *out = xd_book_cut(
            p->book, range_to_ask(p, depot, block, part_of(p, &c, block)));
        /* Everything may be received already, which will be reported soon. */
        found = !xd_range_is_empty(*out);
    }
    if (found)
        begin(p, fetch, depot, block, *out);
    *visits = p->board.visits;
    return found;
}

static int plank_ended(void *policy, unsigned fetch, bool failed)
{
    struct plank *p = policy;
    struct attempt *a = &p->attempts[fetch];

    a->is_running = false;
    if (is_complete(p, a->block))
        return 0;
    if (failed && xd_trials_add(&p->trials, a->block, a->depot) < 0)
        return XD_E_NOMEM;
    refresh(p, a->block);
    return 0;
}

/* Returns whether anything on the board about this block has changed.  The
 * first missing byte changes with each arrival, but matters only if a depot may
 * hold a part of the block. */
static bool note_arrival(struct plank *p, uint64_t block)
{
    if (xd_board_is_done(&p->board, block))
        return false;
    if (is_complete(p, block)) {
        xd_trials_forget(&p->trials, block);
        xd_board_mark(&p->board, block, XD_MARK_DONE);
        return true;
    }
    if (p->has_losses)
        reconsider(p, block);
    return p->has_losses;
}

static int plank_arrived(void *policy, struct xd_range r)
{
    struct plank *p = policy;
    uint64_t first = xd_blocks_find(&p->blocks, r.begin);
    uint64_t last = xd_blocks_find(&p->blocks, r.end - 1);
    bool changed = false;

    for (uint64_t i = first; i <= last; i++)
        changed |= note_arrival(p, i);
    if (changed)
        xd_board_publish(&p->board, first, last);
    return 0;
}

static int plank_missing(void *policy, struct xd_range r)
{
    struct plank *p = policy;
    uint64_t first = xd_blocks_find(&p->blocks, r.begin);
    uint64_t last = xd_blocks_find(&p->blocks, r.end - 1);

    for (uint64_t i = first; i <= last; i++)
        reconsider(p, i);
    xd_board_publish(&p->board, first, last);
    return 0;
}

static void allow_exactly(struct plank *p, unsigned depot, uint64_t block)
{
    xd_board_allow(&p->board, p->book->depots[depot].slot, block,
                   !xd_board_is_done(&p->board, block) &&
                       may_take(p, depot, block));
}

/* Recomputes the permissions of one depot, ignoring its failed attempts: first
 * whole runs of blocks, then the few that need exact checks. */
static void fill_slot(struct plank *p, unsigned depot)
{
    const struct xd_holder *d = &p->book->depots[depot];

    xd_board_allow_run(&p->board, d->slot, 0, p->blocks.n, false);
    for (size_t i = 0; i < d->held.n; i++) {
        struct xd_range run = d->held.ranges[i];
        uint64_t first = xd_blocks_find(&p->blocks, run.begin);
        uint64_t last = xd_blocks_find(&p->blocks, run.end - 1);

        xd_board_allow_run(&p->board, d->slot, first, last + 1, true);
        allow_exactly(p, depot, first);
        allow_exactly(p, depot, last);
    }
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (p->attempts[i].is_running && p->attempts[i].depot == depot)
            allow_exactly(p, depot, p->attempts[i].block);
    xd_board_publish_slot(&p->board, d->slot);
}

static void plank_opened(void *policy, unsigned depot)
{
    fill_slot(policy, depot);
    refresh_tried(policy);
}

static void plank_parked(void *policy, unsigned depot, unsigned slot)
{
    struct plank *p = policy;

    (void)depot;
    xd_board_allow_run(&p->board, slot, 0, p->blocks.n, false);
    xd_board_publish_slot(&p->board, slot);
    refresh_tried(p);
}

static void plank_lost(void *policy, unsigned depot)
{
    struct plank *p = policy;

    p->has_losses |=
        !xd_rangeset_contains(&p->book->depots[depot].held, p->book->wanted);
    if (p->book->depots[depot].slot != XD_NO_SLOT)
        fill_slot(p, depot);
    refresh_tried(p);
}

static void plank_readiness(void *policy, unsigned depot)
{
    (void)depot;
    refresh_tried(policy);
}

static void settle_basic(struct xd_sched_options *o)
{
    o->redundancy = 1;
    o->progress = 0;
}

static void settle_aggressive(struct xd_sched_options *o)
{
    o->progress = 0;
}

static void settle_progress(struct xd_sched_options *o)
{
    (void)o;
}

#define PLANK(given_name, given_settle)                                     \
    {                                                                       \
        .name = (given_name), .settle = (given_settle), .new = plank_new,   \
        .free = plank_free, .choose = plank_choose, .ended = plank_ended,   \
        .arrived = plank_arrived, .missing = plank_missing,                 \
        .opened = plank_opened, .parked = plank_parked, .lost = plank_lost, \
        .grown = plank_grown, .readiness = plank_readiness                  \
    }

const struct xd_policy xd_policy_basic = PLANK("basic", settle_basic);
const struct xd_policy xd_policy_aggressive =
    PLANK("aggressive", settle_aggressive);
const struct xd_policy xd_policy_progress = PLANK("progress", settle_progress);
