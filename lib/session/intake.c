#include "session/intake.h"

/* What the buffers of all requests may come to, and the least of one. */
#define ALL_BYTES ((size_t)16 << 20)
#define LEAST_BYTES ((size_t)64 * 1024)

/* A slow depot's bytes count, and are safe, within half a second. */
#define FLUSH_AFTER (XD_SECOND / 2)

/* Each report may cost a decision. */
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
