/*
 * How near the servers may be that a redirect leads to.  A server out in the
 * world has no business with this machine or with what its owner's network
 * keeps to itself, which only we can reach.
 */
#ifndef XD_IO_REACH_H
#define XD_IO_REACH_H

enum xd_reach {
    XD_REACH_MACHINE, /* this machine too, and its link: 127.0.0.1, 169.254... */
    XD_REACH_PRIVATE, /* private networks too: 10..., fc00:... */
    XD_REACH_PUBLIC   /* only what all the world can reach */
};

/* How far a server may send us that was reached at this address: an IPv4 or
 * IPv6 address in figures, or NULL.  What is none is public. */
enum xd_reach xd_reach_of_text(const char *address);

/* The same of a struct sockaddr. */
struct sockaddr;
enum xd_reach xd_reach_of_address(const struct sockaddr *address);

#endif
