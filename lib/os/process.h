/* SPDX-License-Identifier: MIT */
/*
 * A child process that gets data on its standard input, and whose standard
 * output and descriptor 3 are collected.
 *
 *     init -> start -> feed ... -> end -> start ... -> fini
 *
 * The child runs without a shell.  Its only environment variable is LC_ALL=C,
 * and its standard error is discarded.
 *
 * Threads: one at a time, except stop(), which any thread may call.
 * Errors:  IO, with the program's name and the system's message; NOMEM;
 *          CANCELED after stop().  After an error the child no longer runs.
 */
#ifndef XD_OS_PROCESS_H
#define XD_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <xdownload/error.h>

#include "base/text.h"
#include "os/thread.h"

enum { XD_PROCESS_OUTPUT, XD_PROCESS_FD3, XD_PROCESS_OUTPUTS };

struct xd_process {
    /* The output; the caller may read it after xd_process_end(). */
    struct xd_text said[XD_PROCESS_OUTPUTS];

    /* Private. */
    const char *name;
    size_t most; /* limit on each output, in bytes */
    int input;   /* socket to its standard input; < 0: closed */
    int outputs[XD_PROCESS_OUTPUTS];

    struct xd_mutex lock; /* a leaf lock */
    /* guarded by lock */
    pid_t pid; /* process ID; 0: not running */
    bool is_stopped;
};

int xd_process_init(struct xd_process *p);
void xd_process_fini(struct xd_process *p); /* also kills the child */

/* Runs argv[0], searched in PATH.  The child is killed if it writes more than
 * `most` bytes. */
int xd_process_start(struct xd_process *p, const char *const argv[],
                     size_t most, struct xd_error *err);

static inline bool xd_process_is_running(const struct xd_process *p)
{
    return p->name != NULL;
}

/* Sends data to the child.  Blocks: until the child has read it or closed its
 * input.  Fails if there is no progress for 60 s; so does xd_process_end(). */
int xd_process_feed(struct xd_process *p, const void *data, size_t len,
                    struct xd_error *err);

/* Closes the child's input and waits for the rest of its output.  Blocks. */
int xd_process_end(struct xd_process *p, struct xd_error *err);

/* Kills the child and discards its output. */
void xd_process_abandon(struct xd_process *p);

/* Kills the child.  Blocked and later calls return CANCELED. */
void xd_process_stop(struct xd_process *p);

#endif
