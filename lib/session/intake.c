/* SPDX-License-Identifier: MIT */
#include "session/intake.h"

#include "base/check.h"

/* Maximum size of all buffers together, and minimum size of one. */
#define ALL_BYTES ((size_t)8 << 20)
#define LEAST_BYTES ((size_t)64 * 1024)

/* Maximum delay before bytes of a slow depot are written and counted. */
#define FLUSH_AFTER (XD_SECOND / 2)

/* Pause between two reports, because each may cost a scheduling decision. */
#define REPORT_EVERY (20 * XD_MS)

size_t xd_intake_buffer(size_t n_requests)
{
    size_t share = ALL_BYTES / n_requests;

    if (share < LEAST_BYTES)
        return LEAST_BYTES;
    return share < XD_INTAKE_MOST ? share : XD_INTAKE_MOST;
}

void xd_intake_begin(struct xd_intake *in, uint64_t begin)
{
    *in = (struct xd_intake){
        .received = begin, .flushed = begin, .reported = begin};
}

void xd_intake_add(struct xd_intake *in, uint64_t n, xd_usec now)
{
    if (in->received == in->flushed)
        in->buffered_since = now;
    in->received += n;
}

xd_usec xd_intake_flush_at(const struct xd_intake *in)
{
    return in->received > in->flushed ? in->buffered_since + FLUSH_AFTER
                                      : XD_NEVER;
}

bool xd_intake_must_flush(const struct xd_intake *in, bool at_once, xd_usec now)
{
    return in->received > in->flushed &&
           (at_once || now >= in->buffered_since + FLUSH_AFTER);
}

struct xd_intake_action xd_intake_next(struct xd_intake *in,
                                       struct xd_ledger *ledger, bool counts)
{
    const struct xd_range rest = xd_intake_buffered(in);
    struct xd_intake_action a = {.kind = XD_INTAKE_WRITE,
                                 .range = {rest.end, rest.end}};

    XD_ASSERT(xd_range_is_empty(in->writing));
    if (xd_range_is_empty(rest))
        return (struct xd_intake_action){.kind = XD_INTAKE_NOTHING};
    if (counts)
        a.range = xd_ledger_next_gap(ledger, XD_BYTES_CLAIMED, rest);
    if (a.range.begin > rest.begin) {
        a.kind = XD_INTAKE_COUNT_DUPLICATE;
        a.range = (struct xd_range){rest.begin, a.range.begin};
        in->flushed = a.range.end;
        return a;
    }
    a.is_missing = !xd_ledger_has(ledger, XD_BYTES_RECEIVED, a.range);
    if (xd_ledger_change(ledger, XD_CLAIM, a.range) < 0) {
        xd_intake_drop(in);
        return (struct xd_intake_action){.kind = XD_INTAKE_NO_MEMORY};
    }
    in->writing = a.range;
    return a;
}

int xd_intake_written(struct xd_intake *in, struct xd_ledger *ledger,
                      unsigned depot)
{
    const struct xd_range range = in->writing;

    in->flushed = range.end;
    in->writing = (struct xd_range){0, 0};
    return xd_ledger_written(ledger, range, depot);
}

void xd_intake_passed_on(struct xd_intake *in)
{
    in->flushed = in->writing.end;
    in->writing = (struct xd_range){0, 0};
}

void xd_intake_drop(struct xd_intake *in)
{
    in->flushed = in->received;
    in->writing = (struct xd_range){0, 0};
}

xd_usec xd_intake_report_at(const struct xd_intake *in)
{
    if (in->received == in->reported)
        return XD_NEVER;
    return in->has_reported ? in->reported_at + REPORT_EVERY : 0;
}

bool xd_intake_report(struct xd_intake *in, xd_usec now)
{
    if (in->received == in->reported)
        return false;
    in->reported = in->received;
    in->reported_at = now;
    in->has_reported = true;
    return true;
}
