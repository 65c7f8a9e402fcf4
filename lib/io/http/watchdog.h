/* SPDX-License-Identifier: MIT */
/*
 * Ends calls of libcurl that do not return.
 *
 * curl_multi_perform() does not return while a depot keeps it busy; endless
 * empty HTTP/2 frames do so for ever.  Meanwhile no timeout is checked and no
 * request can be stopped.  The watchdog's thread shuts down a transport's
 * sockets if libcurl has neither returned nor called back for too long.
 *
 *     transport's thread:  move(IN_LIBCURL) ... move(OUTSIDE)
 *     libcurl's callbacks: add_socket(), close_socket(), move()
 *     watchdog:            shutdown() of the sockets
 *
 * Threads: new(), free() and shorten_wait() any; for the rest see above.
 */
#ifndef XD_IO_HTTP_WATCHDOG_H
#define XD_IO_HTTP_WATCHDOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

struct xd_watchdog;

enum xd_whereabouts { XD_OUTSIDE, XD_IN_LIBCURL };

/* A watched transport.  A zeroed struct is not watched. */
struct xd_watched {
    struct xd_watchdog *by; /* constant; may be NULL */

    atomic_int where;      /* enum xd_whereabouts of the transport's thread */
    atomic_uint n_moves;   /* number of changes of `where` */
    atomic_bool was_ended; /* the sockets of the transport were shut down */

    /* Guarded by the watchdog's lock.  Only the transport's thread changes the
     * sockets. */
    struct xd_watched *next;
    int *sockets;
    size_t n_sockets, most_sockets;
    unsigned seen;   /* n_moves at the last check */
    unsigned n_seen; /* checks in a row without a change */
};

/*
 * Creates a watchdog.
 * Ownership: release *out with xd_watchdog_free() after the last transport it
 *            watches.
 * Errors: NOMEM.
 */
int xd_watchdog_new(struct xd_watchdog **out, struct xd_error *err);
void xd_watchdog_free(struct xd_watchdog *d); /* NULL: does nothing */

/* Reduces the patience to a quarter of a second, because the transports are
 * about to be freed.  NULL: does nothing.  Blocks: no. */
void xd_watchdog_shorten_wait(struct xd_watchdog *d);

/* Start and stop watching up to `most_sockets` sockets; nothing is watched if
 * `d` is NULL. Call end() when the transport has no sockets left; it does
 * nothing if begin() was not called.  Errors: NOMEM. */
int xd_watched_begin(struct xd_watched *w, struct xd_watchdog *d,
                     size_t most_sockets, struct xd_error *err);
void xd_watched_end(struct xd_watched *w);

/* Records whether the transport's thread is in libcurl.  Returns the previous
 * value. */
int xd_watched_move(struct xd_watched *w, int where);

/* Adds a socket of the transport; close_socket() also closes it. */
void xd_watched_add_socket(struct xd_watched *w, int fd);
void xd_watched_close_socket(struct xd_watched *w, int fd);

/* Returns the socket bound to this local port, or -1.  Threads: the
 * transport's. */
int xd_watched_find_socket(const struct xd_watched *w, int port);

/* Returns whether sockets were shut down since the last call. */
bool xd_watched_was_ended(struct xd_watched *w);

#endif
