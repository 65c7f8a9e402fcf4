#include "engine/readers/readers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/decide.h"
#include "engine/engine.h"
#include "engine/inform.h"
#include "engine/readers/shares.h"

/* What players look at beside the place where they play: up to 260 KB at the
 * head, and an index of some hundred KB at the tail. */
#define HEAD_BYTES ((uint64_t)256 << 10)
#define TAIL_BYTES ((uint64_t)1 << 20)
#define PROBE_BYTES ((uint64_t)256 << 10)

/* They do so within their first second. */
#define HINT_AFTER (XD_SECOND / 2)

/* Of a reader that says nothing of its rate; between those of music and of
 * video in 4K. */
#define ASSUMED_RATE ((uint64_t)1 << 20)

/* Who reads nothing for so long, though it could, leaves the memory to others:
 * its client sleeps, or has asked anew elsewhere and forgotten this one. */
#define IDLE_AFTER (15 * XD_SECOND)

/* By which the scheduler knows what nobody reads yet. */
enum { NUMBER_REST, NUMBER_HEAD, NUMBER_TAIL, NUMBER_READERS };

int xd_readers_init(struct xd_readers *r)
{
    r->next_number = NUMBER_READERS;
    return xd_cond_init(&r->readable);
}

void xd_readers_fini(struct xd_readers *r)
{
    xd_rangeset_fini(&r->gaps);
    xd_free(r->shares);
    xd_free(r->list);
    xd_cond_fini(&r->readable);
}

uint64_t xd_readers_byte(const struct xd_engine *e, uint64_t position)
{
    uint64_t begin = e->wanted.begin;

    return position < UINT64_MAX - begin ? begin + position : UINT64_MAX;
}

uint64_t xd_readers_window_locked(struct xd_engine *e)
{
    e->readers.by_demand =
        e->output == XD_OUTPUT_READERS && e->repair.phase == XD_REPAIR_NONE;
    if (!e->readers.by_demand)
        return 0;
    /* In memory, blocks that many readers can have some of. */
    return xd_readers_in_memory(e) ? e->window / 4 : e->window / 4 * 3;
}

bool xd_readers_in_memory(const struct xd_engine *e)
{
    return e->output == XD_OUTPUT_READERS && !e->path && e->options.spool &&
           strcmp(e->options.spool, "none") == 0;
}

/* Out to the edges of pieces. */
static struct xd_range whole_pieces(const struct xd_engine *e,
                                    struct xd_range r)
{
    const struct xd_pieces *p = &e->verify.pieces;
    struct xd_range first = {0, 0}, last = {0, 0};
    size_t i;

    if (xd_range_is_empty(r) || p->n == 0)
        return r;
    i = xd_pieces_find(p, r.begin);
    if (i < p->n)
        first = xd_pieces_range(p, i);
    if (first.begin < r.begin && r.begin < first.end)
        r.begin = first.begin;
    i = xd_pieces_find(p, r.end - 1);
    if (i < p->n)
        last = xd_pieces_range(p, i);
    if (last.begin < r.end && r.end < last.end)
        r.end = last.end;
    return r;
}

/* What it has from `from` on, if it has `length` from `front` on. */
static struct xd_range ahead_of(const struct xd_engine *e, uint64_t from,
                                uint64_t front, uint64_t length)
{
    uint64_t step = length / 4 + (length < 4);
    struct xd_range r = {from, e->wanted.end};

    if (front < UINT64_MAX - length) {
        uint64_t end = (front + length) / step * step;

        r.end = end < r.end ? end : r.end;
    }
    return whole_pieces(e, r);
}

static void fail_nomem_locked(struct xd_engine *e)
{
    struct xd_error error = {0};

    xd_fail_nomem(&error);
    xd_engine_fail_locked(e, &error);
}

static void tell_locked(struct xd_engine *e, unsigned number,
                        struct xd_demand *known, struct xd_demand demand)
{
    if (xd_range_is_empty(demand.range) && xd_range_is_empty(known->range))
        return;
    *known = demand;
    xd_inform_demand_locked(e, number, &demand);
}

/* When a byte is needed: at once, if nothing tells better. */
static xd_usec due_at(const struct xd_reader *r, uint64_t byte, xd_usec now)
{
    double ahead;

    if (r->play_rate == 0 || byte <= r->play_byte || r->is_waiting)
        return now;
    ahead = (double)(byte - r->play_byte) / (double)r->play_rate;
    if (r->is_playing)
        ahead -= (double)(now - r->play_at) / (double)XD_SECOND;
    return ahead > 0 ? now + (xd_usec)(ahead * (double)XD_SECOND) : now;
}

/* The byte of the file from which it has a window. */
static uint64_t window_begin(const struct xd_reader *r)
{
    return xd_readers_byte(r->engine, r->is_probing ? r->stream : r->position);
}

