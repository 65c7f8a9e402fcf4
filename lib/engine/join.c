/* SPDX-License-Identifier: MIT */
#include "engine/join.h"

#include "base/array.h"
#include "base/choice.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/sched_events.h"
#include "engine/source.h"
#include "engine/trust/blame.h"
#include "engine/via.h"
#include "transfer/registry.h"

typedef unsigned long long ull;

/* ---- checks of a new replica ---- */

static int refuse(const struct xd_url *url, const char *why,
                  struct xd_error *err)
{
    return xd_fail(err, XD_E_INVAL, "%s: %s", xd_url_name(url).s, why);
}

static int check_url(const struct xd_engine *e, const struct xd_url *url,
                     struct xd_error *err)
{
    const struct xd_transport_kind *kind = xd_transport_kind_of(url);
    const struct xd_choice choice = xd_options_choice(&e->options);
    const char *why;
    int is_refused;

    if (!url->is_valid)
        return refuse(url, "is not a URL", err);
    if (!kind)
        return refuse(url, "URLs of this scheme are not supported", err);
    if (kind->reads_machine && !e->options.allow_file)
        return refuse(url, "is a local file: set allow-file to use it", err);
    /* A copy of a local file must be private, and the rights of the output are
     * fixed when the download starts. */
    if (kind->reads_machine && e->session.phase != XD_PHASE_NEW)
        return refuse(url,
                      "a file of this machine can only be added before the "
                      "download has started",
                      err);
    is_refused = xd_choice_refuses(&choice, url, &why);
    if (is_refused < 0)
        return xd_fail_nomem(err);
    return is_refused ? refuse(url, why, err) : 0;
}

static int read_replica(struct xd_replica *r, const struct xd_replica *given,
                        struct xd_error *err)
{
    const int rc = xd_copy_in(r, sizeof *r, given, "xd_replica", err);

    if (r->object_size == 0)
        r->object_size = XD_SIZE_UNKNOWN;
    if (r->priority == 0)
        r->priority = XD_PRIORITY_NONE;
    return rc;
}

/* Finds the bytes of the file that the replica holds. */
static int read_range_locked(const struct xd_engine *e,
                             const struct xd_extent *given,
                             struct xd_range *out, struct xd_error *err)
{
    uint64_t size = e->depots.size;
    struct xd_extent extent;

    *out = (struct xd_range){0, size};
    if (!given)
        return 0;
    if (xd_copy_in(&extent, sizeof extent, given, "xd_extent", err) < 0)
        return XD_E_INVAL;
    if (size == XD_SIZE_UNKNOWN)
        return xd_fail(err, XD_E_INVAL,
                       "while the size of the file is not known only copies of "
                       "all of it can be added");
    if (extent.length == 0 || extent.offset > size ||
        extent.length > size - extent.offset)
        return xd_fail(err, XD_E_INVAL,
                       "%llu bytes from byte %llu on are no part of a file of "
                       "%llu bytes",
                       (ull)extent.length, (ull)extent.offset, (ull)size);
    out->begin = extent.offset;
    out->end = extent.offset + extent.length;
    return 0;
}

static int read_source_locked(const struct xd_engine *e,
                              const struct xd_replica *given,
                              const struct xd_extent *extent,
                              struct xd_new_source *out, struct xd_error *err)
{
    struct xd_replica r = {.url = NULL};
    struct xd_range range;
    struct xd_url url;
    int rc = read_replica(&r, given, err);

    if (rc < 0)
        return rc;
    if (!r.url)
        return xd_fail(err, XD_E_INVAL, "no URL was given");
    xd_url_parse(&url, r.url);
    rc = check_url(e, &url, err);
    if (rc == 0 && r.framing)
        rc = refuse(&url, "an object with a framing cannot be added", err);
    if (rc == 0)
        rc = read_range_locked(e, extent, &range, err);
    if (rc < 0)
        return rc;
    if (range.end == XD_SIZE_UNKNOWN && r.offset > 0)
        return refuse(&url,
                      "while the size of the file is not known it must be an "
                      "object that holds nothing else",
                      err);
    if (r.object_size == XD_SIZE_UNKNOWN && !extent && r.offset == 0)
        r.object_size = e->depots.size;
    if (r.object_size != XD_SIZE_UNKNOWN && range.end != XD_SIZE_UNKNOWN &&
        (r.offset > r.object_size ||
         xd_range_length(range) > r.object_size - r.offset))
        return refuse(&url, "the object is too small to hold these bytes", err);
    *out = (struct xd_new_source){.range = range,
                                  .object_offset = r.offset,
                                  .object_size = r.object_size,
                                  .url = url,
                                  .priority = r.priority,
                                  .max_connections = r.max_connections};
    return 0;
}

