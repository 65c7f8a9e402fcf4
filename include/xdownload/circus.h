/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of a file the clients of a server are best sent next, so that a byte
 * that one of them needs from the disk goes to all that still miss it: the block
 * selection of Circus (Anastasiadis, Wickremesinghe and Chase, FAST 2004, Figure 5),
 * with distances modulo the size of the file.
 *
 *                    midpoint      front
 *     0                 |            |     leapfront              size
 *     |        |========+============|- - - - - - - |               |
 *              <----- active ------->
 *
 * The front is where the client is that is ahead of the others.  What lies up to
 * `active_bytes` behind it is in memory: clients there get their next bytes without
 * the disk.  One that has fallen behind that goes on at the midpoint, and gets
 * what it left out in another round; one that has most of the file goes on where it
 * is, wherever that may be.
 *
 * Nothing is read or sent here, and time is an argument: a server reports what it
 * sends, and asks.  What a client says of itself is bounded in what it can do: so many
 * clients are known, each in 9 KiB at most, and one that is sent a byte moves the front
 * by four of them at most.
 */
#ifndef XDOWNLOAD_CIRCUS_H
#define XDOWNLOAD_CIRCUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

struct xd_circus;        /* one file */
struct xd_circus_client; /* one of its clients */
struct xd_circus_pool;   /* places for clients of several files */

/* 0 stands for the default, which is the paper's where it has one. */
struct xd_circus_rules {
    size_t struct_size;    /* set by the caller */
    uint64_t block_bytes;  /* what is next ends at a multiple of it; 64 KiB */
    uint64_t active_bytes; /* behind the front, in memory; 16 MiB, and half of
                                 the file at most */
    uint64_t leapfront_bytes; /* how far ahead of the front a client moves it;
                                 `active_bytes`, and `size` less `active_bytes` at
                                 most */
    double independent_from;  /* part of the file, up to 1, from which a client
                                 goes on where it is; 0.75 */
    uint64_t forget_us;       /* a client without requests is known so long;
                                 30 s */
    unsigned most_clients;    /* known at a time; 2048 */
    bool leaps_freely;        /* as in the paper: the front goes with a client
                                 however few bytes that is sent; for simulations */
    struct xd_circus_pool
        *pool; /* from which each client takes a place, or NULL;
                                    it lives until xd_circus_free() */
};

/* What a page shows. */
struct xd_circus_state {
    size_t struct_size;   /* set by the caller */
    uint64_t begin, end;  /* the active region: end is the front.  It goes over
                             the end of the file if begin > end */
    double bytes_per_s;   /* at which the front moves */
    unsigned n_clients;   /* known */
    unsigned n_following; /* of these, in the active region */
    unsigned n_independent; /* of these, by how much they have */
};

XD_BEGIN_DECLS

/*
 * Of so many clients of all files together that have this pool in their rules the
 * server knows what they were sent; 0 stands for 4096.
 * Ownership: *out is the caller's, to release with xd_circus_pool_free().
 * Threads:   one at a time, in all functions for all these files.
 * Errors:    NOMEM.
 */
XD_API XD_MUST_CHECK int xd_circus_pool_new(struct xd_circus_pool **out,
                                            unsigned most_clients,
                                            struct xd_error *err);
/* After all its files.  NULL does nothing. */
XD_API void xd_circus_pool_free(struct xd_circus_pool *pool);

/*
 * For a file of `size` bytes, of which no client is known; `rules` may be NULL.
 * Ownership: *out is the caller's, to release with xd_circus_free().
 * Threads:   one at a time, in all of these functions: they lock nothing.
 * Errors:    INVAL (a size that is 0 or above INT64_MAX; rules that make no sense),
 *            NOMEM.
 */
XD_API XD_MUST_CHECK int xd_circus_new(struct xd_circus **out, uint64_t size,
                                       const struct xd_circus_rules *rules,
                                       struct xd_error *err);
XD_API void xd_circus_free(struct xd_circus *c); /* NULL does nothing */

/*
 * The client `id` makes a request at the moment `now_us`, in microseconds since
 * some fixed moment, which never runs back: it is known from now on, with what it
 * was sent before, until it has had no request for `forget_us`.  Where too many
 * are known, of this file or in the pool, of those without a request the one that was
 * sent the fewest bytes (xd_circus_send()) is forgotten; of several, the one that is
 * longest without.
 * Returns NULL without memory, or if that many have requests.
 * Ownership: the circus'.  Lives until xd_circus_leave() was called as often as
 *            this function has returned it.
 */
XD_API struct xd_circus_client *xd_circus_enter(struct xd_circus *c,
                                                uint64_t id, uint64_t now_us);

/* A request of it has ended.  NULL does nothing. */
XD_API void xd_circus_leave(struct xd_circus *c,
                            struct xd_circus_client *client, uint64_t now_us);

/* It has asked for the bytes from `begin` to before `end`.  Up to `active_bytes`
 * they count as sent from now on, so that xd_circus_next() gives others: returns
 * true, and xd_circus_drop() takes back what is not sent after all, because the
 * connection has ended.  Of more, those count that are sent. */
XD_API bool xd_circus_ask(struct xd_circus *c, struct xd_circus_client *client,
                          uint64_t begin, uint64_t end);
XD_API void xd_circus_drop(struct xd_circus *c, struct xd_circus_client *client,
                           uint64_t begin, uint64_t end);

/*
 * The bytes from `begin` to before `end` are on their way to it, or in the queue
 * for it: that is where it is, and perhaps the front.  Bytes outside of the file do
 * nothing.
 */
XD_API void xd_circus_send(struct xd_circus *c, struct xd_circus_client *client,
                           uint64_t begin, uint64_t end, uint64_t now_us);

/*
 * The bytes that it is best sent next: it misses them, and they are in memory, or
 * are read next.  Three blocks and the rest of another, or as many more as can be
 * sent to it, as fast as it was so far, before the front has moved so far that they
 * leave memory; at most a quarter of `active_bytes`.
 * Returns false if it misses nothing.
 */
XD_API bool xd_circus_next(struct xd_circus *c, struct xd_circus_client *client,
                           uint64_t now_us, uint64_t *out_begin,
                           uint64_t *out_end);

XD_API void xd_circus_get(struct xd_circus *c, uint64_t now_us,
                          struct xd_circus_state *out);

XD_END_DECLS

#endif
