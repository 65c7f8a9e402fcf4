/* SPDX-License-Identifier: MIT */
/*
 * The receive buffer of one request.  Decides when received bytes are reported
 * to the scheduler, and which of them are written when.
 *
 *     range.begin          flushed   writing.end      received
 *         |===================|~~~~~~~~~~|...............|
 *           written, or           in the buffer
 *           duplicate bytes
 *
 * A buffer is flushed when it is full, when its first byte is half a second
 * old, or, if there are readers, at once.  The first bytes are reported to the
 * scheduler at once; later ones at most every 20 ms, and at every flush.
 *
 * To flush, call xd_intake_next() and carry out its actions until there is
 * NOTHING to do.  Bytes that no other request has claimed are claimed and
 * written; others are duplicates.
 *
 * Pure: used by the engine, which writes without its lock, and by the
 * simulator.
 */
#ifndef XD_SESSION_INTAKE_H
#define XD_SESSION_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"
#include "base/time.h"
#include "ledger/ledger.h"

/* Size of the largest buffer, which is written with one call.  With 16 KiB,
 * which is what a transport passes at a time, a download takes 1.5 times as
 * much CPU time. */
#define XD_INTAKE_MOST ((size_t)256 * 1024)

struct xd_intake {
    uint64_t received; /* end of the received bytes */
    uint64_t flushed;  /* end of the bytes written or not needed */
    /* claimed bytes that are being written; starts at `flushed` */
    struct xd_range writing;
    uint64_t reported; /* end of the bytes reported to the scheduler */
    bool has_reported;
    xd_usec reported_at;
    xd_usec buffered_since; /* arrival of the first unflushed byte */
};

/* Returns the buffer size for each of `n_requests` concurrent requests. */
size_t xd_intake_buffer(size_t n_requests);

/* Starts a request for bytes from `begin`. */
void xd_intake_begin(struct xd_intake *in, uint64_t begin);

/* Records that `n` bytes were received. */
void xd_intake_add(struct xd_intake *in, uint64_t n, xd_usec now);

/* Returns the bytes in the buffer. */
static inline struct xd_range xd_intake_buffered(const struct xd_intake *in)
{
    return (struct xd_range){in->flushed, in->received};
}

/* Returns when to flush if nothing more arrives; XD_NEVER if the buffer is
 * empty. */
xd_usec xd_intake_flush_at(const struct xd_intake *in);

/* Returns whether to flush now.  `at_once` means that there are readers or that
 * the request has ended. */
bool xd_intake_must_flush(const struct xd_intake *in, bool at_once,
                          xd_usec now);

enum xd_intake_action_kind {
    XD_INTAKE_NOTHING, /* the buffer is empty */
    /* write `range`, then call xd_intake_written() */
    XD_INTAKE_WRITE,
    XD_INTAKE_COUNT_DUPLICATE, /* `range` is a duplicate: do not write it */
    XD_INTAKE_NO_MEMORY        /* the buffer was dropped */
};

/* The next step of a flush. */
struct xd_intake_action {
    enum xd_intake_action_kind kind;
    struct xd_range range;
    /* With WRITE: the scheduler does not know that these bytes were received,
     * because they were discarded meanwhile or lie beyond the end of the
     * request.  Report them to the scheduler as HELD. */
    bool is_missing;
};

/* Returns the next step.  Call it again when that step is done.  Set `counts`
 * to false if the bytes are useless. */
struct xd_intake_action xd_intake_next(struct xd_intake *in,
                                       struct xd_ledger *ledger, bool counts);

/* Records that the range was written and came from `depot`.  Returns 0 or
 * NOMEM. */
int xd_intake_written(struct xd_intake *in, struct xd_ledger *ledger,
                      unsigned depot);

/* Call this instead of xd_intake_written() for parity.  It stays claimed until
 * its stripe is decoded. */
void xd_intake_passed_on(struct xd_intake *in);

/* Drops the buffer, because it cannot be written. */
void xd_intake_drop(struct xd_intake *in);

/* Returns when the next report is due; XD_NEVER if everything is reported. */
xd_usec xd_intake_report_at(const struct xd_intake *in);

/* Marks all received bytes as reported.  Returns false if they were already. */
bool xd_intake_report(struct xd_intake *in, xd_usec now);

#endif
