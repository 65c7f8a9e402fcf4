/* SPDX-License-Identifier: MIT */
#include "publish/coding.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/number.h"
#include "base/shards.h"

#define SHARD ((uint64_t)1 << 20)

/* largest number of stripes with the default shard length */
#define MOST_STRIPES 1024u

typedef unsigned long long ull;

int xd_coding_parse(struct xd_coding *out, const char *text,
                    struct xd_error *err)
{
    const char *plus = strchr(text, '+');
    uint64_t k = 0, m = 0;

    if (!plus || !xd_parse_u64(text, (size_t)(plus - text), &k) ||
        !xd_parse_u64(plus + 1, strlen(plus + 1), &m))
        return xd_fail(
            err, XD_E_INVAL,
            "invalid code '%.40s': use the number of shards of data, "
            "a plus and the number of shards of parity, such as 4+2",
            text);
    if (k == 0 || m == 0 || k >= XD_SHARDS_MAX || m > XD_SHARDS_MAX - k)
        return xd_fail(err, XD_E_INVAL,
                       "invalid code '%.40s': a stripe has at least one shard "
                       "of data and one of parity, and at most %d together",
                       text, XD_SHARDS_MAX);
    *out = (struct xd_coding){(unsigned)k, (unsigned)m};
    return 0;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b > 0);
}

int xd_coding_shard_bytes(uint64_t *out, struct xd_coding c, uint64_t size,
                          uint64_t wanted, struct xd_error *err)
{
    const uint64_t most = XD_STRIPE_MOST / (c.k + c.m);
    const uint64_t even = divide_up(divide_up(size, c.k), MOST_STRIPES);
    uint64_t bytes = wanted;

    if (wanted > most)
        return xd_fail(err, XD_E_INVAL,
                       "%u shards of %llu bytes are too long a stripe: to "
                       "compute those that are lost takes memory for all of "
                       "them; use extents of at most %llu bytes",
                       c.k + c.m, (ull)wanted, (ull)most);
    if (wanted == 0) {
        bytes = divide_up(even, SHARD) * SHARD;
        if (bytes > most)
            bytes = most;
    }
    *out = bytes > 0 ? bytes : 1;
    return 0;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return divide_up(bytes, unit) * unit;
}

uint64_t xd_coding_even(struct xd_coding c, uint64_t size, uint64_t shard_bytes,
                        uint64_t most_piece)
{
    const uint64_t n = divide_up(size, c.k * shard_bytes);
    const uint64_t least = n > 0 ? divide_up(size, c.k * n) : shard_bytes;
    const uint64_t bytes = round_up(least, divide_up(least, most_piece));

    return bytes < shard_bytes ? bytes : shard_bytes;
}

/* Returns the length of a shard if `length` bytes are divided among k shards.
 * One shard may contain all bytes. */
static uint64_t shard_of(struct xd_coding c, uint64_t length,
                         uint64_t piece_bytes)
{
    const uint64_t bytes = round_up(divide_up(length, c.k), piece_bytes);

    return bytes < length ? bytes : length;
}

int xd_coding_stripes(struct xd_model_stripe **out, size_t *out_n,
                      struct xd_coding c, uint64_t size, uint64_t shard_bytes,
                      uint64_t piece_bytes, struct xd_error *err)
{
    const uint64_t whole = shard_bytes * c.k, n = divide_up(size, whole);
    struct xd_model_stripe *list =
        n < SIZE_MAX ? xd_alloc((size_t)n + 1, sizeof *list) : NULL;

    *out = NULL;
    if (!list)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const uint64_t left = size - i * whole;
        const uint64_t length = left < whole ? left : whole;

        list[i] = (struct xd_model_stripe){.number = i,
                                           .offset = i * whole,
                                           .length = length,
                                           .shard_bytes =
                                               shard_of(c, length, piece_bytes),
                                           .k = c.k,
                                           .n = c.k + c.m,
                                           .is_used = true};
    }
    *out = list;
    *out_n = (size_t)n;
    return 0;
}