/* ---- adding a replica ---- */

static bool has_source(const struct xd_depot *depot,
                       const struct xd_new_source *like)
{
    const struct xd_depot_source *s = NULL;

    while ((s = xd_depot_next_source(depot, s))) {
        if (!s->is_gone && xd_url_compare(xd_source_url(s), &like->url) == 0 &&
            xd_source_offset(s) == like->object_offset &&
            s->range.begin <= like->range.begin &&
            s->range.end >= like->range.end)
            return true;
    }
    return false;
}

/* Makes room for one more worker. */
int xd_join_make_room_locked(struct xd_engine *e)
{
    unsigned n = e->workers.max + 1;

    return xd_lengthen(&e->workers.list, n, n + 1, sizeof(struct xd_worker *));
}

/* Makes a failed depot usable again. */
static void revive(struct xd_depot *depot)
{
    if (depot->state != XD_DEPOT_FAILED)
        return;
    depot->state = !depot->worker           ? XD_DEPOT_RESERVE
                   : depot->lanes_busy == 0 ? XD_DEPOT_IDLE
                                            : XD_DEPOT_BUSY;
}

static void report_joined_locked(struct xd_engine *e,
                                 const struct xd_depot *depot,
                                 struct xd_range range,
                                 unsigned max_connections, uint8_t tier)
{
    if (e->session.size_probe &&
        xd_size_probe_join(e->session.size_probe, depot->number,
                           e->workers.max) < 0)
        xd_engine_fail_nomem_locked(e);
    xd_report_joined_locked(e, depot->number, range, max_connections, tier);
    xd_blame_joined_locked(e, depot->number);
    xd_repair_joined_locked(e, depot->number);
    xd_readers_no_gap_locked(e, range);
    if (e->session.sched && !e->sampler.is_on)
        xd_sampler_start_locked(e);
}

void xd_join_depot_locked(struct xd_engine *e, struct xd_depot *depot,
                          bool is_new, struct xd_range range,
                          unsigned max_connections)
{
    if (is_new && e->workers.max < xd_options_most_depots(&e->options))
        e->workers.max++; /* lets one more depot be open at a time */
    revive(depot);
    report_joined_locked(e, depot, range, max_connections,
                         e->depots.via ? XD_TIER_DIRECT : XD_TIER_OWNER);
}

void xd_join_via_locked(struct xd_engine *e, const struct xd_via_file *f)
{
    const struct xd_via *v = e->depots.via;

    for (size_t i = 0; i < v->n_depots; i++) {
        struct xd_depot *depot = v->depots[i];

        if (!depot || depot->is_banned || depot->n_appended == 0 ||
            xd_source_via(depot->appended[depot->n_appended - 1]) != f)
            continue;
        revive(depot);
        for (size_t k = 0; k < f->n_chunks; k++)
            report_joined_locked(e, depot, xd_via_chunk(v, f, k),
                                 depot->max_connections,
                                 xd_via_tier(v, f, k, depot));
    }
}

static int join_locked(struct xd_engine *e, const struct xd_new_source *what,
                       struct xd_depot *known, struct xd_error *err)
{
    struct xd_depot *depot;

    if (xd_join_make_room_locked(e) < 0 ||
        xd_depots_add(&e->depots, what, &depot) < 0)
        return xd_fail_nomem(err);
    xd_join_depot_locked(e, depot, !known, what->range, what->max_connections);
    if (xd_engine_is_over_locked(e)) /* out of memory */
        return xd_fail_nomem(err);
    xd_engine_log_locked(e, XD_LOG_INFO, "%s: added", depot->host);
    xd_engine_raise_locked(e, &e->notifier);
    xd_engine_decide_later_locked(e);
    return 0;
}

static int add_locked(struct xd_engine *e, const struct xd_replica *replica,
                      const struct xd_extent *extent, struct xd_error *err)
{
    struct xd_new_source what;
    struct xd_depot *known;
    int rc;

    if (xd_engine_is_over_locked(e))
        return xd_fail(err, XD_E_STATE, "the download has ended");
    rc = read_source_locked(e, replica, extent, &what, err);
    if (rc < 0)
        return rc;
    known = xd_depots_find(&e->depots, &what.url);
    if (known && known->is_banned)
        return xd_fail(err, XD_E_CORRUPT,
                       "%s delivered wrong bytes, and is not used again",
                       known->host);
    if (known && has_source(known, &what))
        return 0;
    return join_locked(e, &what, known, err);
}

int xd_engine_join(struct xd_engine *e, const struct xd_replica *replica,
                   const struct xd_extent *extent, struct xd_error *err)
{
    int rc;

    xd_engine_lock(e);
    rc = add_locked(e, replica, extent, err);
    xd_engine_unlock(e);
    return rc;
}
