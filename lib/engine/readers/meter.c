/* SPDX-License-Identifier: MIT */
#include "engine/readers/meter.h"

#include <math.h>

#include "base/alloc.h"
#include "base/array.h"
#include "command/readers.h"

#define FIRST_LEVEL_EVERY (XD_SECOND / 10)

void xd_meter_init(struct xd_meter *m)
{
    *m = (struct xd_meter){.startup_s = -1,
                           .first_byte_s = -1,
                           .sought_byte_s = -1,
                           .end = UINT64_MAX,
                           .level_every = FIRST_LEVEL_EVERY};
}

void xd_meter_fini(struct xd_meter *m)
{
    xd_free(m->stalls.list);
    xd_free(m->restarts.list);
}

void xd_meter_wish(struct xd_meter *m, xd_usec now)
{
    if (m->phase != XD_METER_NEW)
        return;
    m->phase = XD_METER_STARTING;
    m->wish_at = m->phase_at = m->now = m->level_at = now;
}

void xd_meter_blocks(struct xd_meter *m, uint64_t block_bytes)
{
    m->blocks.block = block_bytes;
}

/* ---- ideal players ---- */

/* Returns the position up to which the player may play: the end of the last
 * complete block. */
static double limit_of(const struct xd_meter *m, const struct xd_ideal *p)
{
    if (p->block == 0 || p->here >= (double)m->end)
        return p->here;
    return floor(p->here / (double)p->block) * (double)p->block;
}

static void advance_ideal(const struct xd_meter *m, struct xd_ideal *p,
                          double s)
{
    double way = s * m->rate, room = limit_of(m, p) - p->byte;

    if (way <= room) {
        p->byte += way;
        return;
    }
    if (room > 0) {
        p->byte += room;
        s -= room / m->rate;
    }
    if (p->byte < (double)m->end)
        p->stalled_s += s;
}

/* Moves the ideal players to `byte`.  They wait for its data, but a wait after
 * a start or a jump is not a stall, as for the real player. */
static void place(struct xd_meter *m, uint64_t byte)
{
    m->ideal_plays = false;
    if (m->bytes.byte == (double)byte && m->blocks.byte == (double)byte)
        return;
    m->bytes.byte = m->blocks.byte = (double)byte;
    m->bytes.here = m->blocks.here = (double)byte;
    m->sought_byte_s = -1;
}

/* ---- real player ---- */

static void note(struct xd_waits *w, double media_s, double s)
{
    w->count++;
    w->sum_s += s;
    w->longest_s = s > w->longest_s ? s : w->longest_s;
    if (w->n < XD_METER_WAITS) {
        struct xd_wait *list =
            xd_grow(w->list, w->n, &w->capacity, sizeof *list);

        if (list)
            w->list = list;
    }
    if (w->n < w->capacity)
        w->list[w->n++] = (struct xd_wait){media_s, s};
}

static void sample(struct xd_meter *m)
{
    if (m->now < m->level_at)
        return;
    if (m->n_levels == XD_METER_LEVELS) {
        for (size_t i = 0; i < XD_METER_LEVELS / 2; i++)
            m->levels[i] = m->levels[2 * i];
        m->n_levels = XD_METER_LEVELS / 2;
        m->level_every *= 2;
    }
    m->levels[m->n_levels++] = (struct xd_level){
        .at_s = xd_seconds(m->now - m->wish_at), .level_s = m->level_s};
    m->level_at = m->now + m->level_every;
}

static void pass(struct xd_meter *m, xd_usec now)
{
    double s = now > m->now ? xd_seconds(now - m->now) : 0;

    if (m->phase == XD_METER_NEW || m->phase == XD_METER_ENDED)
        return;
    m->now = now > m->now ? now : m->now;
    if (m->phase == XD_METER_PLAYING)
        m->played_s += s;
    if (m->phase != XD_METER_PAUSED)
        m->watched_s += s;
    if (m->ideal_plays && m->rate > 0 && m->phase != XD_METER_PAUSED) {
        advance_ideal(m, &m->bytes, s);
        advance_ideal(m, &m->blocks, s);
    }
}

/* Returns the unavoidable part of a wait after a jump that has lasted `s`
 * seconds. */
static double least_restart(const struct xd_meter *m, double s)
{
    return m->sought_byte_s < 0 ? s : m->sought_byte_s;
}

static void leave_phase(struct xd_meter *m)
{
    double s = xd_seconds(m->now - m->phase_at);

    if (m->phase == XD_METER_STALLED) {
        note(&m->stalls, m->played_s, s);
    } else if (m->phase == XD_METER_SEEKING) {
        note(&m->restarts, m->played_s, s);
        m->restart_least_s += least_restart(m, s);
    }
}

static void enter(struct xd_meter *m, enum xd_meter_phase phase)
{
    if (m->phase == phase)
        return;
    leave_phase(m);
    m->phase = phase;
    m->phase_at = m->now;
    m->sought_byte_s = -1;
}

