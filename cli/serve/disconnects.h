/* SPDX-License-Identifier: MIT */
/*
 * Notices clients that disconnect while their response waits for data, and
 * interrupts the wait.  When a player seeks, it closes its connection and opens
 * another one.  The bytes that it wanted before should then no longer be
 * downloaded.
 *
 * A client that closes only its sending side counts as gone, as with nginx.
 * When the server stops, all clients count as gone.
 *
 * Threads: any.
 */
#ifndef CLI_DISCONNECTS_H
#define CLI_DISCONNECTS_H

#include <stddef.h>

struct disconnects;
struct xd_reader;

/* Creates a watch for at most `most` clients at a time.  Returns NULL if
 * memory, descriptors or threads run out. */
struct disconnects *disconnects_new(size_t most);

/* Call it after all clients were removed.  If `d` is NULL, does nothing. */
void disconnects_free(struct disconnects *d);

/*
 * Interrupts `reader` permanently when the client at the socket `fd`
 * disconnects.
 * Ownership: both are the caller's and must live until disconnects_remove().
 */
void disconnects_add(struct disconnects *d, int fd, struct xd_reader *reader);
void disconnects_remove(struct disconnects *d, const struct xd_reader *reader);

#endif
