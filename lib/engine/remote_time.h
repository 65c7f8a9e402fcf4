/* SPDX-License-Identifier: MIT */
/*
 * The time that a complete file gets with the option remote-time: the oldest that
 * a depot states of whose bytes some are in the file.  A mirror that has copied a
 * file without its time states a later one than that copied from.
 *
 * Each does nothing without the option.
 */
#ifndef XD_ENGINE_REMOTE_TIME_H
#define XD_ENGINE_REMOTE_TIME_H

#include <stddef.h>
#include <stdint.h>

struct xd_engine;
struct xd_head;
struct xd_lane;

/* What the answer on `lane` states.  Without the lock. */
void xd_remote_time_learned(struct xd_engine *e, const struct xd_lane *lane,
                            const struct xd_head *head);

/* Of the whole file, in seconds since 1970; 0: it is not to be set, or cannot
 * be, which is logged.  Files of a set have their own. */
int64_t xd_remote_time_locked(struct xd_engine *e);

/* The file `i` of a set, which has its name, gets its time.  Without the
 * lock. */
void xd_remote_time_set(struct xd_engine *e, size_t i);

#endif
