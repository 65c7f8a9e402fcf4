/* SPDX-License-Identifier: MIT */
#include "publish/upload_line.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "manifest/builder.h"
#include "manifest/parity.h"

int xd_upload_line_init(struct xd_upload_line *out, uint64_t size,
                        const struct xd_model_stripe *stripes, size_t n,
                        struct xd_error *err)
{
    uint64_t end = size;

    *out = (struct xd_upload_line){.size = size, .stripes = stripes, .n = n};
    out->begins = xd_alloc(n + 1, sizeof *out->begins);
    if (!out->begins)
        return xd_fail_nomem(err);
    if (size > XD_FILE_MAX)
        out->n = 0;
    for (size_t i = 0; i < out->n; i++) {
        const struct xd_model_stripe *s = &stripes[i];

        out->begins[i] = end;
        if (s->shard_bytes > (XD_FILE_MAX - end) / (s->n - s->k))
            out->n = i;
        else
            end += s->shard_bytes * (s->n - s->k);
    }
    out->begins[out->n] = end;
    return 0;
}

void xd_upload_line_fini(struct xd_upload_line *line)
{
    xd_free(line->begins);
    line->begins = NULL;
}

bool xd_upload_line_find(const struct xd_upload_line *line, uint64_t position,
                         struct xd_upload_place *out)
{
    const struct xd_model_stripe *s;
    uint64_t at;

    if (!line->begins || position < line->size ||
        position >= line->begins[line->n])
        return false;
    out->stripe =
        xd_count_up_to(position, line->begins, line->n, sizeof(uint64_t), 0) -
        1;
    s = &line->stripes[out->stripe];
    at = position - line->begins[out->stripe];
    out->number = s->k + (unsigned)(at / s->shard_bytes);
    out->at = at % s->shard_bytes;
    return true;
}

struct xd_range xd_upload_line_shard(const struct xd_upload_line *line,
                                     size_t stripe, unsigned number)
{
    const struct xd_model_stripe *s = &line->stripes[stripe];
    uint64_t begin, length = s->shard_bytes;

    if (number >= s->k) {
        begin = line->begins[stripe] + (number - s->k) * s->shard_bytes;
    } else {
        length = xd_stripe_data_length(s, number);
        begin = s->offset + (length > 0 ? number * s->shard_bytes : s->length);
    }
    return (struct xd_range){begin, begin + length};
}

size_t xd_upload_line_stripe_from(const struct xd_upload_line *line,
                                  uint64_t at)
{
    size_t low = 0, high = line->n;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const struct xd_model_stripe *s = &line->stripes[mid];

        if (s->offset + s->length <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
