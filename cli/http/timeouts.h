/* SPDX-License-Identifier: MIT */
/*
 * Closes connections if no complete request arrives in time.  The timeout of
 * libmicrohttpd itself restarts with each byte, so a client could keep a
 * connection forever.
 *
 * Threads: any.
 */
#ifndef CLI_TIMEOUTS_H
#define CLI_TIMEOUTS_H

struct timeouts;
struct timeout;

/* Creates timeouts of `seconds` for each whole request.  Returns NULL if memory
 * or threads run out. */
struct timeouts *timeouts_new(unsigned seconds);

/* Call it after all connections were removed.  If `t` is NULL, does nothing. */
void timeouts_free(struct timeouts *t);

/*
 * Adds a new connection with the socket `fd`.  The time for its first request
 * starts now.  Returns NULL if memory runs out.
 * Ownership: the socket is the caller's and must stay open until
 * timeouts_remove().
 */
struct timeout *timeouts_add(struct timeouts *t, int fd);
void timeouts_remove(struct timeouts *t,
                     struct timeout *c); /* NULL: does nothing */

/* pause() stops the timeout.  Call it when the request is complete, because the
 * response may take any time.  resume() starts the timeout for the next
 * request.  Call it when the response has ended.  Both do nothing if `c` is
 * NULL. */
void timeouts_pause(struct timeouts *t, struct timeout *c);
void timeouts_resume(struct timeouts *t, struct timeout *c);

#endif
