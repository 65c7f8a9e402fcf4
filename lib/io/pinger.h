/* SPDX-License-Identifier: MIT */
/*
 * Pings servers: opens a TCP connection and closes it at once.  That measures
 * the round-trip time, or shows that the server refuses connections.  No data
 * and no TLS handshake is sent.
 *
 *     any thread:  ask(number, url)
 *     own thread:  connects ---> answered(), several results at a time
 *
 * Servers given by address are connected with a plain socket; names go through
 * libcurl, which resolves them in the download's shared cache.  If a proxy is
 * configured, nothing is pinged.
 */
#ifndef XD_IO_PINGER_H
#define XD_IO_PINGER_H

#include <stddef.h>
#include <xdownload/error.h>

#include "base/ping.h"
#include "base/reach.h"
#include "base/time.h"
#include "base/url.h"

struct xd_net_context;
struct xd_net_options;
struct xd_pinger;

/* Timeout: enough for the first SYN and its retransmission after one second. */
#define XD_PING_TIME (2 * XD_SECOND)

/* Result of the ping with this number. */
struct xd_ping {
    unsigned number;
    enum xd_ping_result result;
    xd_usec round_trip; /* if ANSWERED */
    int os_errno;       /* if REFUSED */
};

/*
 * Called on the pinger's thread without locks, exactly once for each ping
 * unless the pinger is freed first.  May call xd_pinger_ask().
 */
typedef void xd_pings_fn(void *user, const struct xd_ping *pings, size_t n);

/*
 * Creates a pinger with its thread.  `net` (NULL: defaults) and `context` must
 * outlive it.
 * Ownership: release *out with xd_pinger_free().
 * Errors: NOMEM; IO if a file that the options name cannot be read.
 */
int xd_pinger_new(struct xd_pinger **out, const struct xd_net_options *net,
                  struct xd_net_context *context, xd_pings_fn *answered,
                  void *user, struct xd_error *err);

/* Ends the thread.  Pings in progress are not answered.
 * Threads: any.
 * Blocks:  no. */
void xd_pinger_stop(struct xd_pinger *p);

/* Drops pings in progress.  NULL: does nothing.
 * Blocks: no; but with libcurl before 7.87, it waits for a name server that
 * does not answer. */
void xd_pinger_free(struct xd_pinger *p);

/*
 * Pings the server of `url`, which must live until the answer.  The result is
 * UNKNOWN if the URL has no server, a proxy is used, or its address is not
 * allowed by `reach`.
 * Threads: any.
 * Blocks: no.
 * Errors: NOMEM; then answered() is not called.
 */
int xd_pinger_ask(struct xd_pinger *p, unsigned number,
                  const struct xd_url *url, enum xd_reach reach);

#endif
