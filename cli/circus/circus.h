/* SPDX-License-Identifier: MIT */
/*
 * For servers: choose which bytes of a file to send to each of many clients, so
 * that one disk read serves all of them.
 *
 * This is the block selection of Circus (Anastasiadis, Wickremesinghe and
 * Chase, FAST 2004, Figure 5), with distances modulo the size of the file.
 * Clients must accept the bytes of a file in any order.
 *
 *                    midpoint      front
 *     0                 |            |     leapfront              size
 *     |        |========+============|- - - - - - - |               |
 *              <----- active ------->
 *
 * - The front is the position of the client that is furthest ahead.
 * - The active region is the last active_bytes before the front.  Its bytes are
 *   in the memory of the server.
 * - Clients in the active region get their next bytes without a disk read.
 * - A client that has fallen behind the active region continues at the midpoint
 *   of the region.  It gets the skipped bytes in a later round.
 * - A client that has most of the file (independent_from) is not moved: it
 *   continues at its own position.
 *
 * These functions do no I/O.  The server reports to them which bytes it sends,
 * passes the current time, and asks them which bytes to send next:
 *
 *     #include "circus/circus.h"
 *
 *     void serve(struct xd_circus *c, uint64_t client_id, uint64_t now_us)
 *     {
 *         uint64_t begin, end;
 *         struct xd_circus_client *k = xd_circus_enter(c, client_id, now_us);
 *
 *         if (!k)
 *             return;
 *         if (xd_circus_next(c, k, now_us, &begin, &end)) {
 *             // send the bytes from begin up to end, then report them:
 *             xd_circus_send(c, k, begin, end, now_us);
 *         }
 *         xd_circus_leave(c, k, now_us);
 *     }
 *
 * Times are in microseconds since some fixed moment, and must not go backwards.
 * If a call passes an earlier time than the call before, the file forgets all
 * clients that have no request in progress.
 *
 * A malicious client cannot do much harm.  A client takes at most 9 KiB of
 * memory, the number of clients is limited, and a client moves the front by at
 * most four bytes for each byte that the server sends to it.
 *
 * Threads: no function takes a lock.  Only one thread at a time may use a file.
 *          If files share a pool, only one thread at a time may use any of
 *          them.
 * Blocks:  no.
 */
#ifndef XD_CIRCUS_CIRCUS_H
#define XD_CIRCUS_CIRCUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

struct xd_circus;        /* the state of one file */
struct xd_circus_client; /* the state of one client of a file */
/* a common limit on the number of clients of several files */
struct xd_circus_pool;

/* Settings.  0 selects the default of a field, which is the value in the paper
 * if the paper states one.  If active_bytes or leapfront_bytes is above its
 * limit, the limit is used. */
struct xd_circus_rules {
    /* The end of each suggested range is a multiple of this number of bytes;
     * default 64 KiB. */
    uint64_t block_bytes;
    /* Number of bytes before the front that are in memory; default 16 MiB, at
     * most half of the file. */
    uint64_t active_bytes;
    /* Largest distance, in bytes, by which one client can move the front ahead;
     * default active_bytes, at most the size of the file minus active_bytes. */
    uint64_t leapfront_bytes;
    /* Fraction of the file.  A client that has at least this fraction continues
     * at its own position, even behind the active region; default 0.75, at most
     * 1. */
    double independent_from;
    /* microseconds for which a client without requests is remembered; default
     * 30 s */
    uint64_t forget_us;
    /* Largest number of clients that are remembered at a time; default 2048 */
    unsigned most_clients;
    /* True: every client may move the front as far as in the paper, even if few
     * bytes were sent to it.  For simulations only. */
    bool leaps_freely;
    /* A pool that also limits the number of clients, or NULL.  It must live
     * until xd_circus_free(). */
    struct xd_circus_pool *pool;
};

/* The state of one file, for a status page. */
struct xd_circus_state {
    /* The active region; `end` is the front.  If begin > end, the region
     * continues from the end of the file to its beginning. */
    uint64_t begin, end;
    double bytes_per_s;     /* speed of the front in bytes per second */
    unsigned n_clients;     /* clients that are remembered */
    unsigned n_following;   /* clients in the active region */
    unsigned n_independent; /* clients that have most of the file */
};

/*
 * Creates a pool.  It limits the total number of clients that are remembered
 * for all files whose rules name the pool.  The limit is `most_clients`; 0
 * means 4096 clients.
 * Ownership: the caller releases *out with xd_circus_pool_free().
 * Errors:    NOMEM.
 */
