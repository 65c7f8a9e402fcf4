/* SPDX-License-Identifier: MIT */
#include "publish/shards_left.h"

#include "manifest/parity.h"

static bool keeps_data(const struct xd_model_stripe *s, unsigned shard,
                       const struct xd_rangeset *kept)
{
    const uint64_t length = xd_stripe_data_length(s, shard);
    const uint64_t begin = s->offset + s->shard_bytes * shard;

    return length == 0 || xd_range_is_empty(xd_rangeset_next_gap(
                              kept, (struct xd_range){begin, begin + length}));
}

static bool keeps_parity(const struct xd_model_stripe *s,
                         const struct xd_model_shard *shard,
                         const bool *dropped)
{
    for (size_t i = 0; i < shard->n_replicas; i++)
        if (!dropped[s->first_place + shard->first_replica + i])
            return true;
    return false;
}

bool xd_shards_are_too_few(struct xd_shards_left *out,
                           const struct xd_model_file *f,
                           const struct xd_rangeset *kept,
                           const bool *dropped_parity)
{
    for (size_t i = 0; i < f->rare->n_stripes; i++) {
        const struct xd_model_stripe *s = &f->rare->stripes[i];

        *out = (struct xd_shards_left){.stripe = s->number, .k = s->k};
        for (unsigned k = 0; k < s->k; k++)
            out->n += keeps_data(s, k, kept);
        for (size_t k = 0; k < s->n_shards; k++)
            out->n += keeps_parity(s, &s->shards[k], dropped_parity);
        if (out->n < s->k)
            return true;
    }
    return false;
}
