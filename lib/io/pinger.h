/* SPDX-License-Identifier: MIT */
/*
 * Pings: a TCP connection is made to a server and closed at once, which tells
 * how near it is, or that it refuses.  Nothing is sent, and no handshake of TLS
 * is begun.
 *
 *     any thread:  ask(number, url)
 *     its own:     connects ---> answered(), several at a time
 *
 * A server that is known by an address is connected to by a plain socket, one
 * that has a name through libcurl, which looks the name up where all transports
 * of the download share it.  Where a proxy is configured no server is pinged.
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

/* A ping that is not answered is given up after this: the first SYN and a second
 * one, a second later, are answered by then on any wire. */
#define XD_PING_TIME (2 * XD_SECOND)

/* What came of the ping that was asked for under this number. */
struct xd_ping {
    unsigned number;
    enum xd_ping_result result;
    xd_usec round_trip; /* if it was ANSWERED */
    int os_errno;       /* if it was REFUSED */
};

/*
 * Called by the pinger's thread, with no lock held, exactly once for each ping
 * unless the pinger is freed before.
 * May call: ask().
 */
typedef void xd_pings_fn(void *user, const struct xd_ping *pings, size_t n);

/*
 * `net` (NULL: the defaults) and `context` outlive the pinger.
 * Ownership: *out is the caller's, to release with xd_pinger_free().
 * Errors:    NOMEM; IO, for a file that the options name.
 */
int xd_pinger_new(struct xd_pinger **out, const struct xd_net_options *net,
                  struct xd_net_context *context, xd_pings_fn *answered,
                  void *user, struct xd_error *err);

/* Ends what is on its way, without an answer.  NULL does nothing.
 * Blocks: no; with a libcurl older than 7.87 for a name server that does not
 *         answer. */
void xd_pinger_free(struct xd_pinger *p);

/*
 * Ping the server of `url`, which lives until the answer; that is UNKNOWN where
 * there is no server, a proxy is between, or it lies nearer than `reach`.
 * Threads: any.  Blocks: no.
 * Errors:  NOMEM: there will be no answer.
 */
int xd_pinger_ask(struct xd_pinger *p, unsigned number,
                  const struct xd_url *url, enum xd_reach reach);

#endif
