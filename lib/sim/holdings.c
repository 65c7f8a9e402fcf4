/* SPDX-License-Identifier: MIT */
#include "sim/holdings.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "sim/net.h"

static uint64_t n_objects(const struct xd_sim_options *o)
{
    return o->object_bytes == 0 ? 1 : (o->size - 1) / o->object_bytes + 1;
}

/* Returns the weight of a depot for an object in highest-random-weight
 * hashing. */
static uint64_t weight(uint64_t object, size_t depot)
{
    uint64_t state = object * 1000003 + depot;

    return xd_sim_random(&state) ^ xd_sim_random(&state);
}

static bool owns(const struct xd_scenario *s, size_t depot, uint64_t object)
{
    unsigned n_before = 0, most = xd_scenario_depot(s, depot)->owners;

    for (size_t i = 0; i < s->n_depots; i++)
        n_before += i != depot && xd_scenario_depot(s, i)->owners > 0 &&
                    weight(object, i) > weight(object, depot);
    return n_before < most;
}

/* ---- stripes ---- */

unsigned xd_sim_shard_of(const struct xd_sim_code *c, size_t depot,
                         size_t stripe)
{
    return depot < c->n ? (unsigned)((depot + c->n - stripe % c->n) % c->n)
                        : c->n;
}

unsigned xd_sim_depot_of(const struct xd_sim_code *c, size_t stripe,
                         unsigned shard)
{
    return (unsigned)((stripe + shard) % c->n);
}

/* Returns the data shard of a depot.  For a depot with parity, returns the
 * whole stripe, because parity can replace any part of it. */
static struct xd_range of_stripe(const struct xd_sim_options *o, size_t depot,
                                 size_t stripe)
{
    const unsigned shard = xd_sim_shard_of(&o->code, depot, stripe);
    const uint64_t begin = stripe * o->code.k * o->object_bytes;
    const struct xd_range file = {0, o->size};

    if (shard >= o->code.k)
        return xd_range_clip(
            (struct xd_range){begin, begin + o->code.k * o->object_bytes},
            shard < o->code.n ? file : (struct xd_range){0, 0});
    return xd_range_clip(
        (struct xd_range){begin + shard * o->object_bytes,
                          begin + (shard + 1) * o->object_bytes},
        file);
}

static void hold_shards(const struct xd_scenario_line *line,
                        const struct xd_sim_options *o, size_t depot,
                        struct xd_holding *out)
{
    const uint64_t n = (n_objects(o) - 1) / o->code.k + 1;

    for (size_t s = 0; s < n; s++) {
        const struct xd_range r = of_stripe(o, depot, s);

        if (xd_range_is_empty(r))
            continue;
        out->held[out->n_held] = r;
        out->tiers[out->n_held++] =
            xd_sim_shard_of(&o->code, depot, s) < o->code.k
                ? (uint8_t)line->tier
                : XD_TIERS - 1;
    }
}

static bool has_own(const struct xd_scenario *s, const struct xd_sim_options *o,
                    size_t depot, uint64_t object)
{
    const size_t n = s->n_depots;

    if (o->code.k > 0)
        return xd_sim_shard_of(&o->code, depot, (size_t)object / o->code.k) ==
               object % o->code.k;
    return o->copies == 0 || (depot + n - object % n) % n < o->copies;
}

struct xd_range xd_sim_next_own(const struct xd_scenario *s,
                                const struct xd_sim_options *o, size_t depot,
                                struct xd_range r)
{
    const uint64_t bytes = o->object_bytes;

    if (bytes == 0)
        return r;
    for (uint64_t i = r.begin / bytes; i * bytes < r.end; i++)
        if (has_own(s, o, depot, i))
            return xd_range_clip((struct xd_range){i * bytes, (i + 1) * bytes},
                                 r);
    return (struct xd_range){r.end, r.end};
}

static void hold_objects(const struct xd_scenario *s,
                         const struct xd_sim_options *o, size_t depot,
                         struct xd_holding *out)
{
    const struct xd_scenario_line *line = xd_scenario_depot(s, depot);
    const uint64_t n = n_objects(o);

    for (uint64_t i = 0; i < n; i++) {
        if (!has_own(s, o, depot, i))
            continue;
        out->held[out->n_held] =
            (struct xd_range){i * o->object_bytes,
                              i + 1 == n ? o->size : (i + 1) * o->object_bytes};
        out->tiers[out->n_held++] =
            (uint8_t)(line->tier + (line->owners > 0 && !owns(s, depot, i)));
    }
}

int xd_sim_holding(const struct xd_scenario *s, const struct xd_sim_options *o,
                   size_t depot, struct xd_holding *out)
{
    const struct xd_scenario_line *line = xd_scenario_depot(s, depot);
    const size_t n = (size_t)n_objects(o);

    *out = (struct xd_holding){.n_held = 0};
    out->held = xd_alloc(n, sizeof *out->held);
    out->tiers = xd_alloc(n, sizeof *out->tiers);
    if (!out->held || !out->tiers)
        return XD_E_NOMEM;
    if (o->code.k > 0) {
        hold_shards(line, o, depot, out);
    } else if (line->owners > 0 || o->copies > 0) {
        hold_objects(s, o, depot, out);
    } else {
        out->held[out->n_held] = (struct xd_range){0, o->size};
        out->tiers[out->n_held++] = (uint8_t)line->tier;
    }
    return 0;
}

void xd_sim_holding_fini(struct xd_holding *h)
{
    xd_free(h->held);
    xd_free(h->tiers);
}
