/* SPDX-License-Identifier: MIT */
/*
 * What a store in memory drops: all that no reader wants, looks at or copies,
 * and that is not being hashed.
 */
#ifndef XD_ENGINE_DROP_H
#define XD_ENGINE_DROP_H

struct xd_engine;

/* Drop it; what is wanted again is fetched again. */
void xd_readers_drop_locked(struct xd_engine *e);

#endif