static enum xd_meter_phase phase_for(const struct xd_meter *m,
                                     enum xd_play_state state)
{
    switch (state) {
    case XD_PLAY_RUNNING:
        return XD_METER_PLAYING;
    case XD_PLAY_PAUSED:
        return XD_METER_PAUSED;
    case XD_PLAY_SEEKING:
        return m->has_started ? XD_METER_SEEKING : XD_METER_STARTING;
    case XD_PLAY_ENDED:
        return XD_METER_ENDED;
    case XD_PLAY_WAITING:
        break;
    }
    if (!m->has_started)
        return XD_METER_STARTING;
    return m->phase == XD_METER_SEEKING ? XD_METER_SEEKING : XD_METER_STALLED;
}

void xd_meter_play(struct xd_meter *m, xd_usec now, uint64_t byte, double rate,
                   enum xd_play_state state)
{
    enum xd_meter_phase phase;

    xd_meter_wish(m, now);
    pass(m, now);
    if (rate > 0)
        m->rate = rate;
    phase = phase_for(m, state);
    if (phase == XD_METER_SEEKING || !m->ideal_plays)
        place(m, byte);
    if (phase == XD_METER_PLAYING && !m->has_started) {
        m->has_started = true;
        m->startup_s = xd_seconds(m->now - m->wish_at);
    }
    if (phase == XD_METER_PLAYING)
        m->ideal_plays = true;
    enter(m, phase);
}

void xd_meter_pass(struct xd_meter *m, xd_usec now, uint64_t *out)
{
    pass(m, now);
    *out = (uint64_t)m->bytes.byte;
}

void xd_meter_here(struct xd_meter *m, uint64_t run_end, uint64_t file_end)
{
    if (m->phase == XD_METER_NEW || m->phase == XD_METER_ENDED)
        return;
    m->end = file_end;
    m->bytes.here = m->blocks.here = (double)run_end;
    if (m->first_byte_s < 0 && (double)run_end > m->bytes.byte)
        m->first_byte_s = xd_seconds(m->now - m->wish_at);
    if (m->phase == XD_METER_SEEKING && m->sought_byte_s < 0 &&
        (double)run_end > m->bytes.byte)
        m->sought_byte_s = xd_seconds(m->now - m->phase_at);
    if (m->rate > 0)
        m->level_s = (m->bytes.here - m->bytes.byte) / m->rate;
    sample(m);
}

/* ---- statistics ---- */

/* Computes the quality score.  Older stalls have less weight. */
static double quality_of(const struct xd_meter *m,
                         const struct xd_waits *stalls)
{
    double media = m->played_s, length = 0, between = 0;
    size_t n = stalls->count;

    if (media <= 0)
        return 0;
    for (size_t i = 0; i < stalls->n; i++)
        length +=
            stalls->list[i].seconds *
            (0.484 + 0.516 * exp2(-(media - stalls->list[i].media_s) / 10));
    if (m->startup_s > 0) {
        length += m->startup_s * (0.484 + 0.516 * exp2(-media / 10));
        n++;
    }
    if (n > 1 && stalls->n > 0) {
        double first = m->startup_s > 0 ? 0 : stalls->list[0].media_s;

        between =
            (stalls->list[stalls->n - 1].media_s - first) / (double)(n - 1);
    }
    return 1 + 4 * exp(-(double)n / 9.3516) * exp(-(length / media) / 0.91891) *
                   exp(-(between / media) / 11.0568);
}

void xd_meter_get(const struct xd_meter *m, struct xd_playback *out)
{
    double lasts = xd_seconds(m->now - m->phase_at);
    struct xd_playback p = {.startup_s = m->startup_s,
                            .startup_least_s = m->first_byte_s,
                            .n_stalls = (unsigned)m->stalls.count,
                            .stall_s = m->stalls.sum_s,
                            .stall_longest_s = m->stalls.longest_s,
                            .stall_least_s = m->bytes.stalled_s,
                            .stall_blocks_s = m->blocks.stalled_s,
                            .played_s = m->played_s,
                            .watched_s = m->watched_s,
                            .n_seeks = (unsigned)m->restarts.count,
                            .restart_s = m->restarts.sum_s,
                            .restart_longest_s = m->restarts.longest_s,
                            .restart_least_s = m->restart_least_s,
                            .quality = quality_of(m, &m->stalls),
                            .level_s = m->level_s,
                            .is_stalled = m->phase == XD_METER_STALLED};

    if (m->phase == XD_METER_STALLED) {
        p.n_stalls++;
        p.stall_s += lasts;
        if (lasts > p.stall_longest_s)
            p.stall_longest_s = lasts;
    }
    if (m->phase == XD_METER_SEEKING) {
        p.n_seeks++;
        p.restart_s += lasts;
        p.restart_least_s += least_restart(m, lasts);
        if (lasts > p.restart_longest_s)
            p.restart_longest_s = lasts;
    }
    if (p.stall_s + p.played_s > 0)
        p.rebuffer_ratio = p.stall_s / (p.stall_s + p.played_s);
    if (p.stall_least_s + p.played_s > 0)
        p.rebuffer_least = p.stall_least_s / (p.stall_least_s + p.played_s);
    *out = p;
}
