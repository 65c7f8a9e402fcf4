/* SPDX-License-Identifier: MIT */
/*
 * The networks to which a server may send us with a redirect or a link.  A
 * server on the Internet must not send us to the local host, or to private
 * networks that only we can reach.
 */
#ifndef XD_BASE_REACH_H
#define XD_BASE_REACH_H

enum xd_reach {
    XD_REACH_MACHINE, /* any address, including loopback and link-local */
    /* public and private addresses (10.0.0.0/8, fc00::/7 ...), but not loopback
     * and link-local ones */
    XD_REACH_PRIVATE,
    XD_REACH_PUBLIC /* only public addresses */
};

#endif