static struct xd_range window_of(const struct xd_reader *r)
{
    const struct xd_engine *e = r->engine;
    uint64_t from = window_begin(r);

    if (!e->readers.shares)
        return ahead_of(e, from, from, e->window);
    if (r->has_former && r->ahead > PROBE_BYTES)
        return ahead_of(e, from, from, PROBE_BYTES);
    return ahead_of(e, from, r->has_former ? from : r->front, r->ahead);
}

static struct xd_demand demand_of(const struct xd_reader *r)
{
    uint64_t from = r->is_probing ? r->stream : r->position;

    if (!r->has_begun)
        return (struct xd_demand){.due = XD_NEVER};
    return (struct xd_demand){.range = window_of(r),
                              .due = due_at(r, from, xd_now()),
                              .bytes_per_s = r->play_rate > 0 ? r->play_rate
                                                              : ASSUMED_RATE};
}

static bool has_share(const struct xd_reader *r, xd_usec now)
{
    return r->has_begun && (r->is_waiting || now - r->read_at < IDLE_AFTER);
}

/* In memory one's window is the smaller for the others'. */
static void share_out_locked(struct xd_engine *e)
{
    struct xd_readers *all = &e->readers;
    xd_usec now = xd_now();
    size_t n = 0;

    if (!all->shares)
        return;
    for (size_t i = 0; i < all->n; i++) {
        struct xd_reader *r = all->list[i];
        bool is_away = r->has_former && !xd_range_is_empty(r->former);

        r->front = window_begin(r);
        r->ahead = 0;
        if (has_share(r, now))
            all->shares[n++] = (struct xd_share){
                .at = is_away ? r->former.begin : window_begin(r), .of = r};
    }
    xd_shares(all->shares, n, e->window);
    for (size_t i = 0; i < n; i++) {
        struct xd_reader *r = all->shares[i].of;

        r->front = all->shares[i].front;
        r->ahead = all->shares[i].ahead;
    }
}

/* Requests that no window shortens are held back by it. */
static void wake_held_back_locked(struct xd_engine *e)
{
    for (size_t i = 0; i < e->depots.n; i++) {
        const struct xd_depot *d = &e->depots.list[i];

        if (d->worker && d->worker->transport &&
            (d->knows_no_ranges || e->depots.size == XD_SIZE_UNKNOWN))
            xd_transport_wakeup(d->worker->transport);
    }
}

/* Not while another reader still makes the store. */
static bool can_tell_locked(const struct xd_engine *e)
{
    return e->readers.by_demand && e->sched && e->sink &&
           e->state == ENGINE_RUNNING;
}

static int protect(struct xd_rangeset *s, struct xd_range r)
{
    return xd_range_is_empty(r) ? 0 : xd_rangeset_add(s, r);
}

/* All that must not be dropped: what somebody wants or looks at, and pieces
 * that are hashed now. */
static int find_protected(const struct xd_engine *e, struct xd_rangeset *out)
{
    const struct xd_readers *all = &e->readers;
    const struct xd_pieces *p = &e->verify.pieces;
    int rc = protect(out, all->head.range) | protect(out, all->tail.range);

    for (size_t i = 0; i < all->n && rc == 0; i++) {
        const struct xd_reader *r = all->list[i];
        uint64_t at = xd_readers_byte(e, r->position);

        rc = protect(out, r->demand.range) | protect(out, r->copied) |
             protect(out, (struct xd_range){at, at + PROBE_BYTES});
        if (r->has_former)
            rc |= protect(out, r->former);
    }
    for (size_t i = 0; i < p->n && rc == 0; i++)
        if (p->states[i] == XD_PIECE_QUEUED || p->states[i] == XD_PIECE_HASHED)
            rc = protect(out, xd_pieces_range(p, i));
    return rc;
}

/* The chunks that lie in the range as a whole. */
static struct xd_range whole_chunks(const struct xd_engine *e,
                                    struct xd_range r)
{
    uint64_t begin = r.begin - e->wanted.begin, end = r.end - e->wanted.begin;

    begin = (begin + XD_MEMORY_CHUNK - 1) / XD_MEMORY_CHUNK * XD_MEMORY_CHUNK;
    end = end / XD_MEMORY_CHUNK * XD_MEMORY_CHUNK;
    return (struct xd_range){e->wanted.begin + begin, e->wanted.begin + end};
}

/* A file of unknown size comes in one piece: what was dropped of it does not
 * come again. */
