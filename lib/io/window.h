/* SPDX-License-Identifier: MIT */
/* How much of what comes is taken in at a time, under a limit of the rate. */
#ifndef XD_IO_WINDOW_H
#define XD_IO_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* What the kernel may take in for a socket; 0: as much as without a limit. */
void xd_window_bound(int fd, uint64_t bytes_per_s);

/* The kernel takes little to be sent beyond what is on its way: what was handed to
 * it is near what has left this machine. */
void xd_window_bound_unsent(int fd);

/* Bytes that were handed over and that the other side has not confirmed; < 0: the
 * system does not tell. */
int xd_window_unconfirmed(int fd);

/* So many bytes are handed over at a time: small against what a second may
 * deliver. */
size_t xd_window_step(uint64_t bytes_per_s);

#endif
