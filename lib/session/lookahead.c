/* SPDX-License-Identifier: MIT */
#include "session/lookahead.h"

/* Length of the head and of the tail.  Players read up to 260 KB at the head,
 * and an index of some hundred KB at the tail. */
#define HEAD_BYTES ((uint64_t)256 << 10)
#define TAIL_BYTES ((uint64_t)1 << 20)

xd_usec xd_lookahead_due(const struct xd_player *p, uint64_t byte, xd_usec now)
{
    double ahead;

    if (p->bytes_per_s == 0 || byte <= p->byte)
        return now;
    ahead = (double)(byte - p->byte) / (double)p->bytes_per_s;
    if (p->is_playing)
        ahead -= (double)(now - p->at) / (double)XD_SECOND;
    return ahead > 0 ? now + (xd_usec)(ahead * (double)XD_SECOND) : now;
}

struct xd_range xd_lookahead_window(uint64_t from, uint64_t front,
                                    uint64_t length, uint64_t end)
{
    uint64_t step = length / 4 + (length < 4);
    struct xd_range r = {from, end};

    if (front < UINT64_MAX - length) {
        uint64_t to = (front + length) / step * step;

        r.end = to < end ? to : end;
    }
    return r;
}

struct xd_range xd_lookahead_head(struct xd_range wanted)
{
    if (xd_range_length(wanted) > HEAD_BYTES)
        wanted.end = wanted.begin + HEAD_BYTES;
    return wanted;
}

struct xd_range xd_lookahead_tail(struct xd_range wanted)
{
    if (xd_range_length(wanted) > TAIL_BYTES)
        wanted.begin = wanted.end - TAIL_BYTES;
    return wanted;
}
