/* SPDX-License-Identifier: MIT */
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
#ifndef CLI_DISCONNECTS_H
#define CLI_DISCONNECTS_H

#include <stddef.h>

struct disconnects;
struct xd_reader;

/* For at most so many at a time.  Returns NULL when out of memory, descriptors
 * or threads. */
struct disconnects *disconnects_new(size_t most);

/* After all have been removed.  NULL does nothing. */
void disconnects_free(struct disconnects *d);

/*
 * From now on `reader` is interrupted, and stays so, when the client at the
 * other end of the socket `fd` has gone.
 * Ownership: both are the caller's, and live until disconnects_remove().
 */
void disconnects_add(struct disconnects *d, int fd, struct xd_reader *reader);
void disconnects_remove(struct disconnects *d, const struct xd_reader *reader);

#endif