static void drop_locked(struct xd_engine *e, struct xd_range r)
{
    struct xd_error why = {0};

    xd_memory_sink_drop(e->readers.memory, r.begin - e->wanted.begin,
                        r.end - e->wanted.begin);
    if (e->depots.size != XD_SIZE_UNKNOWN) {
        xd_verify_reject_locked(e, r);
        return;
    }
    xd_fail(&why, XD_E_NOREPLICA,
            "byte %llu has left the memory, and of a file of unknown size a "
            "part cannot be fetched again",
            (unsigned long long)(r.begin - e->wanted.begin));
    e->readers.gap_error = why;
    if (xd_rangeset_remove(&e->kept, r) < 0 ||
        xd_rangeset_remove(&e->claims, r) < 0 ||
        xd_rangeset_remove(&e->verify.good, r) < 0 ||
        xd_rangeset_add(&e->readers.gaps, r) < 0)
        fail_nomem_locked(e);
}

static void drop_unwanted_locked(struct xd_engine *e)
{
    struct xd_rangeset safe = {0};
    struct xd_range rest = e->wanted, run, gap;

    if (find_protected(e, &safe) < 0)
        rest.end = rest.begin; /* another time */
    while (run = xd_rangeset_next(&e->kept, rest), !xd_range_is_empty(run)) {
        gap = xd_rangeset_next_gap(&safe, run);
        rest.begin = gap.end;
        gap = whole_chunks(e, gap);
        if (!xd_range_is_empty(gap))
            drop_locked(e, gap);
    }
    xd_rangeset_fini(&safe);
}

/* Those whose windows another has made longer or shorter. */
static void tell_changed_locked(struct xd_engine *e)
{
    for (size_t i = 0; e->readers.shares && i < e->readers.n; i++) {
        struct xd_reader *r = e->readers.list[i];
        struct xd_demand d = demand_of(r);

        if (d.range.end != r->demand.range.end)
            tell_locked(e, r->number, &r->demand, d);
    }
}

void xd_readers_moved_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;

    if (r->is_probing &&
        (r->is_waiting || r->position - r->arrived_at >= PROBE_BYTES))
        r->is_probing = false;
    if (!r->is_probing)
        r->stream = r->position;
    if (r->position - r->arrived_at >= PROBE_BYTES)
        r->has_former = false;
    if (!can_tell_locked(e))
        return;
    share_out_locked(e);
    r->told_at = r->position;
    tell_locked(e, r->number, &r->demand, demand_of(r));
    tell_changed_locked(e);
    if (e->readers.memory)
        drop_unwanted_locked(e);
    xd_decide_locked(e);
    wake_held_back_locked(e);
}

/* Whether a probe's length from there on is here, or all up to the end. */
static bool probe_is_here(const struct xd_engine *e, uint64_t position)
{
    struct xd_range probe = {xd_readers_byte(e, position), e->wanted.end};

    if (probe.end - probe.begin > PROBE_BYTES)
        probe.end = probe.begin + PROBE_BYTES;
    return xd_rangeset_contains(&e->verify.good, probe);
}

void xd_readers_seek_locked(struct xd_reader *r, uint64_t to)
{
    uint64_t at;

    r->disowned = (struct xd_error){0};
    r->end_by = 0;
    if (to == r->position)
        return;
    if (!r->has_former) {
        r->has_former = true;
        r->former = r->demand.range;
    }
    r->position = r->arrived_at = to;
    r->is_probing = to != r->stream && probe_is_here(r->engine, to);
    at = xd_readers_byte(r->engine, to);
    if (r->former.begin <= at && at < r->former.end)
        r->has_former = false; /* it is back */
    xd_readers_moved_locked(r);
}

void xd_readers_begin_locked(struct xd_engine *e)
{
    struct xd_readers *all = &e->readers;
    struct xd_range w = e->wanted, head = w, tail = w;
    struct xd_demand nothing = {.due = XD_NEVER};
    xd_usec soon = e->started + HINT_AFTER;

    if (!all->by_demand)
        return;
    all->rest = nothing;
    if (e->path)
        all->rest.range = w;
    xd_inform_demand_locked(e, NUMBER_REST, &all->rest);
    if (xd_range_length(w) > HEAD_BYTES)
        head.end = w.begin + HEAD_BYTES;
    if (xd_range_length(w) > TAIL_BYTES)
        tail.begin = w.end - TAIL_BYTES;
    if (w.end == XD_SIZE_UNKNOWN)
        tail.begin = tail.end;
    all->head = all->tail = nothing;
    tell_locked(e, NUMBER_HEAD, &all->head,
                (struct xd_demand){whole_pieces(e, head), soon, 0});
    tell_locked(e, NUMBER_TAIL, &all->tail,
                (struct xd_demand){whole_pieces(e, tail), soon, 0});
    share_out_locked(e);
    for (size_t i = 0; i < all->n; i++)
        tell_locked(e, all->list[i]->number, &all->list[i]->demand,
                    demand_of(all->list[i]));
    xd_readers_wake_locked(e); /* the size is known */
}

