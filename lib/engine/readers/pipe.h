/* SPDX-License-Identifier: MIT */
/*
 * A reader with its own thread, which writes to a descriptor of the program.
 *
 *     reader --read--> buffer --hash of the whole--> held back --> descriptor
 *
 * Bytes that the reader has read are never read again.  If they turn out to be
 * wrong, the download fails.  If the whole file has a hash, the last bytes are
 * held back until the hash matches.
 */
#ifndef XD_ENGINE_PIPE_H
#define XD_ENGINE_PIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "io/output.h"
#include "os/notifier.h"
#include "os/thread.h"

struct xd_engine;
struct xd_error;
struct xd_reader;

struct xd_pipe {
    /* constant after start */
    int fd;
    struct xd_reader *reader; /* NULL if it was not started */
    struct xd_output output;
    int wakeup; /* the descriptor that signals changes to the reader */
    struct xd_thread thread;
    bool has_thread;

    /* owned by the thread */
    unsigned char *buffer;
    size_t held; /* number of bytes held back, at the beginning of the buffer */

    /* guarded by lock */
    struct xd_notifier stop; /* raised to stop writing */
    bool is_running;
};

/* Starts the pipe.  Call it before readers are reported to the scheduler.
 * Errors: NOMEM. */
int xd_pipe_start_locked(struct xd_engine *e, struct xd_error *err);

/* Stops writing.  Does nothing without a pipe. */
void xd_pipe_stop_locked(struct xd_engine *e);

/* Releases the pipe.  Call it after a stop or the end, without the lock. */
void xd_pipe_free(struct xd_engine *e);

#endif
