/* SPDX-License-Identifier: MIT */
#include "engine/trust/growing.h"

#include <string.h>

#include "command/manifests.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/source.h"
#include "engine/trust/sampler_ask.h"
#include "engine/trust/validator_check.h"
#include "manifest/format.h"
#include "os/clock.h"

/* Returns true if the size is known only from responses, and nothing proves the
 * bytes. */
static bool is_unstated_locked(const struct xd_engine *e,
                               const struct xd_depot *depot,
                               const struct xd_depot_source *s)
{
    return strcmp(xd_manifest_format(e->depots.manifest), XD_FORMAT_URLS) ==
               0 &&
           !e->verify.whole && !xd_verify_decides(e, s->range) &&
           !e->session.size_probe && !s->is_of_node && !s->is_parity &&
           depot->kind->can_sample;
}

/* Returns true if a comparison could show that the file grows. */
static bool may_grow_locked(const struct xd_engine *e,
                            const struct xd_depot *depot,
                            const struct xd_depot_source *s)
{
    return is_unstated_locked(e, depot, s) && s->growth != XD_GROWTH_OTHER &&
           s->validators != XD_VALIDATORS_CHANGED;
}

/* Returns true if the response was refused because its object is longer. */
static bool is_longer(const struct xd_lane *lane)
{
    const struct xd_outcome *outcome = &lane->outcome;

    return (outcome->verdict == XD_VERDICT_DIFFERENT ||
            outcome->verdict == XD_VERDICT_CHANGED) &&
           !lane->is_distrusted && !lane->is_unsized &&
           outcome->object_size != XD_SIZE_UNKNOWN &&
           outcome->object_size > xd_source_object_size(lane->source);
}

/* Returns the last stored bytes of the source, at most as many as a sample may
 * have.  Empty if none are stored. */
static struct xd_range last_stored_locked(const struct xd_engine *e,
                                          const struct xd_depot_source *s)
{
    struct xd_range rest = xd_range_clip(s->range, e->wanted);
    struct xd_range last = {0, 0}, run;

    while (run = xd_ledger_next(&e->ledger, XD_BYTES_STORED, rest),
           !xd_range_is_empty(run)) {
        last = run;
        rest.begin = run.end;
    }
    if (xd_range_length(last) > XD_SAMPLE_BYTES)
        last.begin = last.end - XD_SAMPLE_BYTES;
    return last;
}

bool xd_growing_has_none_locked(const struct xd_engine *e,
                                const struct xd_depot *depot,
                                const struct xd_lane *lane)
{
    return lane->source && is_longer(lane) &&
           is_unstated_locked(e, depot, lane->source) &&
           xd_range_is_empty(last_stored_locked(e, lane->source));
}

/* Returns true if the last comparison of the source got no response and this
 * request was already running then. */
static bool was_left_open(const struct xd_lane *lane)
{
    const struct xd_depot_source *s = lane->source;

    return s->validators == XD_VALIDATORS_OPEN &&
           lane->started < s->facts->check->open_since;
}

/* Returns true if another request of the depot may deliver the first bytes. */
static bool another_runs(const struct xd_worker *w)
{
    for (unsigned i = 0; i < w->n_lanes; i++)
        if (w->lanes[i].state == LANE_RUNNING && !w->lanes[i].is_over)
            return true;
    return false;
}

bool xd_growing_waits_locked(struct xd_engine *e, struct xd_depot *depot,
                             struct xd_lane *lane)
{
    struct xd_depot_source *s = lane->source;
    enum xd_verdict *verdict = &lane->outcome.verdict;

    if (!is_longer(lane) || !may_grow_locked(e, depot, s))
        return false;
    if (s->growth == XD_GROWTH_SAME || lane->stop) {
        *verdict = XD_VERDICT_STOPPED;
    } else if (s->validators == XD_VALIDATORS_UNCHECKED) {
        return true;
    } else if (was_left_open(lane)) {
        *verdict = XD_VERDICT_AGAIN;
    } else if (xd_growing_has_none_locked(e, depot, lane)) {
        return !e->dest.output->has_many_files && another_runs(depot->worker);
    } else {
        s->growth = XD_GROWTH_UNCHECKED;
        xd_validator_check_begin_locked(e, depot, s, 0);
        return true;
    }
    return false;
}

/* Compares the stored bytes with those that the sampler fetched.  A response
 * with the original size belongs to another version, which a load balancer may
 * serve in addition to the longer one. */
static bool are_same(struct xd_engine *e, const struct xd_depot_source *s,
                     struct xd_range range)
{
    unsigned char stored[XD_SAMPLE_BYTES];
    const size_t n = (size_t)xd_range_length(range);

    return e->sampler.object_size != XD_SIZE_UNKNOWN &&
           e->sampler.object_size > xd_source_object_size(s) &&
           xd_sink_read(e->dest.sink, range.begin - e->wanted.begin, stored, n,
                        NULL) == 0 &&
           memcmp(stored, e->sampler.buffer, n) == 0;
}

static void conclude_locked(struct xd_engine *e, struct xd_source_check *k,
                            enum xd_object_growth growth)
{
    struct xd_depot_source *s = k->source;

    s->growth = growth;
    s->validators =
        growth == XD_GROWTH_OTHER ? XD_VALIDATORS_CHANGED : XD_VALIDATORS_HOLD;
    if (growth == XD_GROWTH_NONE) {
        s->validators = XD_VALIDATORS_OPEN;
        k->open_since = xd_now();
    } else if (growth == XD_GROWTH_SAME) {
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "%s: the file grew meanwhile; its first %llu "
                             "bytes are kept, which there were at first",
                             xd_url_name(xd_source_url(s)).s,
                             (unsigned long long)xd_source_object_size(s));
    }
}

/* Requests the range again and compares it.  Returns NONE if there was no
 * response. */
static enum xd_object_growth compare_locked(struct xd_engine *e,
                                            struct xd_source_check *k,
                                            struct xd_range range)
{
    struct xd_sampler_question q = {.depot = k->depot,
                                    .source = k->source,
                                    .range = range,
                                    .request =
                                        xd_sampler_request(k->source, range)};
    bool is_same;

    q.request.grows = true;
    q.request.whole = k->depot->knows_no_ranges;
    xd_sampler_take_locked(e, &q);
    xd_engine_unlock(e);
    xd_sampler_ask(e, &q);
    xd_engine_lock(e);
    if (!xd_sampler_give_locked(e, &q))
        return e->sampler.verdict == XD_VERDICT_AGAIN ? XD_GROWTH_NONE
                                                      : XD_GROWTH_OTHER;
    xd_engine_unlock(e);
    is_same = are_same(e, k->source, range);
    xd_engine_lock(e);
    return is_same ? XD_GROWTH_SAME : XD_GROWTH_OTHER;
}

void xd_growing_compare_locked(struct xd_engine *e, struct xd_source_check *k)
{
    const struct xd_range range = last_stored_locked(e, k->source);
    enum xd_object_growth growth = XD_GROWTH_NONE;

    e->sampler.reading = range;
    if (!xd_range_is_empty(range)) /* empty: it was dropped meanwhile */
        growth = compare_locked(e, k, range);
    e->sampler.reading = (struct xd_range){0, 0};
    conclude_locked(e, k, growth);
}
