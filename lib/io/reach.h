/* SPDX-License-Identifier: MIT */
/* Classifies network addresses (base/reach.h). */
#ifndef XD_IO_REACH_H
#define XD_IO_REACH_H

#include "base/reach.h"

/* Returns the networks to which a server at this IPv4 or IPv6 address may refer
 * us.  `address` may be NULL.  Any other text counts as a public address. */
enum xd_reach xd_reach_of_text(const char *address);

struct sockaddr;
enum xd_reach xd_reach_of_address(const struct sockaddr *address);

#endif
