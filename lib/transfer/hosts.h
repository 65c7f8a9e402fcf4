/* SPDX-License-Identifier: MIT */
/*
 * The hosts that this process talks to, each with its governor
 * (base/governor.h).  A host is a depot: scheme group, name and port.
 *
 * The runners of all downloads, samples and uploads use this table, so what one
 * of them learns about a host applies to all.
 *
 * Threads: any.  The lock of the table is a leaf.
 */
#ifndef XD_TRANSFER_HOSTS_H
#define XD_TRANSFER_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/governor.h"
#include "base/time.h"
#include "base/url.h"
#include "io/transport.h"

struct xd_host;

/* Returns a new reference to the host of a URL.  Returns NULL if there is no
 * governor for it, because the URL is a local file or the table is full.  All
 * functions accept NULL. */
struct xd_host *xd_host_take(const struct xd_url *url);
void xd_host_release(struct xd_host *h);

/* Starts a request if it may start now and returns 0.  Otherwise returns the
 * time at which it may start, like xd_governor_ask(). */
xd_usec xd_host_begin(struct xd_host *h, struct xd_governed *r, bool is_repeat,
                      xd_usec now);

/* Returns the end of the pause that the host has asked for (Retry-After); 0: it
 * has not asked for one. */
xd_usec xd_host_asked_until(struct xd_host *h);

/* Like xd_governor_terms(). */
struct xd_governor_terms xd_host_terms(struct xd_host *h, xd_usec now);

/* Report the progress of a request, like the functions of the governor with the
 * same names. */
void xd_host_accepted(struct xd_host *h, struct xd_governed *r);
void xd_host_progress(struct xd_host *h, struct xd_governed *r);
xd_usec xd_host_end(struct xd_host *h, struct xd_governed *r,
                    enum xd_governed_end end, uint64_t bytes,
                    xd_usec retry_after, xd_usec now);

/* Counts an attempt to connect, outside any request, that did not reach the
 * host.  Returns the pause before another attempt. */
xd_usec xd_host_unreached(const struct xd_url *url);

/* has_failed() returns whether an earlier request from the same byte of the
 * same URL has failed.  note_failure() remembers a failed request.  Only a
 * limited number of them is remembered. */
bool xd_host_has_failed(const struct xd_request *request);
void xd_host_note_failure(const struct xd_request *request);

/* Forgets all hosts, for tests.  No request may be open. */
void xd_hosts_forget(void);

#endif
