/* SPDX-License-Identifier: MIT */
#include "publish/heal_plan.h"

#include <xdpublish/audit.h>

#include "publish/make_parity.h"
#include "publish/make_upload.h"
#include "publish/overlaps.h"

/* Returns the number of replicas that the heal has to replace. */
static unsigned count_bad(const struct xd_heal *h,
                          const struct xd_model_extent *e)
{
    unsigned n = 0;

    for (size_t k = 0; k < e->n_replicas; k++)
        n += h->bad[e->first_replica + k] && !h->dropped[e->first_replica + k];
    return n;
}

static struct xd_range range_of(const struct xd_model_extent *e)
{
    return (struct xd_range){e->offset, e->offset + e->length};
}

static bool gets_copies(const struct xd_heal *h, size_t i)
{
    return count_bad(h, &h->file->extents[i]) > 0 && !h->lost[i];
}

/* ---- how extents are cut ---- */

/* Returns whether `r` is one of the extents into which `whole` is cut. */
static bool is_cut(const struct xd_upload *u, struct xd_range r,
                   struct xd_range whole)
{
    const uint64_t most = u->note.extent_bytes;

    return r.begin >= whole.begin && r.end <= whole.end &&
           (r.begin - whole.begin) % most == 0 && xd_range_length(r) <= most &&
           (xd_range_length(r) == most || r.end == whole.end);
}

static struct xd_range range_of_stripe(const struct xd_model_stripe *s)
{
    return (struct xd_range){s->offset, s->offset + s->length};
}

/* Returns how an earlier run divided `whole`, given that it made a copy of
 * `r`. */
static enum xd_heal_cut cut_of(const struct xd_upload *u, struct xd_range r,
                               struct xd_range whole)
{
    const size_t stripe = xd_upload_line_stripe_from(&u->line, r.begin);
    struct xd_range of_stripe;
    unsigned shard;

    if (is_cut(u, r, whole) || stripe == u->line.n)
        return XD_HEAL_WHOLE;
    of_stripe = xd_range_clip(range_of_stripe(&u->line.stripes[stripe]), whole);
    if (is_cut(u, r, of_stripe))
        return XD_HEAL_STRIPES;
    shard = xd_upload_shard_of(&u->line.stripes[stripe], r);
    return shard != XD_SHARD_NONE &&
                   is_cut(u, r,
                          xd_range_clip(
                              xd_upload_line_shard(&u->line, stripe, shard),
                              whole))
               ? XD_HEAL_SHARDS
               : XD_HEAL_WHOLE;
}

static bool is_made(const struct xd_heal *h, const struct xd_model_extent *e)
{
    for (size_t k = 0; k < e->n_replicas; k++) {
        if (h->made[e->first_replica + k])
            return true;
    }
    return false;
}

/* Returns the number of parity replicas to be replaced. */
static unsigned count_bad_parity(const struct xd_heal *h,
                                 const struct xd_model_stripe *s,
                                 const struct xd_model_shard *shard)
{
    unsigned n = 0;

    for (size_t i = 0; i < shard->n_replicas; i++)
        n += h->bad_parity[s->first_place + shard->first_replica + i] &&
             !h->dropped_parity[s->first_place + shard->first_replica + i];
    return n;
}

/* Returns whether at least k shards are left, so that the lost shards can be
 * computed. */
static bool is_restorable(const struct xd_audit *a, size_t stripe)
{
    struct xd_audited_stripe row = {.struct_size = sizeof row};

    return xd_audit_stripe(a, stripe, &row) == 0 && row.n_losses >= 0;
}

/* Returns whether new parity is planned for a stripe that overlaps the
 * range. */
static bool is_beside_parity(const struct xd_upload *u,
                             const struct xd_audit *a, struct xd_range range)
{
    const struct xd_upload_line *line = &u->line;

    for (size_t i = xd_upload_line_stripe_from(line, range.begin);
         i < line->n && line->stripes[i].offset < range.end; i++) {
        const struct xd_model_stripe *s = &line->stripes[i];

        for (size_t k = 0; is_restorable(a, i) && k < s->n_shards; k++) {
            if (count_bad_parity(&u->heal, s, &s->shards[k]) > 0)
                return true;
        }
    }
    return false;
}

/* Decides how to cut an extent into copies.  If an earlier run has made copies
 * of its shards, it is cut at shards again.  If new parity is planned for some
 * of its stripes, it is cut at stripes, so that the plan can keep each copy
 * away from hosts with parity of the same bytes. */
