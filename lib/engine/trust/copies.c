#include "engine/trust/copies.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/engine.h"
#include "engine/trust/sampler.h"

#define CHUNK ((size_t)64 * 1024) /* of two copies that are compared */

/* What is kept of `range`, by one other depot: the first such run. */
static struct xd_range second_copy_locked(const struct xd_engine *e,
                                          unsigned depot, struct xd_range range,
                                          unsigned *out_deliverer)
{
    struct xd_range run;

    while (run = xd_runs_next_depot(&e->ledger.origins, range, out_deliverer),
           !xd_range_is_empty(run) &&
               (*out_deliverer == depot || *out_deliverer == XD_HELD))
        range.begin = run.end;
    if (xd_range_length(run) > CHUNK)
        run.end = run.begin + CHUNK;
    return run;
}

static void compare_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range run, unsigned deliverer,
                           const unsigned char *data, unsigned char *kept)
{
    size_t len = (size_t)xd_range_length(run), at = 0, part;
    unsigned still = XD_HELD;
    struct xd_range now;
    int rc;

    xd_engine_unlock(e);
    rc = xd_sink_read(e->dest.sink, run.begin - e->wanted.begin, kept, len,
                      NULL);
    xd_engine_lock(e);
    now = second_copy_locked(e, depot, run, &still);
    if (rc < 0 || still != deliverer || now.begin != run.begin ||
        now.end != run.end || !xd_sampler_compares_locked(e, depot))
        return; /* it was discarded meanwhile, or is exchanged now */
    for (at = 0; at < len; at += part) {
        struct xd_range differs = {run.begin + at, 0};

        part = len - at < XD_SAMPLE_BYTES ? len - at : XD_SAMPLE_BYTES;
        differs.end = differs.begin + part;
        if (memcmp(data + at, kept + at, part) != 0) {
            xd_sampler_dispute_locked(e, differs, depot, data + at, deliverer,
                                      kept + at);
            return;
        }
    }
    if (e->sampler.is_on)
        e->sampler.bytes_compared += len;
}

/* Each byte is kept once: the second copy has only this to say. */
static void compare_all_locked(struct xd_engine *e, unsigned depot,
                               struct xd_range range, const unsigned char *data)
{
    unsigned char *kept = NULL;
    struct xd_range rest = range;

    while (!xd_range_is_empty(rest) && xd_sampler_compares_locked(e, depot)) {
        unsigned deliverer;
        struct xd_range run = second_copy_locked(e, depot, rest, &deliverer);

        if (xd_range_is_empty(run))
            break;
        if (!kept)
            kept = xd_alloc(CHUNK, 1);
        if (!kept)
            break; /* what is only compared is not worth a failure */
        compare_locked(e, depot, run, deliverer,
                       data + (run.begin - range.begin), kept);
        rest.begin = run.end;
    }
    xd_free(kept);
}

void xd_copies_compare_locked(struct xd_engine *e, unsigned depot,
                              struct xd_range range, const unsigned char *data)
{
    if (!xd_sampler_compares_locked(e, depot))
        return;
    xd_sampler_note_locked(e, depot, range, data);
    if (!xd_engine_is_bounded(e))
        compare_all_locked(e, depot, range, data);
    xd_sampler_judge_locked(e);
}
