/* SPDX-License-Identifier: MIT */
/*
 * Ends calls of libcurl that do not return.
 *
 * A call of curl_multi_perform() lasts as long as a depot has more for it to
 * read: empty frames of HTTP/2 keep it busy for ever, and meanwhile no timeout
 * is looked at and no request can be taken back.  A thread of its own looks on:
 * where libcurl has neither returned nor called back for too long, it shuts
 * down the sockets of that transport.
 *
 *     transport's thread:  move(IN_LIBCURL) ... move(OUTSIDE)
 *     libcurl's callbacks: add_socket(), close_socket(), move()
 *     watchdog:            shutdown() of what it finds
 *
 * Threads: new() and free() any; shorten_wait() any; the rest as said.
 */
#ifndef XD_IO_HTTP_WATCHDOG_H
#define XD_IO_HTTP_WATCHDOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

struct xd_watchdog;

enum xd_whereabouts { XD_OUTSIDE, XD_IN_LIBCURL };

/* A transport as the watchdog sees it.  A zeroed one is watched by none. */
struct xd_watched {
    struct xd_watchdog *by; /* constant; or NULL */

    atomic_int where;      /* an enum xd_whereabouts: of its thread */
    atomic_uint n_moves;   /* so many times it has changed */
    atomic_bool was_ended; /* sockets of it were shut down */

    /* Guarded by the watchdog's lock; only its own thread changes the sockets. */
    struct xd_watched *next;
    int *sockets;
    size_t n_sockets, most_sockets;
    unsigned seen;   /* n_moves of the last look */
    unsigned n_seen; /* looks in a row that saw the same */
};

/*
 * Ownership: *out is the caller's, to release with xd_watchdog_free() after the
 *            last transport that it watches.
 * Errors:    NOMEM.
 */
int xd_watchdog_new(struct xd_watchdog **out, struct xd_error *err);
void xd_watchdog_free(struct xd_watchdog *d); /* NULL does nothing */

/* All transports are about to be freed: from now on it waits a quarter of a
 * second.  NULL does nothing.  Blocks: no. */
void xd_watchdog_shorten_wait(struct xd_watchdog *d);

/* Begin and end to watch so many sockets at a time; `d` NULL: they are not
 * watched.  end() is for a transport that has no socket any more; of one that
 * was never begun it does nothing.  Errors: NOMEM. */
int xd_watched_begin(struct xd_watched *w, struct xd_watchdog *d,
                     size_t most_sockets, struct xd_error *err);
void xd_watched_end(struct xd_watched *w);

/* Where the transport's thread is from now on; returns where it was. */
int xd_watched_move(struct xd_watched *w, int where);

/* A socket of the transport; it is closed by close_socket(). */
void xd_watched_add_socket(struct xd_watched *w, int fd);
void xd_watched_close_socket(struct xd_watched *w, int fd);

/* The one that is bound to this port of ours, or -1.  Threads: its own. */
int xd_watched_find_socket(const struct xd_watched *w, int port);

/* Whether sockets were shut down since this was last asked. */
bool xd_watched_was_ended(struct xd_watched *w);

#endif
