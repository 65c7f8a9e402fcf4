/* SPDX-License-Identifier: MIT */
/*
 * A program that is run for what it says: it reads what it is fed on its standard
 * input, and what it writes to its standard output and to descriptor 3 is kept.
 *
 *     init -> start -> feed ... -> end -> start ... -> fini
 *
 * No shell is between; its environment is LC_ALL=C alone, and what it writes to
 * its standard error is not kept.
 *
 * Threads: one at a time, but stop(), which any may call.
 * Errors:  IO, with the program and what the system said; NOMEM; CANCELED after
 *          stop().  After an error the program does not run any more.
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
    /* The caller's to read after end(). */
    struct xd_text said[XD_PROCESS_OUTPUTS];

    /* Its own. */
    const char *name;
    size_t most; /* bytes that it may say, on each output */
    int input;   /* < 0: closed */
    int outputs[XD_PROCESS_OUTPUTS];

    struct xd_mutex lock; /* a leaf */
    /* Guarded by lock. */
    pid_t pid; /* 0: it does not run */
    bool is_stopped;
};

int xd_process_init(struct xd_process *p);
void xd_process_fini(struct xd_process *p); /* ends the program */

/* Run argv[0], found as a shell would find it; one that says more than `most`
 * bytes is ended. */
int xd_process_start(struct xd_process *p, const char *const argv[],
                     size_t most, struct xd_error *err);

static inline bool xd_process_is_running(const struct xd_process *p)
{
    return p->name != NULL;
}

/* Blocks: until it has read them, or will not; 60 s without any progress are an
 * error, here and below. */
int xd_process_feed(struct xd_process *p, const void *data, size_t len,
                    struct xd_error *err);

/* There is no more to read for it.  Blocks: until it has said all. */
int xd_process_end(struct xd_process *p, struct xd_error *err);

/* End it now; what it said is forgotten. */
void xd_process_abandon(struct xd_process *p);

/* It and its successors are ended: calls that wait, and later ones, return
 * CANCELED. */
void xd_process_stop(struct xd_process *p);

#endif
