/* SPDX-License-Identifier: MIT */
/* Buffer sizes, mainly for downloads with a rate limit. */
#ifndef XD_IO_WINDOW_H
#define XD_IO_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* Limits the kernel's receive buffer of a socket; 0: no rate limit. */
void xd_window_bound(int fd, uint64_t bytes_per_s);

/* Limits the data that the kernel queues for sending, so that bytes written to
 * the socket have nearly been sent. */
void xd_window_bound_unsent(int fd);

/* Returns the bytes sent that the peer has not acknowledged; < 0 if unknown. */
int xd_window_unconfirmed(int fd);

/* Returns how many bytes to pass on at a time: a small part of a second's
 * data. */
size_t xd_window_step(uint64_t bytes_per_s);

#endif
