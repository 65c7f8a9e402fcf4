/* SPDX-License-Identifier: MIT */
/*
 * Which bytes a reader wants next, as DEMAND reports it to the scheduler.
 *
 *     |==head==|      reader -->|<------ window ------>|          |==tail==|
 *      (soon)                    (now)                             (soon)
 *
 * A window ends at a multiple of a quarter of its length, so that while it is
 * full nothing is fetched, and then a quarter at once.  Players look at the
 * head and the tail of a file within their first second.
 *
 * Pure: readers of the engine and of the simulator both use it.  Where there
 * are pieces its caller extends these ranges to whole ones.
 */
#ifndef XD_SESSION_LOOKAHEAD_H
#define XD_SESSION_LOOKAHEAD_H

#include <stdbool.h>

#include "base/range.h"
#include "base/time.h"

/* Bytes per second of a reader whose player reports no rate; between those of
 * music and of video in 4K. */
#define XD_LOOKAHEAD_ASSUMED_RATE ((uint64_t)1 << 20)

/* Nothing reports how fast a pipe is read.  No film is faster than this (Ultra HD
 * Blu-ray: 128 Mbit/s), so that a player on the pipe is not kept waiting. */
#define XD_LOOKAHEAD_PIPE_RATE ((uint64_t)16 << 20)

/* By which the scheduler knows windows: of all that is wanted when no reader needs
 * anything sooner, of the head, of the tail, and of the readers. */
enum {
    XD_LOOKAHEAD_REST,
    XD_LOOKAHEAD_HEAD,
    XD_LOOKAHEAD_TAIL,
    XD_LOOKAHEAD_READERS /* the first of them */
};

/* What a player has reported last. */
struct xd_player {
    uint64_t byte;        /* that it shows */
    uint64_t bytes_per_s; /* 0: it has reported nothing */
    xd_usec at;
    bool is_playing;
};

/* When it needs a byte. */
xd_usec xd_lookahead_due(const struct xd_player *p, uint64_t byte, xd_usec now);

/* Since the start, when head and tail are needed. */
#define XD_LOOKAHEAD_HINT_AFTER (XD_SECOND / 2)

/* The window from `from` on of a reader that has `length` bytes from `front`
 * on, in a file whose wanted bytes end at `end`. */
struct xd_range xd_lookahead_window(uint64_t from, uint64_t front,
                                    uint64_t length, uint64_t end);

/* What players look at beside the place where they play. */
struct xd_range xd_lookahead_head(struct xd_range wanted);
struct xd_range xd_lookahead_tail(struct xd_range wanted);

#endif
