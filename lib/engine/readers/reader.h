/* SPDX-License-Identifier: MIT */
/*
 * Reading, for one that holds engine.lock and has begun the download: what
 * xd_reader_size() and xd_reader_read() do.
 */
#ifndef XD_ENGINE_READER_H
#define XD_ENGINE_READER_H

#include <stddef.h>
#include <stdint.h>

struct xd_reader;

/* Releases the lock while it waits.  As xd_reader_size(). */
int64_t xd_reader_await_size_locked(struct xd_reader *r, int timeout_ms);

/* The reader wants bytes from now on. */
void xd_reader_wish_locked(struct xd_reader *r);

/* After a wish.  Releases the lock while it waits or copies.  As
 * xd_reader_read(). */
int64_t xd_reader_take_locked(struct xd_reader *r, void *buf, size_t len,
                              int timeout_ms);

#endif