static void choose_cut(struct xd_upload *u, const struct xd_audit *a, size_t i,
                       const struct xd_overlaps *of)
{
    struct xd_heal *h = &u->heal;
    const struct xd_range whole = range_of(&h->file->extents[i]);
    enum xd_heal_cut cut = h->no_copy[i] ? XD_HEAL_SHARDS : XD_HEAL_WHOLE;

    for (size_t k = 0; k < of->n; k++) {
        const struct xd_model_extent *e = &h->file->extents[of->list[k]];
        const enum xd_heal_cut before =
            is_made(h, e) ? cut_of(u, range_of(e), whole) : XD_HEAL_WHOLE;

        if (before > cut)
            cut = before;
    }
    if (cut == XD_HEAL_WHOLE && is_beside_parity(u, a, whole))
        cut = XD_HEAL_STRIPES;
    h->cuts[i] = cut;
}

static int choose_cuts(struct xd_upload *u, const struct xd_audit *a,
                       struct xd_error *err)
{
    struct xd_heal *h = &u->heal;
    struct xd_overlaps of;
    const int rc = xd_overlaps_init(&of, h->file, err);

    for (size_t i = 0; rc == 0 && i < h->file->n_extents; i++) {
        xd_overlaps_move(&of, range_of(&h->file->extents[i]));
        if (gets_copies(h, i))
            choose_cut(u, a, i, &of);
    }
    xd_overlaps_fini(&of);
    return rc;
}

/* ---- extents ---- */

/* Plans `wanted` copies of a range of extent `i`. */
static int plan_range(struct xd_upload *u, size_t i, struct xd_range range,
                      unsigned wanted, struct xd_error *err)
{
    struct xd_heal *h = &u->heal;
    int rc = xd_upload_add_extents(u, range, wanted, err);

    while (rc == 0 && h->n < xd_plan_n_extents(u->plan))
        rc = xd_heal_add(h, (struct xd_heal_item){.extent = i, .left = wanted},
                         err);
    return rc;
}

/* Returns whether all of the extent is inside one shard. */
static bool is_of_shard(const struct xd_upload *u,
                        const struct xd_model_extent *e)
{
    const size_t i = xd_upload_line_stripe_from(&u->line, e->offset);

    return i < u->line.n && e->length > 0 &&
           xd_upload_shard_of(&u->line.stripes[i], range_of(e)) !=
               XD_SHARD_NONE;
}

/* Keeps new copies of the extent away from hosts that have a good copy. */
static void forbid_hosts(struct xd_upload *u, size_t first,
                         const struct xd_model_extent *e)
{
    const struct xd_heal *h = &u->heal;

    for (size_t store = 0; store < u->n_workers; store++) {
        if (!xd_upload_has_data(u, store, h->file, e, h->bad))
            continue;
        for (size_t i = first; i < xd_plan_n_extents(u->plan); i++)
            xd_plan_forbid(u->plan, i, store);
    }
}

static int plan_piece(struct xd_upload *u, size_t i, unsigned shard,
                      struct xd_range range, unsigned wanted,
                      struct xd_error *err)
{
    const size_t first = xd_plan_n_extents(u->plan);
    int rc;

    xd_plan_begin_shard(u->plan, shard);
    rc = plan_range(u, i, range, wanted, err);
    forbid_hosts(u, first, &u->heal.file->extents[i]);
    return rc;
}

/* Plans one copy for each shard in the range.  No depot has these bytes any
 * more.  Each shard goes to another host, because several shards of a stripe on
 * one host would be lost together. */
static int plan_pieces(struct xd_upload *u, size_t stripe, size_t i,
                       struct xd_range range, struct xd_error *err)
{
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    int rc = 0;

    for (unsigned k = 0; rc == 0 && k < s->k; k++) {
        const struct xd_range piece =
            xd_range_clip(xd_upload_line_shard(&u->line, stripe, k), range);

        if (!xd_range_is_empty(piece))
            rc = plan_piece(u, i, k, piece, 1, err);
    }
    return rc;
}

/* Plans extra copies of bytes that another depot has, or will get through
 * plan_pieces().  One host may get an extra copy of several shards. */
static int plan_more(struct xd_upload *u, size_t stripe, size_t i,
                     struct xd_range range, unsigned wanted,
                     struct xd_error *err)
{
    const size_t first = xd_plan_n_extents(u->plan);
    int rc;

    if (wanted == 0)
        return 0;
    xd_plan_begin_more(u->plan, u->line.stripes[stripe].k);
    rc = plan_range(u, i, range, wanted, err);
    forbid_hosts(u, first, &u->heal.file->extents[i]);
    return rc;
}

/* Plans the copies of the part of an extent that is in the stripe. */
static int plan_data(struct xd_upload *u, size_t stripe, size_t i,
                     struct xd_error *err)
{
    const struct xd_heal *h = &u->heal;
    const struct xd_model_extent *e = &h->file->extents[i];
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    const unsigned wanted = count_bad(h, e);
    const struct xd_range range =
        xd_range_clip(range_of(e), range_of_stripe(s));
    const unsigned shard = xd_upload_shard_of(s, range);
    int rc = 0;

