/* SPDX-License-Identifier: MIT */
#include "engine/trust/junctions.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/source.h"
#include "engine/trust/blame.h"

/* Minimum length of a range that is requested with a lead.  A server that
 * breaks off in the middle of each response would otherwise never send its last
 * bytes. */
#define LEAST_RANGE (64u * XD_LEAD_BYTES)

void xd_junctions_fini(struct xd_junctions *j)
{
    xd_free(j->list);
    *j = (struct xd_junctions){.n = 0};
}

/* Returns true if the bytes can be read back until the end of the download, and
 * no hash would show that they are wrong. */
static bool are_worthwhile(const struct xd_engine *e, struct xd_range range)
{
    return !xd_engine_is_bounded(e) && !e->dest.output->has_many_files &&
           !xd_verify_decides(e, range);
}

unsigned xd_junctions_lead_locked(const struct xd_engine *e,
                                  const struct xd_depot_source *s,
                                  struct xd_range range)
{
    const uint64_t least =
        s->range.begin > e->wanted.begin ? s->range.begin : e->wanted.begin;

    if (s->is_of_node || s->is_parity || xd_source_framing(s) ||
        !xd_scheme_is_http(
            xd_source_url(s)->scheme) || /* others do not state the range
                                            of a response */
        range.begin < least + XD_LEAD_BYTES ||
        xd_range_length(range) < LEAST_RANGE || !are_worthwhile(e, range))
        return 0;
    return XD_LEAD_BYTES;
}

void xd_junctions_add_locked(struct xd_engine *e, unsigned depot, uint64_t at,
                             const unsigned char lead[XD_LEAD_BYTES])
{
    struct xd_junctions *j = &e->junctions;
    struct xd_junction *const list =
        xd_grow(j->list, j->n, &j->capacity, sizeof *list);
    struct xd_junction *to;

    if (!list)
        return;
    j->list = list;
    to = &j->list[j->n++];
    *to = (struct xd_junction){.depot = depot, .at = at};
    memcpy(to->lead, lead, XD_LEAD_BYTES);
}

/* Returns the place of the lead in the file. */
static struct xd_range neighbour_of(const struct xd_junction *j)
{
    return (struct xd_range){j->at - XD_LEAD_BYTES, j->at};
}

/* Takes a junction whose neighbour is stored.  Returns false if there is
 * none. */
static bool take_locked(struct xd_engine *e, struct xd_junction *out)
{
    struct xd_junctions *j = &e->junctions;

    for (size_t i = 0; i < j->n; i++) {
        if (!xd_ledger_has(&e->ledger, XD_BYTES_STORED,
                           neighbour_of(&j->list[i])))
            continue;
        *out = j->list[i];
        j->list[i] = j->list[--j->n];
        return true;
    }
    return false;
}

/* Returns true if the depot itself delivered all bytes at the place of the
 * lead.  Bytes of other depots are compared as samples. */
static bool is_its_own_locked(const struct xd_engine *e,
                              const struct xd_junction *j)
{
    return xd_ledger_has(&e->ledger, XD_BYTES_STORED, neighbour_of(j)) &&
           xd_ledger_bytes_of(&e->ledger, j->depot, neighbour_of(j)) ==
               XD_LEAD_BYTES;
}

static void ban_locked(struct xd_engine *e, const struct xd_junction *j)
{
    struct xd_depot *d = e->depots.list[j->depot];
    struct xd_error error = {0};

    xd_fail(&error, XD_E_DIFFERENT,
            "%s: sent other bytes before offset %llu than in an earlier answer",
            d->shown_url, (unsigned long long)j->at);
    xd_blame_ban_locked(e, j->depot, &error);
    d->answers_differ = d->is_banned;
}

void xd_junctions_check_locked(struct xd_engine *e)
{
    unsigned char stored[XD_LEAD_BYTES];
    struct xd_junction j;
    uint64_t at;
    int rc;

    while (!xd_engine_is_over_locked(e) && take_locked(e, &j)) {
        if (!is_its_own_locked(e, &j))
            continue;
        at = neighbour_of(&j).begin - e->wanted.begin;
        e->junctions.n_read++;
        xd_engine_unlock(e);
        rc = xd_sink_read(e->dest.sink, at, stored, sizeof stored, NULL);
        xd_engine_lock(e);
        e->junctions.n_read--;
        if (rc >= 0 && is_its_own_locked(e, &j) &&
            memcmp(stored, j.lead, sizeof stored) != 0)
            ban_locked(e, &j);
        xd_engine_decide_later_locked(e);
    }
}

bool xd_junctions_hold_locked(const struct xd_engine *e)
{
    return e->junctions.n_read > 0;
}

void xd_junctions_forget_locked(struct xd_engine *e)
{
    e->junctions.n = 0;
}
