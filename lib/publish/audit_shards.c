/* SPDX-License-Identifier: MIT */
/* Returns the results for parity shards. */
#include "base/copy_out.h"
#include "base/error.h"
#include "publish/audit_run.h"

int xd_audit_stripe(const struct xd_audit *a, size_t stripe,
                    struct xd_audited_stripe *out)
{
    struct xd_audited_stripe found;

    if (stripe >= a->n_stripes)
        return XD_E_INVAL;
    found = (struct xd_audited_stripe){
        .n_good = a->stripes[stripe].n_good,
        .n_losses = (int)a->stripes[stripe].n_good - (int)a->stripes[stripe].k};
    if (a->is_line_down)
        found.n_losses = 0;
    xd_copy_out(out, &found, sizeof found);
    return 0;
}

bool xd_audit_shard_is_good(const struct xd_audit *a, size_t stripe,
                            size_t shard)
{
    return stripe < a->n_stripes && shard < a->stripes[stripe].n &&
           a->stripes[stripe].is_good[shard];
}

/* Shards are sorted by stripe, then by number.  Returns NULL if the shard has
 * no replica. */
static const struct xd_audit_shard *find_shard(const struct xd_audit *a,
                                               size_t stripe, size_t number)
{
    size_t low = 0, high = a->n_shards;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const struct xd_audit_shard *s = &a->shards[mid];

        if (s->stripe == stripe && s->number == number)
            return s;
        if (s->stripe < stripe || (s->stripe == stripe && s->number < number))
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static const struct xd_audit_replica *find(const struct xd_audit *a,
                                           size_t stripe, size_t shard,
                                           size_t replica)
{
    const struct xd_audit_shard *s = find_shard(a, stripe, shard);

    return s && replica < s->n_replicas
               ? &a->replicas[s->first_replica + replica]
               : NULL;
}

int xd_audit_shard_replica(const struct xd_audit *a, size_t stripe,
                           size_t shard, size_t replica, struct xd_audited *out)
{
    return xd_audit_copy_row(a, find(a, stripe, shard, replica), out);
}

int xd_audit_shard_wrong(const struct xd_audit *a, size_t stripe, size_t shard,
                         size_t replica, size_t i, uint64_t *out_begin,
                         uint64_t *out_end)
{
    const struct xd_audit_replica *r = find(a, stripe, shard, replica);

    return r ? xd_audit_run_of(&r->wrong, i, xd_audit_base(a, r), out_begin,
                               out_end)
             : XD_E_INVAL;
}
