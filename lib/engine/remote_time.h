/* SPDX-License-Identifier: MIT */
/*
 * Sets the modification time of a complete file with the option remote-time.
 * It is the oldest time stated by a depot that delivered bytes of the file,
 * because a mirror that copied the file without its time states a later one
 * than the original.
 *
 * Without the option these functions do nothing.
 */
#ifndef XD_ENGINE_REMOTE_TIME_H
#define XD_ENGINE_REMOTE_TIME_H

#include <stddef.h>
#include <stdint.h>

struct xd_engine;
struct xd_head;
struct xd_lane;

/* Stores the time stated by the response on `lane`.  Call it without the
 * lock. */
void xd_remote_time_learned(struct xd_engine *e, const struct xd_lane *lane,
                            const struct xd_head *head);

/* Returns the time for the file in seconds since 1970.  Returns 0 if the time
 * should not be set, or cannot be set (which is logged), or for a set, whose
 * files have their own times. */
int64_t xd_remote_time_locked(struct xd_engine *e);

/* Sets the time of file `i` of a set after it was renamed.  Call it without the
 * lock. */
void xd_remote_time_set(struct xd_engine *e, size_t i);

#endif
