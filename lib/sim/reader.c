/* SPDX-License-Identifier: MIT */
#include "sim/reader.h"

#include "session/lookahead.h"
#include "sim/request.h"
#include "sim/run.h"

#define PIPE_STEP (20 * XD_NSEC_MS)

/* Interval at which the player reports its position, as in
 * cli/play/play_simulated.c. */
#define PLAYER_STEP (100 * XD_NSEC_MS)

/* Shortest playback that separates two stalls. */
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

static unsigned number_of(const struct xd_run *r, const struct xd_sim_reader *v)
{
    return (unsigned)(v - r->readers);
}

static const struct xd_sim_player *player_of(const struct xd_run *r,
                                             const struct xd_sim_reader *v)
{
    return number_of(r, v) == 0 ? &r->o->player : &r->o->second;
}

static void want(struct xd_run *r, const struct xd_sim_reader *v, uint64_t from,
                 uint64_t bytes_per_s)
{
    uint64_t window = r->o->sched.window_bytes;

    demand(r, XD_LOOKAHEAD_READERS + number_of(r, v),
           xd_lookahead_window(from, from, window, r->o->size),
           xd_run_usec(r->net.now), bytes_per_s);
}

static void want_rest(struct xd_run *r)
{
    demand(r, XD_LOOKAHEAD_REST, whole_file(r), XD_NEVER, 0);
}

/* Tells the scheduler which bytes the readers need first, as
 * xd_readers_begin_locked() does. */
static void begin(struct xd_run *r)
{
    struct xd_range whole = whole_file(r);

    demand(r, XD_LOOKAHEAD_REST, (struct xd_range){0, 0}, XD_NEVER, 0);
    if (r->o->player.bytes_per_s == 0 && !r->o->client.is_there) {
        want(r, &r->readers[0], 0, XD_LOOKAHEAD_PIPE_RATE);
        return;
    }
    demand(r, XD_LOOKAHEAD_HEAD, xd_lookahead_head(whole),
           XD_LOOKAHEAD_HINT_AFTER, 0);
    demand(r, XD_LOOKAHEAD_TAIL, xd_lookahead_tail(whole),
           XD_LOOKAHEAD_HINT_AFTER, 0);
}

static void begin_reader(struct xd_run *r, struct xd_sim_reader *v)
{
    const struct xd_sim_player *p = player_of(r, v);

    if (number_of(r, v) == 0)
        begin(r);
    v->has_begun = true;
    v->since = p->prebuffer;
    v->from = v->at = p->begins_at;
    if (v->in_order < v->from)
        v->in_order = v->from;
}

static void read_on(struct xd_run *r, struct xd_sim_reader *v)
{
    uint64_t rate = r->o->reader_bytes_per_s, most = UINT64_MAX;
    uint64_t to = v->in_order;

    if (rate > 0) {
        most = rate * (uint64_t)PIPE_STEP / (uint64_t)XD_NSEC_SECOND + 1;
        v->next_at = r->net.now + PIPE_STEP;
    }
    if (to - v->at > most)
        to = v->at + most;
    if (to == v->at)
        return;
    v->at = to;
    want(r, v, to, XD_LOOKAHEAD_PIPE_RATE);
}

/* Returns the time at which the player should show a byte if it never stalls
 * before that. */
static xd_usec shown_at(const struct xd_run *r, const struct xd_sim_reader *v,
                        uint64_t byte)
{
    return v->since + v->stalled +
           (xd_usec)((double)(byte - v->from) /
                     (double)player_of(r, v)->bytes_per_s * XD_SECOND);
}

static void seek(struct xd_run *r, struct xd_sim_reader *v, uint64_t to)
{
    v->jumped_at = xd_run_usec(r->net.now);
    v->is_waiting = true;
    v->at = v->in_order = v->from = to;
}

/* Pauses or seeks when the options say so. */
static void obey_viewer(struct xd_run *r, struct xd_sim_reader *v)
{
    const struct xd_sim_player *p = player_of(r, v);

    if (p->pauses_at > 0 && !v->has_paused && v->at >= p->pauses_at) {
        v->has_paused = true;
        v->from = v->at;
        v->since = xd_run_usec(r->net.now) + p->pause - v->stalled;
    }
    if (p->leaves_at > 0 && v->jumped_at == 0 && v->at >= p->leaves_at)
        seek(r, v, p->goes_to);
}

