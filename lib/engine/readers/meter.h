/* SPDX-License-Identifier: MIT */
/*
 * Playback statistics: measures when the picture moved.
 *
 *     wish --STARTING--> PLAYING <--> STALLED
 *                        |  ^ ^------- SEEKING (a jump, and the wait after it)
 *                        v  |
 *                       PAUSED
 *
 * Two ideal players are simulated beside the real one.  They start when it
 * starts and consume bytes at the same rate.  One resumes as soon as the next
 * byte has arrived, the other when all of the next block has arrived.  Their
 * stalls are the minimum that was possible.  For a start or a jump, the minimum
 * is the time until its first byte has arrived.
 *
 * Terms: CTA-2066.  The quality is O23 of ITU-T P.1203.3.  Pure; guarded by
 * its owner's lock.
 */
#ifndef XD_ENGINE_METER_H
#define XD_ENGINE_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/stream.h>

#include "base/time.h"
#include "command/readers.h"

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

/* An ideal player, which resumes as soon as the data has arrived. */
struct xd_ideal {
    double byte;      /* position of playback */
    double here;      /* end of the bytes that have arrived without a gap */
    uint64_t block;   /* the player waits until a whole block of this length has
                         arrived; 0: it plays single bytes */
    double stalled_s; /* total time of stalls */
};

struct xd_wait {
    double media_s, seconds;
};

struct xd_waits {
    struct xd_wait *list;
    size_t n, capacity;
    size_t count; /* all waits, even those for which `list` had no memory */
    double sum_s, longest_s;
};

struct xd_meter {
    enum xd_meter_phase phase;
    xd_usec wish_at, now, phase_at; /* `phase_at`: when the phase began */
    bool has_started;
    double rate;      /* bytes per second of media; 0: unknown */
    double startup_s; /* < 0 before playback starts */
    double played_s, watched_s;
    struct xd_waits stalls, restarts;
    struct xd_ideal bytes, blocks;
    bool ideal_plays;
    double first_byte_s; /* < 0 before the first byte */
    double restart_least_s;
    double sought_byte_s; /* seconds from the last jump until its byte arrived;
                             < 0 if it has not arrived, or without a jump */
    uint64_t end;         /* end of the file; UINT64_MAX: unknown */
    double level_s;
    struct xd_level levels[XD_METER_LEVELS];
    size_t n_levels;
    xd_usec level_every, level_at;
};

void xd_meter_init(struct xd_meter *m);
void xd_meter_fini(struct xd_meter *m);

/* Records that the user has requested playback.  Only the first call counts. */
void xd_meter_wish(struct xd_meter *m, xd_usec now);

/* Sets the block length of the second ideal player.  Call it before any other
 * function. */
void xd_meter_blocks(struct xd_meter *m, uint64_t block_bytes);

/* Handles a report of the player: its position, its rate (<= 0: unchanged) and
 * its state.  If memory runs out, a wait is counted but not listed. */
void xd_meter_play(struct xd_meter *m, xd_usec now, uint64_t byte, double rate,
                   enum xd_play_state state);

/* Advance the ideal players.  pass() moves them to the time `now`, and sets
 * *out to the position of the one that plays single bytes.  Then call here()
 * with the end of the bytes that can be read from that position on without a
 * gap, and with the end of the file. */
void xd_meter_pass(struct xd_meter *m, xd_usec now, uint64_t *out);
void xd_meter_here(struct xd_meter *m, uint64_t run_end, uint64_t file_end);

/* Returns the statistics as of the last call of another function. */
void xd_meter_get(const struct xd_meter *m, struct xd_playback *out);

#endif
