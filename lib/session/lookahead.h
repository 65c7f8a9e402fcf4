/* SPDX-License-Identifier: MIT */
/*
 * Computes which bytes a reader needs next, as reported to the scheduler by
 * DEMAND.
 *
 *     |==head==|      reader -->|<------ window ------>|          |==tail==|
 *      (soon)                    (now)                             (soon)
 *
 * A window ends at a multiple of a quarter of its length.  So when it is full,
 * nothing is fetched until a quarter of it is free.  Players read the head and
 * the tail of a file within their first second.
 *
 * Pure: used by the readers of the engine and of the simulator.  The caller
 * extends the ranges to whole pieces.
 */
#ifndef XD_SESSION_LOOKAHEAD_H
#define XD_SESSION_LOOKAHEAD_H

#include <stdbool.h>

#include "base/range.h"
#include "base/time.h"

/* Assumed rate in bytes per second if a player reports none: between music and
 * 4K video. */
#define XD_LOOKAHEAD_ASSUMED_RATE ((uint64_t)1 << 20)

/* Assumed rate of a pipe, whose reader reports nothing: the fastest films
 * (Ultra HD Blu-ray, 128 Mbit/s), so that a player never waits. */
#define XD_LOOKAHEAD_PIPE_RATE ((uint64_t)16 << 20)

/* Indexes of windows: the rest of the wanted bytes, the head, the tail, and the
 * readers. */
enum {
    XD_LOOKAHEAD_REST,
    XD_LOOKAHEAD_HEAD,
    XD_LOOKAHEAD_TAIL,
    XD_LOOKAHEAD_READERS /* the first reader */
};

/* The last report of a player. */
struct xd_player {
    uint64_t byte;        /* position of playback */
    uint64_t bytes_per_s; /* 0: no report yet */
    xd_usec at;
    bool is_playing;
};

/* Returns when the player needs a byte. */
xd_usec xd_lookahead_due(const struct xd_player *p, uint64_t byte, xd_usec now);

/* Time after the start when head and tail are needed. */
#define XD_LOOKAHEAD_HINT_AFTER (XD_SECOND / 2)

/* Returns the window of a reader at `from`.  It extends to about `length` bytes
 * after `front`, but not beyond the wanted bytes, which end at `end`. */
struct xd_range xd_lookahead_window(uint64_t from, uint64_t front,
                                    uint64_t length, uint64_t end);

/* Return the beginning and the end of a file, which players read besides the
 * bytes that they play. */
struct xd_range xd_lookahead_head(struct xd_range wanted);
struct xd_range xd_lookahead_tail(struct xd_range wanted);

#endif
