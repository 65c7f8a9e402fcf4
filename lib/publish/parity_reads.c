/* SPDX-License-Identifier: MIT */
#include "publish/parity_reads.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/shards.h"
#include "code/reed_solomon.h"
#include "manifest/parity.h"

#define MOST_ROOM ((size_t)1 << 20)
#define MOST_SLICE ((size_t)64 << 10)
#define LEAST_SLICE ((size_t)4 << 10)

struct xd_parity_reads {
    struct xd_origin *origin;
    size_t reader;
    const struct xd_upload_line *line;

    /* code of the last stripe, and number of the last shard that was read */
    unsigned k, n, number;
    size_t slice;
    struct xd_coder *coder;
    struct xd_decoder *decoder; /* decoder for shard `number` */

    uint8_t *room; /* room for a slice of each shard */
    size_t room_bytes;
    const uint8_t *data[XD_SHARDS_MAX];
    uint8_t *parity[XD_SHARDS_MAX];
};

size_t xd_parity_slice(unsigned n)
{
    const size_t slice = MOST_ROOM / n;

    if (slice < LEAST_SLICE)
        return LEAST_SLICE;
    return slice < MOST_SLICE ? slice : MOST_SLICE;
}

int xd_parity_reads_new(struct xd_parity_reads **out, struct xd_origin *origin,
                        size_t reader, const struct xd_upload_line *line,
                        struct xd_error *err)
{
    *out = xd_alloc(1, sizeof **out);
    if (!*out)
        return xd_fail_nomem(err);
    **out = (struct xd_parity_reads){
        .origin = origin, .reader = reader, .line = line};
    return 0;
}

static void forget_code(struct xd_parity_reads *r)
{
    xd_decoder_free(r->decoder);
    xd_coder_free(r->coder);
    r->decoder = NULL;
    r->coder = NULL;
}

void xd_parity_reads_free(struct xd_parity_reads *r)
{
    if (!r)
        return;
    forget_code(r);
    xd_free(r->room);
    xd_free(r);
}

static int take_code(struct xd_parity_reads *r, const struct xd_model_stripe *s,
                     struct xd_error *err)
{
    if (r->coder && r->k == s->k && r->n == s->n)
        return 0;
    forget_code(r);
    r->k = s->k;
    r->n = s->n;
    r->slice = xd_parity_slice(s->n);
    return xd_coder_new(&r->coder, s->k, s->n, err);
}

/* Creates a decoder for a single shard.  A decoder for all shards would also
 * compute shards that are not needed. */
static int take_decoder(struct xd_parity_reads *r, unsigned number,
                        struct xd_error *err)
{
    unsigned present[XD_SHARDS_MAX];

    if (r->decoder && r->number == number)
        return 0;
    xd_decoder_free(r->decoder);
    r->decoder = NULL;
    for (unsigned i = 0; i < r->k; i++)
        present[i] = i;
    r->number = number;
    return xd_decoder_new(&r->decoder, r->coder, present, &number, 1, err);
}

/* Allocates memory for `n` slices. */
static int take_room(struct xd_parity_reads *r, size_t n, struct xd_error *err)
{
    if (n * r->slice <= r->room_bytes)
        return 0;
    xd_free(r->room);
    r->room_bytes = 0;
    r->room = xd_alloc(n, r->slice);
    if (!r->room)
        return xd_fail_nomem(err);
    r->room_bytes = n * r->slice;
    return 0;
}

/* Reads a slice of a data shard.  After the end of the shard, it is filled with
 * zeros. */
static int read_slice(struct xd_parity_reads *r, size_t stripe, unsigned shard,
                      uint64_t at, size_t len, struct xd_error *err)
{
    uint8_t *to = r->room + shard * r->slice;
    const struct xd_range range = xd_upload_line_shard(r->line, stripe, shard);
    const uint64_t length = xd_range_length(range);
    const uint64_t left = at < length ? length - at : 0;
    const size_t n = left < len ? (size_t)left : len;
    int rc = 0;

    r->data[shard] = n > 0 ? to : NULL;
    if (n > 0) {
        rc = xd_origin_read(r->origin, r->reader, range.begin + at, to, n, err);
        memset(to + n, 0, len - n);
    }
    return rc;
}

/* Reads the slices of all data shards at an offset.  Prepares the coder and the
 * memory that the stripe needs. */
static int read_data(struct xd_parity_reads *r, size_t stripe, uint64_t at,
                     size_t len, size_t n_outputs, struct xd_error *err)
{
    const struct xd_model_stripe *s = &r->line->stripes[stripe];
    int rc = take_code(r, s, err);

    if (rc == 0)
        rc = take_room(r, s->k + n_outputs, err);
    for (unsigned i = 0; rc == 0 && i < s->k; i++)
        rc = read_slice(r, stripe, i, at, len, err);
    return rc;
}

int xd_parity_read(struct xd_parity_reads *r, uint64_t position, void *to,
                   size_t len, struct xd_error *err)
{
    uint8_t *next = to;
    int rc = 0;

    while (rc == 0 && len > 0) {
        struct xd_upload_place place;
        size_t n;

        if (!xd_upload_line_find(r->line, position, &place))
            return xd_fail(err, XD_E_BUG, "no parity stands there");
        n = xd_parity_slice(r->line->stripes[place.stripe].n);
        n = len < n ? len : n;
        rc = read_data(r, place.stripe, place.at, n, 0, err);
        if (rc == 0)
            rc = take_decoder(r, place.number, err);
        if (rc == 0)
            xd_decoder_run(r->decoder, n, r->data, &next);
        next += n;
        position += n;
        len -= n;
    }
    return rc;
}

int xd_parity_read_all(struct xd_parity_reads *r, size_t stripe, uint64_t at,
                       size_t len, const uint8_t *const **out,
                       struct xd_error *err)
{
    const struct xd_model_stripe *s = &r->line->stripes[stripe];
    const unsigned m = s->n - s->k;
    int rc = read_data(r, stripe, at, len, m, err);

    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < m; i++)
        r->parity[i] = r->room + (s->k + i) * r->slice;
    xd_coder_encode(r->coder, len, r->data, r->parity);
    *out = (const uint8_t *const *)r->parity;
    return 0;
}
