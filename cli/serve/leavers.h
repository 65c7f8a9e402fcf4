/*
 * Notices clients that leave while the answer to them waits for bytes, and ends
 * that wait at once: a player that jumps closes its connection before or after
 * it has opened another, and what it wanted before is not to be fetched any
 * more.
 *
 * One that has ended what it sends counts as gone: so does nginx.  So it is too
 * when the server stops, which shuts all connections.
 *
 * Threads: any.
 */
#ifndef CLI_LEAVERS_H
#define CLI_LEAVERS_H

#include <stddef.h>

struct leavers;
struct xd_reader;

/* For at most so many at a time.  Returns NULL when out of memory, descriptors
 * or threads. */
struct leavers *leavers_new(size_t most);

/* After all have been removed.  NULL does nothing. */
void leavers_free(struct leavers *l);

/*
 * From now on `reader` is interrupted, and stays so, when the client at the
 * other end of the socket `fd` has gone.
 * Ownership: both are the caller's, and live until leavers_remove().
 */
void leavers_add(struct leavers *l, int fd, struct xd_reader *reader);
void leavers_remove(struct leavers *l, const struct xd_reader *reader);

#endif
