/* SPDX-License-Identifier: MIT */
/*
 * Parts of xd_reader_size() and xd_reader_read() for callers that hold
 * engine.lock and have started the download.
 */
#ifndef XD_ENGINE_READER_H
#define XD_ENGINE_READER_H

#include <stddef.h>
#include <stdint.h>

struct xd_reader;

/* Works as xd_reader_size().  Releases the lock while it waits. */
int64_t xd_reader_await_size_locked(struct xd_reader *r, int timeout_ms);

/* Records that the reader needs bytes from now on. */
void xd_reader_wish_locked(struct xd_reader *r);

/* Works as xd_reader_read().  Call xd_reader_wish_locked() first.  Releases the
 * lock while it waits or copies. */
int64_t xd_reader_take_locked(struct xd_reader *r, void *buf, size_t len,
                              int timeout_ms);

#endif