    if (!gets_copies(h, i) || xd_range_is_empty(range) ||
        !(is_of_shard(u, e) || h->cuts[i]))
        return 0;
    if (shard != XD_SHARD_NONE)
        return plan_piece(u, i, shard, range, wanted, err);
    if (h->cuts[i] == XD_HEAL_STRIPES)
        return plan_more(u, stripe, i, range, wanted, err);
    rc = plan_pieces(u, stripe, i, range, err);
    return rc < 0 ? rc : plan_more(u, stripe, i, range, wanted - 1, err);
}

static int plan_shards(struct xd_upload *u, size_t stripe, struct xd_error *err)
{
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->n_shards; i++) {
        const struct xd_heal_item item = {
            .stripe = s,
            .shard = &s->shards[i],
            .left = count_bad_parity(&u->heal, s, &s->shards[i])};

        if (item.left == 0)
            continue;
        rc = xd_upload_add_shard(u, stripe, item.shard->number, item.left, err);
        if (rc == 0)
            rc = xd_heal_add(&u->heal, item, err);
    }
    return rc;
}

/* Plans data and parity shards on hosts that have no other shard of their
 * stripe. */
static int plan_stripe(struct xd_upload *u, const struct xd_audit *a,
                       const struct xd_overlaps *of, size_t stripe,
                       struct xd_error *err)
{
    const struct xd_heal *h = &u->heal;
    int rc = xd_plan_begin_group(u->plan, err);

    if (rc < 0)
        return rc;
    xd_upload_use_data(u, of, stripe, h->bad);
    xd_upload_use_parity(u, stripe, h->bad_parity);
    for (size_t i = 0; rc == 0 && i < of->n; i++)
        rc = plan_data(u, stripe, of->list[i], err);
    if (rc == 0 && is_restorable(a, stripe))
        rc = plan_shards(u, stripe, err);
    xd_plan_end_group(u->plan);
    return rc;
}

static int plan_stripes(struct xd_upload *u, const struct xd_audit *a,
                        struct xd_error *err)
{
    struct xd_overlaps of;
    int rc = xd_overlaps_init(&of, u->heal.file, err);

    for (size_t i = 0; rc == 0 && i < u->line.n; i++) {
        const struct xd_model_stripe *s = &u->line.stripes[i];

        xd_overlaps_move(&of, range_of_stripe(s));
        rc = plan_stripe(u, a, &of, i, err);
    }
    xd_overlaps_fini(&of);
    return rc;
}

/* Excludes stores from getting planned extents.  An extent that spans several
 * shards must not go to a store whose host has parity of its bytes. */
static void forbid_stores(struct xd_upload *u, size_t first)
{
    for (size_t i = first; i < xd_plan_n_extents(u->plan); i++) {
        const struct xd_range r = xd_plan_range(u->plan, i);

        for (size_t s = xd_upload_line_stripe_from(&u->line, r.begin);
             s < u->line.n && u->line.stripes[s].offset < r.end; s++)
            for (size_t store = 0; store < u->n_workers; store++)
                if (xd_upload_has_parity(u, store, s, u->heal.bad_parity))
                    xd_plan_keep_apart(u->plan, i, store);
    }
}

/* Plans the bytes of an extent that are in no stripe. */
static int plan_gaps(struct xd_upload *u, size_t i, struct xd_error *err)
{
    const struct xd_upload_line *line = &u->line;
    const struct xd_model_extent *e = &u->heal.file->extents[i];
    const unsigned wanted = count_bad(&u->heal, e);
    struct xd_range left = range_of(e);
    int rc = 0;

    for (size_t s = xd_upload_line_stripe_from(line, left.begin);
         rc == 0 && s < line->n && line->stripes[s].offset < left.end; s++) {
        rc = plan_range(u, i,
                        (struct xd_range){left.begin, line->stripes[s].offset},
                        wanted, err);
        left.begin = line->stripes[s].offset + line->stripes[s].length;
    }
    return rc < 0 ? rc : plan_range(u, i, left, wanted, err);
}

static int plan_others(struct xd_upload *u, struct xd_error *err)
{
    const struct xd_heal *h = &u->heal;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->file->n_extents; i++) {
        const struct xd_model_extent *e = &h->file->extents[i];
        const size_t first = xd_plan_n_extents(u->plan);

        if (!gets_copies(h, i) || is_of_shard(u, e))
            continue;
        rc = h->cuts[i] ? plan_gaps(u, i, err)
                        : plan_range(u, i, range_of(e), count_bad(h, e), err);
        forbid_stores(u, first);
    }
    return rc;
}

int xd_heal_plan(struct xd_upload *u, const struct xd_audit *a,
                 struct xd_error *err)
{
    int64_t rc = u->line.n > 0 ? xd_upload_set_hosts(u, err) : 0;

    if (rc >= 0 && u->line.n > 0)
        rc = choose_cuts(u, a, err);
    if (rc >= 0)
        rc = plan_stripes(u, a, err);
    return rc < 0 ? (int)rc : plan_others(u, err);
}
