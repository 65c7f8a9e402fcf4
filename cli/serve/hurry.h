/*
 * Ends connections on which no whole request comes in time.  MHD's own timeout
 * begins anew with each byte, so that a client could keep a place for ever.
 *
 * Threads: any.
 */
#ifndef CLI_HURRY_H
#define CLI_HURRY_H

struct hurry;
struct hurried;

/* For requests of which each has so many seconds in all.  Returns NULL when
 * out of memory or threads. */
struct hurry *hurry_new(unsigned seconds);

/* After all connections have been removed.  NULL does nothing. */
void hurry_free(struct hurry *h);

/*
 * A connection has been made, by the socket `fd`: its first request is due.
 * Returns NULL when out of memory.
 * Ownership: the socket is the caller's and stays open until hurry_remove().
 */
struct hurried *hurry_add(struct hurry *h, int fd);
void hurry_remove(struct hurry *h, struct hurried *c); /* NULL does nothing */

/* Its request is complete, and may be answered for however long; the answer
 * has ended, and the next request is due.  NULL does nothing. */
void hurry_pause(struct hurry *h, struct hurried *c);
void hurry_resume(struct hurry *h, struct hurried *c);

#endif
