/* SPDX-License-Identifier: MIT */
/*
 * How near the servers may be that another one's word leads to: a redirect, or
 * a copy that it names.  A server out in the world has no business with this
 * machine or with what its owner's network keeps to itself, which only we can
 * reach.
 */
#ifndef XD_BASE_REACH_H
#define XD_BASE_REACH_H

enum xd_reach {
    XD_REACH_MACHINE, /* this machine too, and its link: 127.0.0.1, 169.254... */
    XD_REACH_PRIVATE, /* private networks too: 10..., fc00:... */
    XD_REACH_PUBLIC   /* only what all the world can reach */
};

#endif
