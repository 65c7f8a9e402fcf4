/* SPDX-License-Identifier: MIT */
/* Which depot of a scenario holds what, and in which tier. */
#include "sim/holdings.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "sim/net.h"

static uint64_t n_objects(const struct xd_sim_options *o)
{
    return o->object_bytes == 0 ? 1 : (o->size - 1) / o->object_bytes + 1;
}

/* As the highest random weight says, which depends on both. */
static uint64_t weight(uint64_t object, size_t depot)
{
    uint64_t state = object * 1000003 + depot;

    return xd_sim_random(&state) ^ xd_sim_random(&state);
}

/* Whether it is among those that own the object. */
static bool owns(const struct xd_scenario *s, size_t depot, uint64_t object)
{
    unsigned n_before = 0, most = xd_scenario_depot(s, depot)->owners;

    for (size_t i = 0; i < s->n_depots; i++)
        n_before += i != depot && xd_scenario_depot(s, i)->owners > 0 &&
                    weight(object, i) > weight(object, depot);
    return n_before < most;
}

int xd_sim_holding(const struct xd_scenario *s, const struct xd_sim_options *o,
                   size_t depot, struct xd_holding *out)
{
    const struct xd_scenario_line *line = xd_scenario_depot(s, depot);
    uint64_t n = line->owners > 0 ? n_objects(o) : 1;

    *out = (struct xd_holding){.n_held = (size_t)n};
    out->held = xd_alloc(out->n_held, sizeof *out->held);
    out->tiers = xd_alloc(out->n_held, sizeof *out->tiers);
    if (!out->held || !out->tiers)
        return XD_E_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        out->held[i] =
            (struct xd_range){i * o->object_bytes, (i + 1) * o->object_bytes};
        if (i + 1 == n)
            out->held[i].end = o->size;
        out->tiers[i] =
            (uint8_t)(line->tier + (line->owners > 0 && !owns(s, depot, i)));
    }
    return 0;
}

void xd_sim_holding_fini(struct xd_holding *h)
{
    xd_free(h->held);
    xd_free(h->tiers);
}
