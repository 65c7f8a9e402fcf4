/* SPDX-License-Identifier: MIT */
/*
 * Whether there is room for a set.
 */
#ifndef XD_ENGINE_SET_SPACE_H
#define XD_ENGINE_SET_SPACE_H

struct xd_engine;
struct xd_error;

/* Each disk has room for those of the files that are of known size and not there
 * yet.  Without the lock, before anything is fetched.  Errors: IO. */
int xd_set_check_space(const struct xd_engine *e, struct xd_error *err);

#endif
