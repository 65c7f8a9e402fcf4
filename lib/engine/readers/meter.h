/* SPDX-License-Identifier: MIT */
/*
 * Playback statistics: a pure account of when the picture moved.
 *
 *     wish --STARTING--> PLAYING <--> STALLED
 *                        |  ^ ^------- SEEKING (a jump, and the wait after it)
 *                        v  |
 *                       PAUSED
 *
 * Beside the viewer runs an ideal player, which starts when the real one does,
 * consumes bytes at the same rate, and goes on as soon as the next one is here;
 * and one that goes on only when the next block is here, all of it.  Their
 * stalls are the least that was possible; that of a start or a jump is the time
 * until its first byte is here.
 *
 * Terms: CTA-2066; the quality is O23 of ITU-T P.1203.3.  Pure; guarded by its
 * owner's lock.
 */
#ifndef XD_ENGINE_METER_H
#define XD_ENGINE_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/stream.h>

#include "base/time.h"

#define XD_METER_LEVELS 1000
#define XD_METER_WAITS 4096

enum xd_meter_phase {
    XD_METER_NEW,
    XD_METER_STARTING,
    XD_METER_PLAYING,
    XD_METER_STALLED,
    XD_METER_SEEKING,
    XD_METER_PAUSED,
    XD_METER_ENDED
};

/* A player that loses no time. */
struct xd_ideal {
    double byte;      /* it shows */
    double here;      /* and could show up to here */
    uint64_t block;   /* it shows a block when all of it is here; 0: bytes */
    double stalled_s; /* so far */
};

struct xd_wait {
    double media_s, seconds;
};

struct xd_waits {
    struct xd_wait *list;
    size_t n, capacity;
    size_t count; /* those beyond the list too */
    double sum_s, longest_s;
};

struct xd_meter {
    enum xd_meter_phase phase;
    xd_usec wish_at, now, phase_at; /* since when it is in the phase */
    bool has_started;
    double rate;      /* bytes per second of media; 0: not known */
    double startup_s; /* < 0: not yet */
    double played_s, watched_s;
    struct xd_waits stalls, restarts;
    struct xd_ideal bytes, blocks;
    bool ideal_plays;
    double first_byte_s; /* < 0: not yet */
    double restart_least_s;
    double sought_byte_s; /* since the jump until its byte was here; < 0: it is
                             not, or there was none */
    uint64_t end;         /* of the file; UINT64_MAX: not known */
    double level_s;
    struct xd_level levels[XD_METER_LEVELS];
    size_t n_levels;
    xd_usec level_every, level_at;
};

void xd_meter_init(struct xd_meter *m);
void xd_meter_fini(struct xd_meter *m);

/* The user wants to see it.  The first time counts. */
void xd_meter_wish(struct xd_meter *m, xd_usec now);

/* Before blocks count as whole ones. */
void xd_meter_blocks(struct xd_meter *m, uint64_t block_bytes);

/* What the player says; `rate` <= 0: as before.  Without memory a wait is
 * counted and not listed. */
void xd_meter_play(struct xd_meter *m, xd_usec now, uint64_t byte, double rate,
                   enum xd_play_state state);

/* Time passes until `now`; then all bytes from *out on count as asked for:
 * where the run of good bytes that begins there ends is reported by here(). */
void xd_meter_pass(struct xd_meter *m, xd_usec now, uint64_t *out);
void xd_meter_here(struct xd_meter *m, uint64_t run_end, uint64_t file_end);

/* The account at the moment of the last call. */
void xd_meter_get(const struct xd_meter *m, struct xd_playback *out);

#endif
