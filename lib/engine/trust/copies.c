/* SPDX-License-Identifier: MIT */
#include "engine/trust/copies.h"

#include "base/alloc.h"
#include "engine/engine.h"

bool xd_copies_begin_locked(struct xd_engine *e, struct xd_copies *c,
                            unsigned depot, struct xd_range range,
                            const unsigned char *data)
{
    if (!xd_sampler_compares_locked(e, depot))
        return false;
    *c = (struct xd_copies){.copy = {.ledger = &e->ledger,
                                     .depot = depot,
                                     .range = range,
                                     .data = data}};
    xd_sampler_note_locked(e, depot, range, data);
    return true;
}

bool xd_copies_take_locked(struct xd_engine *e, struct xd_copies *c)
{
    return !xd_engine_is_bounded(e) && !c->failed &&
           xd_sampler_compares_locked(e, c->copy.depot) &&
           xd_second_copy_next(&c->copy);
}

/* Reads the stored bytes.  An error only ends the comparison, not the
 * download. */
void xd_copies_read(struct xd_engine *e, struct xd_copies *c)
{
    const struct xd_range run = c->copy.run;

    if (!c->stored)
        c->stored = xd_alloc(XD_SECOND_COPY_MOST, 1);
    c->failed = !c->stored ||
                xd_sink_read(e->dest.sink, run.begin - e->wanted.begin,
                             c->stored, (size_t)xd_range_length(run), NULL) < 0;
}

static void judge_locked(struct xd_engine *e, const struct xd_copies *c)
{
    const struct xd_second_copy *copy = &c->copy;
    struct xd_range at;

    switch (xd_second_copy_compare(copy, c->stored, XD_SAMPLE_BYTES, &at)) {
    case XD_SECOND_COPY_VOID:
        break;
    case XD_SECOND_COPY_EQUAL:
        if (e->sampler.is_on)
            e->sampler.bytes_compared += xd_range_length(copy->run);
        break;
    case XD_SECOND_COPY_DIFFERS:
        xd_sampler_dispute_locked(
            e, at, copy->depot, copy->data + (at.begin - copy->range.begin),
            copy->deliverer, c->stored + (at.begin - copy->run.begin));
        break;
    }
}

void xd_copies_give_locked(struct xd_engine *e, const struct xd_copies *c)
{
    if (!c->failed && xd_sampler_compares_locked(e, c->copy.depot))
        judge_locked(e, c);
}

void xd_copies_end_locked(struct xd_engine *e, struct xd_copies *c)
{
    xd_free(c->stored);
    xd_sampler_judge_locked(e);
}