static int grow(struct xd_engine *e)
{
    struct xd_readers *all = &e->readers;
    size_t n = all->capacity ? 2 * all->capacity : 4;
    struct xd_reader **list = xd_realloc(all->list, n, sizeof *list);
    struct xd_share *shares;

    if (!list)
        return XD_E_NOMEM;
    all->list = list;
    if (xd_readers_in_memory(e)) {
        shares = xd_realloc(all->shares, n, sizeof *shares);
        if (!shares)
            return XD_E_NOMEM;
        all->shares = shares;
    }
    all->capacity = n;
    return 0;
}

int xd_readers_add_locked(struct xd_engine *e, struct xd_reader **out)
{
    struct xd_readers *all = &e->readers;
    struct xd_reader *r;

    if (all->n == all->capacity && grow(e) < 0)
        return XD_E_NOMEM;
    r = xd_alloc(1, sizeof *r);
    if (!r)
        return XD_E_NOMEM;
    r->engine = e;
    r->number = all->next_number++;
    xd_meter_init(&r->meter);
    xd_meter_blocks(&r->meter, e->options.block_bytes);
    all->list[all->n++] = r;
    *out = r;
    return 0;
}

static void free_reader(struct xd_reader *r)
{
    xd_meter_fini(&r->meter);
    xd_origins_fini(&r->given);
    xd_free(r);
}

void xd_readers_remove_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;
    struct xd_readers *all = &e->readers;
    size_t i = 0;

    while (all->list[i] != r)
        i++;
    all->list[i] = all->list[--all->n];
    if (can_tell_locked(e)) {
        tell_locked(e, r->number, &r->demand,
                    (struct xd_demand){.due = XD_NEVER});
        share_out_locked(e);
        tell_changed_locked(e);
        xd_decide_locked(e);
    }
    free_reader(r);
}

void xd_readers_free_all(struct xd_engine *e)
{
    for (size_t i = 0; i < e->readers.n; i++)
        free_reader(e->readers.list[i]);
    e->readers.n = 0;
}

void xd_readers_measure_locked(struct xd_reader *r)
{
    const struct xd_engine *e = r->engine;
    struct xd_range rest = {0, e->wanted.end};
    uint64_t byte, begin = e->wanted.begin;

    xd_meter_pass(&r->meter, xd_now(), &byte);
    rest.begin = xd_readers_byte(e, byte);
    xd_meter_here(&r->meter,
                  xd_rangeset_next_gap(&e->verify.good, rest).begin - begin,
                  e->wanted.end - begin);
}

void xd_readers_wake_locked(struct xd_engine *e)
{
    if (e->output != XD_OUTPUT_READERS)
        return;
    for (size_t i = 0; i < e->readers.n; i++)
        xd_readers_measure_locked(e->readers.list[i]);
    xd_cond_broadcast(&e->readers.readable);
}

void xd_readers_gap_locked(struct xd_engine *e, struct xd_range range,
                           const struct xd_error *why)
{
    e->readers.gap_error = *why;
    if (xd_rangeset_add(&e->readers.gaps, whole_pieces(e, range)) < 0)
        fail_nomem_locked(e);
    xd_engine_say_locked(e, XD_LOG_WARN, "%s", why->msg);
    xd_readers_wake_locked(e);
}

bool xd_readers_end_locked(struct xd_engine *e)
{
    const struct xd_rangeset *gaps = &e->readers.gaps;
    uint64_t missing = gaps->bytes;

    if (missing == 0)
        return false;
    for (size_t i = 0; i < gaps->n; i++)
        missing -= xd_rangeset_overlap(&e->verify.good, gaps->ranges[i]);
    if (missing == 0 ||
        e->verify.good.bytes + missing < xd_range_length(e->wanted))
        return false;
    xd_engine_fail_locked(e, &e->readers.gap_error);
    return true;
}

/* As far as a demand lets a request go on from `byte`.  Before a reader, `leads`,
 * the disk has room for what lies between: to begin anew brings that too. */
static uint64_t goes_on_to(const struct xd_demand *d, uint64_t byte, bool leads)
{
    return (leads || d->range.begin <= byte) && byte < d->range.end
               ? d->range.end
               : byte;
}

bool xd_readers_allow(struct xd_engine *e, uint64_t begin, uint64_t end)
{
    const struct xd_readers *all = &e->readers;
    bool leads = !xd_readers_in_memory(e);
    uint64_t from, to = begin;

    xd_engine_lock(e);
    do {
        from = to;
        to = goes_on_to(&all->rest, to, false);
        to = goes_on_to(&all->head, to, false);
        to = goes_on_to(&all->tail, to, false);
        for (size_t i = 0; i < all->n; i++)
            to = goes_on_to(&all->list[i]->demand, to, leads);
    } while (from < to && to < end);
    if (!all->by_demand)
        to = end;
    xd_engine_unlock(e);
    return end <= to;
}
