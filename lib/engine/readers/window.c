/* SPDX-License-Identifier: MIT */
#include "engine/readers/window.h"

#include "engine/engine.h"
#include "engine/readers/readers.h"
#include "engine/readers/shares.h"

/* Length of a window while the rate of the player is unknown. */
#define UNTIL_KNOWN ((uint64_t)32 << 20)

/* Limits of a lookahead that was given as a time.  With less than the minimum,
 * requests would be too small.  The maximum is needed because the rate comes
 * from the file, which may state anything. */
#define LEAST_TIMED ((uint64_t)4 << 20)
#define MOST_TIMED ((uint64_t)256 << 20)

/* A reader that could read but has not done so for this long loses its window.
 * Its client is probably suspended, or has reconnected and uses another reader
 * now. */
#define IDLE_AFTER (15 * XD_SECOND)

static uint64_t timed(uint64_t bytes_per_s, xd_usec time)
{
    double bytes = (double)bytes_per_s * (double)time / (double)XD_SECOND;

    if (bytes < (double)LEAST_TIMED)
        return LEAST_TIMED;
    return bytes < (double)MOST_TIMED ? (uint64_t)bytes : MOST_TIMED;
}

uint64_t xd_window_bytes(const struct xd_options *o, uint64_t media_rate)
{
    if (o->lookahead_time == 0)
        return o->lookahead;
    return media_rate > 0 ? timed(media_rate, (xd_usec)o->lookahead_time)
                          : UNTIL_KNOWN;
}

uint64_t xd_window_least(const struct xd_engine *e)
{
    const struct xd_readers *all = &e->readers;

    if (e->options.lookahead_time == 0)
        return all->window;
    return all->least_window > LEAST_TIMED ? all->least_window : LEAST_TIMED;
}

void xd_windows_rate_locked(struct xd_engine *e)
{
    uint64_t rate = 0;

    for (size_t i = 0; i < e->readers.n; i++)
        if (e->readers.list[i]->player.bytes_per_s > rate)
            rate = e->readers.list[i]->player.bytes_per_s;
    if (rate > 0)
        e->readers.media_rate = rate;
}

/* Adjusts the window length, unless the change is small.  Bitrates vary, and
 * the ends of windows must not move all the time: a full window should stay
 * until a quarter of it is free. */
bool xd_windows_fit_locked(struct xd_engine *e)
{
    struct xd_readers *all = &e->readers;
    uint64_t length = xd_window_bytes(&e->options, all->media_rate);

    if (length < all->least_window)
        length = all->least_window;
    if (e->options.lookahead_time == 0 ||
        (length < all->window / 8 * 9 && length > all->window / 8 * 7))
        return false;
    all->window = length;
    return true;
}

struct xd_range xd_window_pieces(const struct xd_engine *e, struct xd_range r)
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

/* Returns the bytes that the reader needs from `from` on, if it may have
 * `length` bytes after `front`. */
static struct xd_range ahead_of(const struct xd_engine *e, uint64_t from,
                                uint64_t front, uint64_t length)
{
    const struct xd_range r =
        xd_lookahead_window(from, front, length, e->wanted.end);

    return xd_coded_widen(e, xd_window_pieces(e, r));
}

/* Returns the byte of the file at which the window of the reader begins. */
static uint64_t window_begin(const struct xd_reader *r)
{
    return xd_engine_byte_at(r->engine,
                             r->is_probing ? r->stream : r->position);
}

static struct xd_range window_of(const struct xd_reader *r)
{
    const struct xd_engine *e = r->engine;
    uint64_t from = window_begin(r);

    if (!e->readers.shares)
        return ahead_of(e, from, from, e->readers.window);
    if (r->has_former && r->ahead > XD_PROBE_BYTES)
        return ahead_of(e, from, from, XD_PROBE_BYTES);
    return ahead_of(e, from, r->has_former ? from : r->front, r->ahead);
}

struct xd_demand xd_window_demand(const struct xd_reader *r)
{
    uint64_t from = r->is_probing ? r->stream : r->position;
    uint64_t rate = r->player.bytes_per_s;
    xd_usec now = xd_now();

    if (!r->has_begun)
        return (struct xd_demand){.due = XD_NEVER};
    if (rate == 0) /* another reader may have reported the player's rate */
        rate = r->engine->readers.media_rate;
    if (rate == 0)
        rate = r->engine->dest.output->reader_rate;
    return (struct xd_demand){
        .range = window_of(r),
        .due = r->is_waiting ? now : xd_lookahead_due(&r->player, from, now),
        .bytes_per_s = rate};
}

static bool has_share(const struct xd_reader *r, xd_usec now)
{
    return r->has_begun && (r->is_waiting || now - r->read_at < IDLE_AFTER);
}

void xd_windows_share_locked(struct xd_engine *e)
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
    xd_shares(all->shares, n, e->readers.window);
    for (size_t i = 0; i < n; i++) {
        struct xd_reader *r = all->shares[i].of;

        r->front = all->shares[i].front;
        r->ahead = all->shares[i].ahead;
    }
}

/* Returns true if the reader streams.  Returns false if it has only read an
 * index at the end of the file. */
static bool streams(const struct xd_reader *r)
{
    return r->arrived_at == 0 || r->position - r->arrived_at >= XD_PROBE_BYTES;
}

/* Returns the part of the window that begins at the reader's position. */
static struct xd_range rest_of_window(const struct xd_reader *r)
{
    struct xd_range rest = r->demand.range;
    uint64_t at = window_begin(r);

    if (rest.begin < at)
        rest.begin = at < rest.end ? at : rest.end;
    return rest;
}

bool xd_windows_have_rest_locked(const struct xd_engine *e)
{
    bool has_end = false;

    if (xd_engine_is_over_locked(e))
        return e->error.code == XD_OK;
    for (size_t i = 0; i < e->readers.n; i++) {
        const struct xd_reader *r = e->readers.list[i];
        struct xd_range rest = rest_of_window(r);

        if (!xd_ledger_has(&e->ledger, XD_BYTES_READABLE, rest))
            return false;
        has_end |= r->has_begun && streams(r) && rest.end == e->wanted.end;
    }
    return has_end;
}
