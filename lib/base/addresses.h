/* SPDX-License-Identifier: MIT */
/*
 * Chooses between the IP addresses of one host name by the speed of earlier
 * requests to them.
 *
 *     no address known --answered--> one --choose()--> another is tried, once
 *                                                          |
 *                the faster one is preferred <--measured-- both
 *
 * An address is proven when it has delivered a byte.  Once an address is
 * proven, failures at other addresses are not held against the depot.  If the
 * name turns out to have only one address, there is nothing to choose.
 *
 * Pure.  Addresses beyond XD_ADDRESSES_MAX are ignored.
 */
#ifndef XD_BASE_ADDRESSES_H
#define XD_BASE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

#define XD_ADDRESS_TEXT 46 /* same as INET6_ADDRSTRLEN */
#define XD_ADDRESSES_MAX 4

/* Addresses that a new connection avoids if the name has others.  Idle
 * connections to the first `n_left` of them are closed instead of reused. */
struct xd_address_list {
    char texts[XD_ADDRESSES_MAX][XD_ADDRESS_TEXT];
    unsigned n, n_left;
};

struct xd_address {
    char text[XD_ADDRESS_TEXT];
    double rate; /* rate of one connection in bytes per second; 0: unknown */
    /* a lower bound of the rate, from requests too short to measure it */
    double least;
    bool is_proven; /* a request to this address has received a byte */
    /* a request to it failed before it had delivered a byte, while another
     * address of the same name has delivered bytes */
    bool is_unfit;
};

/* A zeroed struct holds no addresses. */
struct xd_addresses {
    struct xd_address list[XD_ADDRESSES_MAX];
    unsigned n;
    bool are_all;  /* there is no further address to try */
    bool is_tried; /* a request is trying another address, or has tried one */
};

bool xd_address_list_has(const struct xd_address_list *l, const char *text);
bool xd_address_list_leaves(const struct xd_address_list *l, const char *text);

/* Writes the addresses that the next request should avoid.  Returns true if the
 * request will try a different address should it need a new connection.  In
 * that case, call end_try() when the request ends. */
bool xd_addresses_choose(struct xd_addresses *a, struct xd_address_list *out);
void xd_addresses_end_try(struct xd_addresses *a);

/* Records that a request has received `bytes` from this address, `took`
 * microseconds after the first of them.  May be called repeatedly during a
 * request. */
void xd_addresses_served(struct xd_addresses *a, const char *text,
                         uint64_t bytes, xd_usec took);

/* Return true if another address is faster.  is_slow(): at least 1.5 times as
 * fast, so stop a request that only tries this address.  is_very_slow(): at
 * least 4 times as fast, so stop any request to this address. */
bool xd_addresses_is_slow(const struct xd_addresses *a, const char *text);
bool xd_addresses_is_very_slow(const struct xd_addresses *a, const char *text);

/* Records a failed request.  Returns true if the address is to blame rather
 * than the depot. */
bool xd_addresses_failed(struct xd_addresses *a, const char *text);

#endif
