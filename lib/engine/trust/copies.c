#include "engine/trust/copies.h"

#include "base/alloc.h"
#include "engine/engine.h"
#include "engine/trust/sampler.h"
#include "session/second_copy.h"

static void judge_locked(struct xd_engine *e, const struct xd_second_copy *c,
                         const unsigned char *stored)
{
    struct xd_range at;

    switch (xd_second_copy_compare(c, stored, XD_SAMPLE_BYTES, &at)) {
    case XD_SECOND_COPY_VOID:
        break;
    case XD_SECOND_COPY_EQUAL:
        if (e->sampler.is_on)
            e->sampler.bytes_compared += xd_range_length(c->run);
        break;
    case XD_SECOND_COPY_DIFFERS:
        xd_sampler_dispute_locked(
            e, at, c->depot, c->data + (at.begin - c->range.begin),
            c->deliverer, stored + (at.begin - c->run.begin));
        break;
    }
}

static void compare_all_locked(struct xd_engine *e, struct xd_second_copy *c)
{
    unsigned char *stored = NULL;
    int rc;

    while (xd_sampler_compares_locked(e, c->depot) && xd_second_copy_next(c)) {
        if (!stored)
            stored = xd_alloc(XD_SECOND_COPY_MOST, 1);
        if (!stored)
            break; /* what is only compared is not worth a failure */
        xd_engine_unlock(e);
        rc = xd_sink_read(e->dest.sink, c->run.begin - e->wanted.begin, stored,
                          (size_t)xd_range_length(c->run), NULL);
        xd_engine_lock(e);
        if (rc == 0 && xd_sampler_compares_locked(e, c->depot))
            judge_locked(e, c, stored);
    }
    xd_free(stored);
}

void xd_copies_compare_locked(struct xd_engine *e, unsigned depot,
                              struct xd_range range, const unsigned char *data)
{
    struct xd_second_copy copy = {
        .ledger = &e->ledger, .depot = depot, .range = range, .data = data};

    if (!xd_sampler_compares_locked(e, depot))
        return;
    xd_sampler_note_locked(e, depot, range, data);
    if (!xd_engine_is_bounded(e))
        compare_all_locked(e, &copy);
    xd_sampler_judge_locked(e);
}
