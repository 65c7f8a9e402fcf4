/* SPDX-License-Identifier: MIT */
/*
 * The known clients of a file, in a list that is searched linearly, as in the
 * block selection of the paper.  Memory per client is bounded: if a client has
 * too many gaps, the shortest ones count as sent.
 *
 * Several files may share a pool, which limits their total number of clients.
 */
#ifndef XD_CIRCUS_CLIENTS_H
#define XD_CIRCUS_CLIENTS_H

#include <stdint.h>

#include "base/range.h"
#include "base/rate.h"
#include "base/time.h"

struct xd_circus_client {
    struct xd_circus_client *next;
    uint64_t id;
    unsigned n_requests;
    xd_usec seen;    /* time of its last request, or of the last bytes sent */
    uint64_t n_sent; /* bytes sent, including repeats */
    uint64_t cursor; /* end of the last bytes sent */
    /* how far it may still move the front, in bytes, over bytes that it already
     * has */
    uint64_t leap_credit;
    uint64_t suggested; /* position last suggested to it; UINT64_MAX if none */
    struct xd_rate rate;
    struct xd_rangeset sent; /* ranges sent or requested, at most RANGES_MOST */
};

struct xd_circus_clients {
    struct xd_circus_client *first;
    unsigned n, most;
    xd_usec forget;
    struct xd_circus_pool *pool;    /* or NULL */
    struct xd_circus_clients *next; /* next file of the pool */
};

/* Adds the file to a pool, which may be NULL. */
void xd_circus_clients_join(struct xd_circus_clients *k,
                            struct xd_circus_pool *pool);

/* Returns client `id`, adding it if unknown.  Returns NULL if out of memory, or
 * if the list is full and every client in it has a request in progress. */
struct xd_circus_client *xd_circus_clients_find(struct xd_circus_clients *k,
                                                uint64_t id, xd_usec now);

/* Add bytes to the bytes that the client has, or remove them.  If memory runs
 * out, nothing changes. */
void xd_circus_client_add(struct xd_circus_client *client,
                          struct xd_range bytes);
void xd_circus_client_remove(struct xd_circus_client *client,
                             struct xd_range bytes);

/* Removes clients that have been idle for too long. */
void xd_circus_clients_forget_old(struct xd_circus_clients *k, xd_usec now);

/* Removes one client. */
void xd_circus_clients_forget(struct xd_circus_clients *k,
                              struct xd_circus_client *client);

void xd_circus_clients_fini(struct xd_circus_clients *k);

#endif
