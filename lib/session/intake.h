/*
 * What one request has received: when it is written, and when it is reported to
 * the scheduler.
 *
 *     range.begin          flushed            received
 *         |===================|.................|
 *           written, or          in the buffer
 *           duplicate bytes
 *
 * A buffer is flushed when it is full, when its first byte is half a second
 * old, and where there are readers at once.  The first bytes are reported to
 * the scheduler at once, then at most every 20 ms, and whenever a buffer is
 * flushed.
 *
 * Pure: the engine's lanes and the simulator's requests both use it.
 */
#ifndef XD_SESSION_INTAKE_H
#define XD_SESSION_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"
#include "base/time.h"

/* The largest buffer: one positioned write.  With 16 KiB, what a transport
 * hands over at a time, a download takes half as much processor time again. */
#define XD_INTAKE_MOST ((size_t)256 * 1024)

struct xd_intake {
    uint64_t received; /* all before it has come */
    uint64_t flushed;  /* all before it was written, or was not needed */
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

/* When the next report is due; XD_NEVER: all is reported. */
xd_usec xd_intake_report_at(const struct xd_intake *in);

/* All that was received counts as reported; false: it was already. */
bool xd_intake_report(struct xd_intake *in, xd_usec now);

#endif
