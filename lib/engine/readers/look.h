/* SPDX-License-Identifier: MIT */
/*
 * Finds what a reader gets at its position: bytes, the end, an error, or
 * nothing yet.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_LOOK_H
#define XD_ENGINE_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_engine;
struct xd_reader;

bool xd_look_has_size_locked(const struct xd_engine *e);

/* Returns a negative code if the reader must not wait any longer because of an
 * error, otherwise 0. */
int xd_look_trouble_locked(struct xd_reader *r);

/* Fails if bytes that the reader got turned out to be wrong and it has not
 * called seek since.  Returns 0 or a negative code. */
int xd_look_fail_revoked(struct xd_reader *r);

/* Finds what a read of at most `len` bytes can return now, and sets *out to it.
 * Returns a negative code on failure, 0 at the end of the file, and AGAIN if
 * nothing can be read yet. */
int xd_look_locked(struct xd_reader *r, size_t len, struct xd_range *out);

/* Returns true if repeating the call that returned AGAIN may give another
 * result. */
bool xd_look_is_ready_locked(struct xd_reader *r);

#endif
