/* SPDX-License-Identifier: MIT */
/*
 * Writes a stream to a descriptor of the program: a pipe, socket, terminal or
 * file.
 *
 * Ownership: the descriptor stays the program's.  The caller must block
 * SIGPIPE.
 * Threads: one at a time.
 */
#ifndef XD_IO_OUTPUT_H
#define XD_IO_OUTPUT_H

#include <stddef.h>
#include <xdownload/error.h>

struct xd_output {
    int fd;
    int stop; /* a descriptor; writing stops once it is readable */
    /* bytes that write() accepts without blocking after poll() reported room */
    size_t chunk;
};

void xd_output_init(struct xd_output *o, int fd, int stop);

/*
 * Writes all bytes.  Returns 0, CANCELED after a stop, PIPE if the reader is
 * gone, or IO.
 * Blocks: until the reader has accepted them.
 */
int xd_output_write(const struct xd_output *o, const void *data, size_t len,
                    struct xd_error *err);

/*
 * Call when there is nothing to write.  Waits until `wakeup` is readable.
 * Returns the same codes as xd_output_write(); PIPE as soon as the reader is
 * gone.
 */
int xd_output_wait(const struct xd_output *o, int wakeup, struct xd_error *err);

#endif
