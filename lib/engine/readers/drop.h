/* SPDX-License-Identifier: MIT */
/*
 * Drops bytes from a store in memory, to free that memory: bytes that no reader
 * needs or is copying, and that are not being hashed.
 */
#ifndef XD_ENGINE_DROP_H
#define XD_ENGINE_DROP_H

struct xd_engine;

/* Drops all such bytes.  If a reader needs them later, they are fetched
 * again. */
void xd_readers_drop_locked(struct xd_engine *e);

#endif
