/* SPDX-License-Identifier: MIT */
/*
 * What a reader finds where it is: bytes, the end, a reason why there will be
 * none, or nothing yet.
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

/* What ends a wait besides that which is waited for: a negative code, or 0. */
int xd_look_trouble_locked(struct xd_reader *r);

/* What it was given is wrong, and it has not sought since. */
int xd_look_fail_revoked(struct xd_reader *r);

/* What there is to read now, of `len` bytes; or what keeps it from being read: a
 * negative code, or 0 at the end; or AGAIN. */
int xd_look_locked(struct xd_reader *r, size_t len, struct xd_range *out);

/* Whether the call that returned AGAIN may have another result. */
bool xd_look_is_ready_locked(struct xd_reader *r);

#endif
