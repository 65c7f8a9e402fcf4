/* SPDX-License-Identifier: MIT */
/*
 * Ends connections on which no whole request comes in time.  MHD's own timeout
 * begins anew with each byte, so that a client could keep a place for ever.
 *
 * Threads: any.
 */
#ifndef CLI_TIMEOUTS_H
#define CLI_TIMEOUTS_H

struct timeouts;
struct timeout;

/* For requests of which each has so many seconds in all.  Returns NULL when
 * out of memory or threads. */
struct timeouts *timeouts_new(unsigned seconds);

/* After all connections have been removed.  NULL does nothing. */
void timeouts_free(struct timeouts *t);

/*
 * A connection has been made, by the socket `fd`: its first request is due.
 * Returns NULL when out of memory.
 * Ownership: the socket is the caller's and stays open until timeouts_remove().
 */
struct timeout *timeouts_add(struct timeouts *t, int fd);
void timeouts_remove(struct timeouts *t,
                     struct timeout *c); /* NULL does nothing */

/* Its request is complete, and may be answered for however long; the answer
 * has ended, and the next request is due.  NULL does nothing. */
void timeouts_pause(struct timeouts *t, struct timeout *c);
void timeouts_resume(struct timeouts *t, struct timeout *c);

#endif
