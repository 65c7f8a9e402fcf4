/* SPDX-License-Identifier: MIT */
/*
 * What all transports of one download, or of one batch, have in common: the
 * addresses of names that one of them has looked up, the watchdog over calls that
 * do not return, and the secret from which each server gets the number by which it
 * knows that requests belong together.  Only transports look inside.
 */
#ifndef XD_IO_NET_CONTEXT_H
#define XD_IO_NET_CONTEXT_H

#include <xdownload/error.h>

struct xd_net_context;

/*
 * Ownership: *out is the caller's, to release with xd_net_context_free() after
 *            the last transport that uses it.
 * Errors:    NOMEM.
 */
int xd_net_context_new(struct xd_net_context **out, struct xd_error *err);
void xd_net_context_free(struct xd_net_context *c); /* NULL does nothing */

/* All transports are about to be freed: calls that do not return are ended
 * within a quarter of a second.  NULL does nothing.
 * Threads: any.  Blocks: no. */
void xd_net_context_shorten_waits(struct xd_net_context *c);

#endif
