/* SPDX-License-Identifier: MIT */
/* What the kernel knows about the network path of a connection. */
#ifndef XD_IO_WAY_H
#define XD_IO_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct xd_way {
    /* packets received out of order so far, usually after a loss */
    uint64_t n_disordered;
    xd_usec round_trip; /* current value including queueing; 0: unknown */
};

/* Returns false if the system does not provide these values. */
bool xd_way_of(int fd, struct xd_way *out);

/* Returns true if the other end has acknowledged all bytes that were sent, or
 * if the system cannot tell. */
bool xd_way_has_arrived(int fd);

#endif
