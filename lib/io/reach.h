/* SPDX-License-Identifier: MIT */
/* How far a server at an address may lead us: base/reach.h. */
#ifndef XD_IO_REACH_H
#define XD_IO_REACH_H

#include "base/reach.h"

/* How far a server may send us that was reached at this address: an IPv4 or
 * IPv6 address in figures, or NULL.  What is none is public. */
enum xd_reach xd_reach_of_text(const char *address);

/* The same of a struct sockaddr. */
struct sockaddr;
enum xd_reach xd_reach_of_address(const struct sockaddr *address);

#endif
