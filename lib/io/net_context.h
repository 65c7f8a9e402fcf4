/* SPDX-License-Identifier: MIT */
/*
 * Data that the transports of one download or batch share: resolved host names,
 * the watchdog for blocked calls of libcurl, and a secret.  The secret is used
 * to derive a number for each server (Xd-Client), by which the server
 * recognizes requests of one download.  Opaque except to transports.
 */
#ifndef XD_IO_NET_CONTEXT_H
#define XD_IO_NET_CONTEXT_H

#include <xdownload/error.h>

struct xd_net_context;

/*
 * Creates a context.
 * Ownership: release *out with xd_net_context_free() after the last transport
 *            that uses it.
 * Errors: NOMEM.
 */
int xd_net_context_new(struct xd_net_context **out, struct xd_error *err);
void xd_net_context_free(struct xd_net_context *c); /* NULL: does nothing */

/* Announces that the transports will be freed: from then on, a call of libcurl
 * that blocks is ended within a quarter of a second.  NULL: does nothing.
 * Threads: any.
 * Blocks: no. */
void xd_net_context_shorten_waits(struct xd_net_context *c);

#endif
