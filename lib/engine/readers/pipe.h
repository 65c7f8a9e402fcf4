/* SPDX-License-Identifier: MIT */
/*
 * A reader with a thread of its own, which writes what it reads to a descriptor
 * of the program's.
 *
 *     reader --read--> buffer --hash of the whole--> held back --> descriptor
 *
 * What it has read counts as handed out: it does not come again, and if it
 * turns out to be wrong the download fails.  Where the whole file has a hash,
 * the last bytes are held back until it matches.
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
    /* Constant after start. */
    int fd;
    struct xd_reader *reader; /* NULL: it was not started */
    struct xd_output output;
    int wakeup; /* the reader's descriptor */
    struct xd_thread thread;
    bool has_thread;

    /* Owned by the thread. */
    unsigned char *buffer;
    size_t held; /* bytes at its beginning that are held back */

    /* Guarded by lock. */
    struct xd_notifier stop; /* raised: nothing more is to be written */
    bool is_running;
};

/* Before readers are reported to the scheduler.  Errors: NOMEM. */
int xd_pipe_start_locked(struct xd_engine *e, struct xd_error *err);

/* Nothing more is written; without a pipe it does nothing. */
void xd_pipe_stop_locked(struct xd_engine *e);

/* After a stop, or the end; without the lock. */
void xd_pipe_free(struct xd_engine *e);

#endif
