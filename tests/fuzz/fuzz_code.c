/* SPDX-License-Identifier: MIT */
/*
 * A code, data, slices of any length, and the shards that are left, out of the
 * input: parity is what its definition says, and what is recovered is what was
 * there.  A decoder of shards that cannot be is refused.
 */
#include "code/reed_solomon.h"
#include "fuzz.h"
#include "unit/code/naive.h"

#include <xdownload/error.h>

#define MOST_BYTES 5000

static uint8_t shards[XD_SHARDS_MAX][MOST_BYTES];
static uint8_t made[XD_SHARDS_MAX][MOST_BYTES];

struct stripe {
    unsigned k, n;
    size_t len;
    bool is_zero[XD_SHARDS_MAX]; /* NULL stands for it */
};

/* A shard out of one byte; of 0 it is zeros. */
static void fill(struct stripe *s, unsigned shard, unsigned byte)
{
    uint8_t x = (uint8_t)byte;

    s->is_zero[shard] = byte == 0;
    for (size_t b = 0; b < s->len; b++) {
        shards[shard][b] = x;
        x = (uint8_t)(x * 5 + byte);
    }
}

static const uint8_t *slice_of(const struct stripe *s, unsigned shard,
                               size_t at)
{
    return s->is_zero[shard] ? NULL : shards[shard] + at;
}

static size_t next_slice(struct fuzz_input *in, size_t left)
{
    unsigned most = left < MOST_BYTES ? (unsigned)left : MOST_BYTES;

    return fuzz_is_over(in) ? left : fuzz_between(in, 1, most);
}

static void encode(const struct stripe *s, const struct xd_coder *c,
                   struct fuzz_input *in)
{
    for (size_t at = 0, step; at < s->len; at += step) {
        const uint8_t *data[XD_SHARDS_MAX];
        uint8_t *parity[XD_SHARDS_MAX];

        step = next_slice(in, s->len - at);
        for (unsigned j = 0; j < s->k; j++)
            data[j] = slice_of(s, j, at);
        for (unsigned i = s->k; i < s->n; i++)
            parity[i - s->k] = shards[i] + at;
        xd_coder_encode(c, step, data, parity);
    }
}

/* Of one byte of each shard. */
static void check_parity(const struct stripe *s, size_t at)
{
    uint8_t column[XD_SHARDS_MAX];

    for (unsigned j = 0; j < s->k; j++)
        column[j] = shards[j][at];
    for (unsigned i = s->k; i < s->n; i++)
        FUZZ_CHECK(shards[i][at] == naive_byte(s->k, i, column));
}

static void decode(const struct stripe *s, const struct xd_decoder *d,
                   const unsigned *present, const unsigned *wanted,
                   unsigned n_wanted, struct fuzz_input *in)
{
    for (size_t at = 0, step; at < s->len; at += step) {
        const uint8_t *from[XD_SHARDS_MAX];
        uint8_t *out[XD_SHARDS_MAX];

        step = next_slice(in, s->len - at);
        for (unsigned i = 0; i < s->k; i++)
            from[i] = slice_of(s, present[i], at);
        for (unsigned i = 0; i < n_wanted; i++)
            out[i] = made[i] + at;
        xd_decoder_run(d, step, from, out);
    }
    for (unsigned i = 0; i < n_wanted; i++)
        FUZZ_CHECK(memcmp(made[i], shards[wanted[i]], s->len) == 0);
}

/* k of the n shards in any order; or, rarely, any numbers. */
static void choose(const struct stripe *s, struct fuzz_input *in,
                   unsigned *present)
{
    unsigned all[XD_SHARDS_MAX];

    for (unsigned i = 0; i < s->n; i++)
        all[i] = i;
    for (unsigned i = 0; i < s->k; i++) {
        unsigned j = i + fuzz_below(in, s->n - i);

        present[i] = all[j];
        all[j] = all[i];
    }
    if (fuzz_byte(in) == 1)
        present[fuzz_below(in, s->k)] = fuzz_below(in, 300);
}

static bool can_be(const struct stripe *s, const unsigned *present,
                   const unsigned *wanted, unsigned n_wanted)
{
    for (unsigned i = 0; i < s->k; i++) {
        if (present[i] >= s->n)
            return false;
        for (unsigned j = 0; j < i; j++)
            if (present[j] == present[i])
                return false;
    }
    for (unsigned i = 0; i < n_wanted; i++)
        if (wanted[i] >= s->n)
            return false;
    return n_wanted >= 1 && n_wanted <= s->n;
}

static void lose_some(const struct stripe *s, const struct xd_coder *c,
                      struct fuzz_input *in)
{
    unsigned present[XD_SHARDS_MAX], wanted[XD_SHARDS_MAX + 1];
    unsigned n_wanted = fuzz_below(in, s->n + 2);
    struct xd_decoder *d;
    int rc;

    choose(s, in, present);
    for (unsigned i = 0; i < n_wanted; i++)
        wanted[i] = fuzz_below(in, s->n + (s->n < 8));
    rc = xd_decoder_new(&d, c, present, wanted, n_wanted, NULL);
    FUZZ_CHECK(rc == (can_be(s, present, wanted, n_wanted) ? 0 : XD_E_INVAL));
    FUZZ_CHECK((d != NULL) == (rc == 0));
    if (rc == 0)
        decode(s, d, present, wanted, n_wanted, in);
    xd_decoder_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    struct stripe s = {.n = fuzz_below(&in, 16)};
    struct xd_coder *c;
    int rc;

    if (s.n == 15)
        s.n += fuzz_byte(&in); /* many, up to some that are too many */
    s.k = fuzz_below(&in, s.n + 2);
    s.len = fuzz_below(&in, fuzz_byte(&in) == 1 ? MOST_BYTES : 200);
    rc = xd_coder_new(&c, s.k, s.n, NULL);
    FUZZ_CHECK(
        rc ==
        (s.k >= 1 && s.k <= s.n && s.n <= XD_SHARDS_MAX ? 0 : XD_E_INVAL));
    FUZZ_CHECK((c != NULL) == (rc == 0));
    if (rc < 0)
        return 0;
    for (unsigned j = 0; j < s.k; j++)
        fill(&s, j, fuzz_byte(&in));
    encode(&s, c, &in);
    if (s.len > 0)
        check_parity(&s, fuzz_below(&in, (unsigned)s.len));
    for (int times = 0; times < 3; times++)
        lose_some(&s, c, &in);
    xd_coder_free(c);
    return 0;
}