static void play_on(struct xd_run *r, struct xd_sim_reader *v)
{
    const struct xd_sim_player *p = player_of(r, v);
    xd_usec now = xd_run_usec(r->net.now);
    xd_usec began = v->since + v->stalled;
    double shown = (double)v->from;

    if (now > began && !v->is_waiting)
        shown += (double)(now - began) / XD_SECOND * (double)p->bytes_per_s;
    v->next_at = r->net.now + PLAYER_STEP;
    v->at = shown < (double)v->in_order ? (uint64_t)shown : v->in_order;
    obey_viewer(r, v);
    want(r, v, v->at, p->bytes_per_s);
    if (v->jumped_at > 0 && v->in_order == r->o->size)
        want_rest(r); /* so that the download ends */
}

/* Records a stall: data due at `due` has only arrived now. */
static void note_stall(struct xd_run *r, struct xd_sim_reader *v, xd_usec due,
                       xd_usec now)
{
    if (v->n_stalls == 0 || due - v->moves_since >= PORTION) {
        v->n_stalls++;
        r->out->n_stalls++;
        v->stall = 0;
    }
    v->stall += now - due;
    v->moves_since = now;
    v->stalled += now - due;
    r->out->stalled += now - due;
    if (r->out->longest_stall < v->stall)
        r->out->longest_stall = v->stall;
}

/* Continues to read.  When the client has reached the end, it also wants the
 * bytes that it skipped, so that the download ends. */
static void serve_on(struct xd_run *r, struct xd_sim_reader *v)
{
    const struct xd_sim_client *c = &r->o->client;

    v->next_at = r->net.now + PIPE_STEP;
    if (v->at == v->in_order && v->at > 0)
        return;
    v->at = v->in_order;
    want(r, v, v->at, XD_LOOKAHEAD_ASSUMED_RATE);
    if (v->jumped_at > 0 && v->at == r->o->size)
        want_rest(r);
    if (v->jumped_at == 0 && c->leaves_at > 0 && v->at >= c->leaves_at) {
        seek(r, v, c->goes_to);
        want(r, v, v->at, XD_LOOKAHEAD_ASSUMED_RATE);
    }
}

/* Records that all bytes before `to` have been accepted. */
static void note(struct xd_run *r, struct xd_sim_reader *v, uint64_t to)
{
    uint64_t first = MIB < r->o->size ? MIB : r->o->size;
    xd_usec now = xd_run_usec(r->net.now);

    if (number_of(r, v) == 0 && v->in_order == 0)
        r->out->first_byte = now;
    if (number_of(r, v) == 0 && v->in_order < first && to >= first)
        r->out->first_mib = now;
    if (v->is_waiting) {
        r->out->jump = now - v->jumped_at;
        v->since = now - v->stalled;
    } else if (player_of(r, v)->bytes_per_s > 0 &&
               now > shown_at(r, v, v->in_order)) {
        note_stall(r, v, shown_at(r, v, v->in_order), now);
    }
    v->is_waiting = false;
    v->in_order = to;
}

static void look(struct xd_run *r, struct xd_sim_reader *v)
{
    struct xd_range rest = {v->in_order, r->o->size};
    uint64_t to =
        xd_ledger_first_gap(&r->driver.ledger, XD_BYTES_READABLE, rest);

    if (to > v->in_order)
        note(r, v, to);
    if (r->o->sched.window_bytes == 0 || r->net.now < v->next_at)
        return;
    if (!v->has_begun)
        begin_reader(r, v);
    if (player_of(r, v)->bytes_per_s > 0)
        play_on(r, v);
    else if (r->o->client.is_there)
        serve_on(r, v);
    else
        read_on(r, v);
}

void xd_sim_readers_look(struct xd_run *r)
{
    look(r, &r->readers[0]);
    if (r->o->second.bytes_per_s > 0)
        look(r, &r->readers[1]);
}
