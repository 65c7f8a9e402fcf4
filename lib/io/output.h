/* SPDX-License-Identifier: MIT */
/*
 * A descriptor of the program's that takes a stream: a pipe, a socket, a
 * terminal, a file.
 *
 * Ownership: it stays the program's.  SIGPIPE is the caller's to block.
 * Threads: one at a time.
 */
#ifndef XD_IO_OUTPUT_H
#define XD_IO_OUTPUT_H

#include <stddef.h>
#include <xdownload/error.h>

struct xd_output {
    int fd;
    int stop; /* a descriptor: once it is readable, nothing more is written */
    size_t chunk; /* that write() takes without blocking when poll() says so */
};

void xd_output_init(struct xd_output *o, int fd, int stop);

/*
 * Write all of it.  Returns 0, CANCELED after a stop, PIPE when the reader went
 * away, or IO.  Blocks: until the reader took it.
 */
int xd_output_write(const struct xd_output *o, const void *data, size_t len,
                    struct xd_error *err);

/*
 * There is nothing to write until the descriptor `wakeup` is readable.  Returns
 * and blocks as xd_output_write(): a reader that goes away is noticed now.
 */
int xd_output_wait(const struct xd_output *o, int wakeup, struct xd_error *err);

#endif
