/* SPDX-License-Identifier: MIT */
/*
 * The addresses of one depot's name, as far as requests have shown them: which of
 * them further connections are for.
 *
 *     none is known --answered--> one --choose()--> another is tried, once
 *                                                       |
 *            the faster one is preferred <--measured-- both
 *
 * One address is proven, with the first answer that was good; what fails at
 * another says nothing against the depot.  Where a name has one address nothing
 * is passed over, once that is known.
 *
 * Pure: text in, text out.  Errors: none; what is beyond the list is not known.
 */
#ifndef XD_BASE_ADDRESSES_H
#define XD_BASE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

#define XD_ADDRESS_TEXT 46 /* INET6_ADDRSTRLEN */
#define XD_ADDRESSES_MAX 4

/* Some of them: those that a new connection passes over while there are others.
 * A connection to one of the first `n_left` is closed, rather than used again. */
struct xd_address_list {
    char texts[XD_ADDRESSES_MAX][XD_ADDRESS_TEXT];
    unsigned n, n_left;
};

struct xd_address {
    char text[XD_ADDRESS_TEXT];
    double rate;    /* of one connection, in bytes per second; 0: not known */
    double least;   /* it is at least that, as short requests have shown */
    bool is_proven; /* a byte has come */
    bool is_unfit;  /* one was not, as it was from another address */
};

/* A zeroed struct knows none. */
struct xd_addresses {
    struct xd_address list[XD_ADDRESSES_MAX];
    unsigned n;
    bool are_all;  /* the name has no other */
    bool is_tried; /* by a request, or was */
};

bool xd_address_list_has(const struct xd_address_list *l, const char *text);
bool xd_address_list_leaves(const struct xd_address_list *l, const char *text);

/* What the next request passes over.  True: if it makes a connection, it is the
 * one that finds out about another address; end_try() follows. */
bool xd_addresses_choose(struct xd_addresses *a, struct xd_address_list *out);
void xd_addresses_end_try(struct xd_addresses *a);

/* A request has received so many bytes from this address, in so long since the
 * first of them; again when there are more. */
void xd_addresses_served(struct xd_addresses *a, const char *text,
                         uint64_t bytes, xd_usec took);

/* Another was shown to be faster: a request that tries this one is stopped; or so
 * much faster that any other is, too. */
bool xd_addresses_is_slow(const struct xd_addresses *a, const char *text);
bool xd_addresses_is_very_slow(const struct xd_addresses *a, const char *text);

/* One has failed: true if that is its address's failure, not that of the depot. */
bool xd_addresses_failed(struct xd_addresses *a, const char *text);

#endif