XD_MUST_CHECK int xd_circus_pool_new(struct xd_circus_pool **out,
                                     unsigned most_clients,
                                     struct xd_error *err);

/* Releases a pool; NULL does nothing.  Release all files that use the pool
 * first. */
void xd_circus_pool_free(struct xd_circus_pool *pool);

/*
 * Creates the state for a file of `size` bytes.  `rules` may be NULL for the
 * defaults.
 * Ownership: the caller releases *out with xd_circus_free().  `rules` is
 *            copied.
 * Errors:    INVAL (`size` is 0 or above INT64_MAX, block_bytes is above
 *            INT64_MAX, or independent_from is not between 0 and 1), NOMEM.
 */
XD_MUST_CHECK int xd_circus_new(struct xd_circus **out, uint64_t size,
                                const struct xd_circus_rules *rules,
                                struct xd_error *err);

/* Releases the state of a file with all its clients; NULL does nothing. */
void xd_circus_free(struct xd_circus *c);

/*
 * Reports that the client `id` has made a request, and returns the client.  For
 * each call of xd_circus_enter(), call xd_circus_leave() once.
 *
 * A client and the bytes sent to it are remembered until it has had no request
 * for forget_us.  If there are too many clients, the file or the pool forgets a
 * client without a request.  It chooses the client that has received the fewest
 * bytes.  If there are several such clients, it chooses the client that has
 * been without a request for the longest time.  A client that has received the
 * whole file is forgotten at its last xd_circus_leave().
 *
 * If there are more than 510 gaps between the bytes sent to a client, the
 * shortest gaps count as sent: xd_circus_next() does not return them.
 *
 * Ownership: the circus owns the client.  It lives at least until the last
 *            xd_circus_leave().
 * Returns:   NULL if out of memory, or if the maximum number of clients is
 *            reached and every client has a request in progress.  Then send the
 *            bytes of this request in the usual order.
 */
struct xd_circus_client *xd_circus_enter(struct xd_circus *c, uint64_t id,
                                         uint64_t now_us);

/* Reports that a request of the client has ended.  A NULL client does
 * nothing. */
void xd_circus_leave(struct xd_circus *c, struct xd_circus_client *client,
                     uint64_t now_us);

/*
 * Reports that the client has requested the bytes from `begin` up to, but not
 * including, `end`.
 *
 * If the range has at most active_bytes bytes, the function returns true, and
 * the bytes count as sent from now on: xd_circus_next() does not return them.
 * If the connection ends early, call xd_circus_drop() for the bytes that were
 * not sent, so that they no longer count as sent.
 *
 * If the range is longer, or contains no byte of the file, the function returns
 * false.  The bytes then count as sent only when xd_circus_send() reports them.
 *
 * xd_circus_drop() may also be called for bytes that xd_circus_send() has
 * reported.
 */
bool xd_circus_ask(struct xd_circus *c, struct xd_circus_client *client,
                   uint64_t begin, uint64_t end);
void xd_circus_drop(struct xd_circus *c, struct xd_circus_client *client,
                    uint64_t begin, uint64_t end);

/*
 * Reports that the server is sending the bytes from `begin` up to, but not
 * including, `end` to the client, or has queued them.  This sets the position
 * of the client and may move the front.  Bytes outside the file are ignored.
 */
void xd_circus_send(struct xd_circus *c, struct xd_circus_client *client,
                    uint64_t begin, uint64_t end, uint64_t now_us);

/*
 * Chooses the bytes to send to the client next, from *out_begin up to, but not
 * including, *out_end.  These bytes were not sent to this client yet, and are
 * in memory or will be read next.  They count as sent only when
 * xd_circus_send() or xd_circus_ask() reports them.
 *
 * The range is usually three to four blocks long and ends at a multiple of
 * block_bytes, or earlier if the next bytes were sent already.  For a fast
 * client, which receives more than four blocks before the bytes leave memory,
 * the range is longer: up to a quarter of active_bytes.
 *
 * Returns: false if no bytes are left to send to the client.
 */
bool xd_circus_next(struct xd_circus *c, struct xd_circus_client *client,
                    uint64_t now_us, uint64_t *out_begin, uint64_t *out_end);

/* Reports the state of the file. */
void xd_circus_get(struct xd_circus *c, uint64_t now_us,
                   struct xd_circus_state *out);

#endif
