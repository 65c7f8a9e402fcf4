/* SPDX-License-Identifier: MIT */
#include "session/second_copy.h"

#include <string.h>

/* Returns the first bytes within `within` that are stored and that another
 * depot delivered. */
static struct xd_range next_stored(const struct xd_second_copy *c,
                                   struct xd_range within, unsigned *out_depot)
{
    struct xd_range run;

    while (run = xd_runs_next_depot(&c->ledger->origins, within, out_depot),
           !xd_range_is_empty(run) &&
               (*out_depot == c->depot || *out_depot == XD_HELD))
        within.begin = run.end;
    if (xd_range_length(run) > XD_SECOND_COPY_MOST)
        run.end = run.begin + XD_SECOND_COPY_MOST;
    return run;
}

bool xd_second_copy_next(struct xd_second_copy *c)
{
    struct xd_range rest = c->range;

    if (rest.begin < c->run.end)
        rest.begin = c->run.end;
    c->run = next_stored(c, rest, &c->deliverer);
    return !xd_range_is_empty(c->run);
}

enum xd_second_copy_result xd_second_copy_compare(
    const struct xd_second_copy *c, const unsigned char *stored,
    size_t part_bytes, struct xd_range *out)
{
    const unsigned char *data = c->data + (c->run.begin - c->range.begin);
    size_t len = (size_t)xd_range_length(c->run), part;
    unsigned deliverer = XD_HELD;
    struct xd_range now = next_stored(c, c->run, &deliverer);

    if (deliverer != c->deliverer || now.begin != c->run.begin ||
        now.end != c->run.end)
        return XD_SECOND_COPY_VOID;
    for (size_t at = 0; at < len; at += part) {
        part = len - at < part_bytes ? len - at : part_bytes;
        if (memcmp(data + at, stored + at, part) == 0)
            continue;
        out->begin = c->run.begin + at;
        out->end = out->begin + part;
        return XD_SECOND_COPY_DIFFERS;
    }
    return XD_SECOND_COPY_EQUAL;
}
