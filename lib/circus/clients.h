/* SPDX-License-Identifier: MIT */
/*
 * The clients of a file that are known: a list, of which each look-up goes through
 * all, as the block selection of the paper does.  What each was sent is bounded in
 * memory: where it has too many gaps, the shortest count as sent.
 *
 * Files may share a pool, which bounds how many clients all of them have.
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
    xd_usec seen;    /* when it last had a request, or was sent something */
    uint64_t n_sent; /* bytes, each as often as it was sent */
    uint64_t cursor; /* behind what it was last sent */
    uint64_t leap_credit; /* bytes by which it may move the front beyond those
                             that it is sent */
    uint64_t goes_on;     /* where it was said to be best sent more last */
    struct xd_rate rate;
    struct xd_rangeset sent; /* or asked for; at most so many ranges */
};

struct xd_circus_clients {
    struct xd_circus_client *first;
    unsigned n, most;
    xd_usec forget;
    struct xd_circus_pool *pool;    /* or NULL; joined by it: */
    struct xd_circus_clients *next; /* another file of it */
};

/* `pool` may be NULL. */
void xd_circus_clients_join(struct xd_circus_clients *k,
                            struct xd_circus_pool *pool);

/* The client `id`, which is added if it is not known; NULL without memory, or if
 * as many as there may be have requests. */
struct xd_circus_client *xd_circus_clients_find(struct xd_circus_clients *k,
                                                uint64_t id, xd_usec now);

/* These bytes were sent to it, or are not.  Without memory nothing changes. */
void xd_circus_client_add(struct xd_circus_client *client,
                          struct xd_range bytes);
void xd_circus_client_remove(struct xd_circus_client *client,
                             struct xd_range bytes);

/* Those without requests for too long. */
void xd_circus_clients_forget_old(struct xd_circus_clients *k, xd_usec now);

/* One of them. */
void xd_circus_clients_forget(struct xd_circus_clients *k,
                              struct xd_circus_client *client);

void xd_circus_clients_fini(struct xd_circus_clients *k);

#endif
