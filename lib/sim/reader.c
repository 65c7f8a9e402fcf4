/* SPDX-License-Identifier: MIT */
#include "sim/reader.h"

#include "session/lookahead.h"
#include "sim/request.h"
#include "sim/run.h"

#define PIPE_STEP (20 * XD_NSEC_MS)

/* As cli/play/play_simulated.c tells where its picture is. */
#define PLAYER_STEP (100 * XD_NSEC_MS)

/* It shows so much at a time: a picture that moves for less has not moved. */
#define PORTION (10 * XD_MS)

#define MIB ((uint64_t)1 << 20)

static struct xd_range whole_pieces(const struct xd_run *r,
                                    struct xd_range range)
{
    uint64_t piece = r->o->piece_bytes;

    if (piece == 0)
        return range;
    range.begin -= range.begin % piece;
    range.end += piece - 1 - (range.end + piece - 1) % piece;
    return range;
}

static struct xd_range whole_file(const struct xd_run *r)
{
    return (struct xd_range){0, r->o->size};
}

static void demand(struct xd_run *r, unsigned reader, struct xd_range range,
                   xd_usec due, uint64_t bytes_per_s)
{
    xd_run_take_event(r,
                      (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                              .reader = reader,
                                              .range = whole_pieces(r, range),
                                              .due = due,
                                              .bytes_per_s = bytes_per_s});
}

static void want(struct xd_run *r, uint64_t from, uint64_t bytes_per_s)
{
    uint64_t window = r->o->sched.window_bytes;

    demand(r, XD_LOOKAHEAD_READERS,
           xd_lookahead_window(from, from, window, r->o->size),
           xd_run_usec(r->net.now), bytes_per_s);
}

/* As xd_readers_begin_locked() does. */
static void begin(struct xd_run *r)
{
    struct xd_range whole = whole_file(r);

    demand(r, XD_LOOKAHEAD_REST, (struct xd_range){0, 0}, XD_NEVER, 0);
    if (r->o->player.bytes_per_s == 0 && !r->o->client.is_there) {
        want(r, 0, XD_LOOKAHEAD_PIPE_RATE);
        return;
    }
    demand(r, XD_LOOKAHEAD_HEAD, xd_lookahead_head(whole),
           XD_LOOKAHEAD_HINT_AFTER, 0);
    demand(r, XD_LOOKAHEAD_TAIL, xd_lookahead_tail(whole),
           XD_LOOKAHEAD_HINT_AFTER, 0);
}

static void read_on(struct xd_run *r)
{
    uint64_t rate = r->o->reader_bytes_per_s, most = UINT64_MAX;
    uint64_t to = r->reader.in_order;

    if (rate > 0) {
        most = rate * (uint64_t)PIPE_STEP / (uint64_t)XD_NSEC_SECOND + 1;
        r->reader.next_at = r->net.now + PIPE_STEP;
    }
    if (to - r->reader.at > most)
        to = r->reader.at + most;
    if (to == r->reader.at)
        return;
    r->reader.at = to;
    want(r, to, XD_LOOKAHEAD_PIPE_RATE);
}

/* When a byte is to be shown, if all before it were here in time. */
static xd_usec shown_at(const struct xd_run *r, uint64_t byte)
{
    const struct xd_sim_player *p = &r->o->player;

    return p->prebuffer + r->out->stalled +
           (xd_usec)((double)byte / (double)p->bytes_per_s * XD_SECOND);
}

static void play_on(struct xd_run *r)
{
    const struct xd_sim_player *p = &r->o->player;
    xd_usec now = xd_run_usec(r->net.now);
    xd_usec began = p->prebuffer + r->out->stalled;
    double shown =
        now > began ? (double)(now - began) / XD_SECOND * (double)p->bytes_per_s
                    : 0;

    r->reader.next_at = r->net.now + PLAYER_STEP;
    r->reader.at = shown < (double)r->reader.in_order ? (uint64_t)shown
                                                      : r->reader.in_order;
    want(r, r->reader.at, p->bytes_per_s);
}

/* What has come was due at `due`. */
static void note_stall(struct xd_run *r, xd_usec due, xd_usec now)
{
    struct xd_sim_reader *p = &r->reader;

    if (r->out->n_stalls == 0 || due - p->moves_since >= PORTION) {
        r->out->n_stalls++;
        p->stall = 0;
    }
    p->stall += now - due;
    p->moves_since = now;
    r->out->stalled += now - due;
    if (r->out->longest_stall < p->stall)
        r->out->longest_stall = p->stall;
}

static void go_elsewhere(struct xd_run *r)
{
    r->reader.jumped_at = xd_run_usec(r->net.now);
    r->reader.at = r->reader.in_order = r->o->client.goes_to;
    want(r, r->reader.at, XD_LOOKAHEAD_ASSUMED_RATE);
}

/* What it left behind is fetched when it has seen the end, so that there is an
 * end. */
static void serve_on(struct xd_run *r)
{
    const struct xd_sim_client *c = &r->o->client;

    r->reader.next_at = r->net.now + PIPE_STEP;
    if (r->reader.at == r->reader.in_order && r->reader.at > 0)
        return;
    r->reader.at = r->reader.in_order;
    want(r, r->reader.at, XD_LOOKAHEAD_ASSUMED_RATE);
    if (r->reader.jumped_at > 0 && r->reader.at == r->o->size)
        demand(r, XD_LOOKAHEAD_REST, whole_file(r), XD_NEVER, 0);
    if (r->reader.jumped_at == 0 && c->leaves_at > 0 &&
        r->reader.at >= c->leaves_at)
        go_elsewhere(r);
}

/* All up to `to` is here now. */
static void note(struct xd_run *r, uint64_t to)
{
    uint64_t first = MIB < r->o->size ? MIB : r->o->size;
    xd_usec now = xd_run_usec(r->net.now);

    if (r->reader.in_order == 0)
        r->out->first_byte = now;
    if (r->reader.in_order < first && to >= first)
        r->out->first_mib = now;
    if (r->o->player.bytes_per_s > 0 && now > shown_at(r, r->reader.in_order))
        note_stall(r, shown_at(r, r->reader.in_order), now);
    if (r->reader.jumped_at > 0 && r->out->jump == XD_NEVER)
        r->out->jump = now - r->reader.jumped_at;
    r->reader.in_order = to;
}

void xd_sim_reader_look(struct xd_run *r)
{
    struct xd_range rest = {r->reader.in_order, r->o->size};
    uint64_t to =
        xd_ledger_first_gap(&r->driver.ledger, XD_BYTES_READABLE, rest);

    if (to > r->reader.in_order)
        note(r, to);
    if (r->o->sched.window_bytes == 0 || r->net.now < r->reader.next_at)
        return;
    if (!r->reader.has_begun)
        begin(r);
    r->reader.has_begun = true;
    if (r->o->player.bytes_per_s > 0)
        play_on(r);
    else if (r->o->client.is_there)
        serve_on(r);
    else
        read_on(r);
}
