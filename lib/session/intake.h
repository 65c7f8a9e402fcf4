/* SPDX-License-Identifier: MIT */
/*
 * What one request has received: when it is reported to the scheduler, when it
 * is written, and what of it.
 *
 *     range.begin          flushed   writing.end      received
 *         |===================|~~~~~~~~~~|...............|
 *           written, or           in the buffer
 *           duplicate bytes
 *
 * A buffer is flushed when it is full, when its first byte is half a second
 * old, and where there are readers at once.  The first bytes are reported to
 * the scheduler at once, then at most every 20 ms, and whenever a buffer is
 * flushed.
 *
 * To flush it, ask for actions and carry them out until there is NOTHING to do.
 * What no other request has claimed is claimed for this one, and written;
 * the rest are duplicate bytes.
 *
 * Pure: the engine's lanes, which write without the lock, and the simulator's
 * requests both use it.
 */
#ifndef XD_SESSION_INTAKE_H
#define XD_SESSION_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"
#include "base/time.h"
#include "ledger/ledger.h"

/* The largest buffer: one positioned write.  With 16 KiB, what a transport
 * hands over at a time, a download takes half as much processor time again. */
#define XD_INTAKE_MOST ((size_t)256 * 1024)

struct xd_intake {
    uint64_t received;       /* all before it has come */
    uint64_t flushed;        /* all before it was written, or was not needed */
    struct xd_range writing; /* claimed, and not written yet: from `flushed` */
    uint64_t reported; /* the scheduler knows that all before it has come */
    bool has_reported;
    xd_usec reported_at;
    xd_usec buffered_since; /* its first byte that is not flushed came then */
};

/* How large the buffer of each of so many requests at a time is. */
size_t xd_intake_buffer(size_t n_requests);

/* A request for bytes from `begin` on. */
void xd_intake_begin(struct xd_intake *in, uint64_t begin);

/* `n` bytes have come. */
void xd_intake_add(struct xd_intake *in, uint64_t n, xd_usec now);

/* The bytes in the buffer. */
static inline struct xd_range xd_intake_buffered(const struct xd_intake *in)
{
    return (struct xd_range){in->flushed, in->received};
}

/* When it is to be flushed, if nothing more comes; XD_NEVER: it is empty. */
xd_usec xd_intake_flush_at(const struct xd_intake *in);

/* Whether it is to be flushed now; `at_once`: there are readers, or the request
 * has ended. */
bool xd_intake_must_flush(const struct xd_intake *in, bool at_once,
                          xd_usec now);

enum xd_intake_action_kind {
    XD_INTAKE_NOTHING,         /* the buffer is empty */
    XD_INTAKE_WRITE,           /* `range`, then report that it is written() */
    XD_INTAKE_COUNT_DUPLICATE, /* `range` is not written */
    XD_INTAKE_NO_MEMORY        /* the buffer is dropped */
};

/* The scheduler takes what is written for missing, and is to know that it is
 * HELD, if that was discarded while it was on its way, or lies beyond what was
 * asked for. */
struct xd_intake_action {
    enum xd_intake_action_kind kind;
    struct xd_range range;
    bool is_missing; /* WRITE */
};

/* What is to be done with the buffer now; again when that is done.  `counts`:
 * its bytes are of use, as far as is known now. */
struct xd_intake_action xd_intake_next(struct xd_intake *in,
                                       struct xd_ledger *ledger, bool counts);

/* What was to be written is, and has this origin.  0, or NOMEM. */
int xd_intake_written(struct xd_intake *in, struct xd_ledger *ledger,
                      unsigned depot);

/* What was to be written is, and stays claimed, by another. */
void xd_intake_passed_on(struct xd_intake *in);

/* Nothing that is in the buffer can be written. */
void xd_intake_drop(struct xd_intake *in);

/* When the next report is due; XD_NEVER: all is reported. */
xd_usec xd_intake_report_at(const struct xd_intake *in);

/* All that was received counts as reported; false: it was already. */
bool xd_intake_report(struct xd_intake *in, xd_usec now);

#endif
