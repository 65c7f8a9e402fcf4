/* SPDX-License-Identifier: MIT */
/* A set of ranges against a bitmap, at the beginning or the end of all bytes. */
#include "base/range.h"
#include "fuzz.h"

#define BYTES 256

struct both {
    struct xd_rangeset set;
    bool bits[BYTES];
    uint64_t base; /* of bit 0 */
};

static struct xd_range range(const struct both *b, unsigned begin, unsigned end)
{
    return (struct xd_range){b->base + begin, b->base + end};
}

/* The first run of bits that are `value`, inside begin..end. */
static struct xd_range next_run(const struct both *b, unsigned begin,
                                unsigned end, bool value)
{
    unsigned last;

    while (begin < end && b->bits[begin] != value)
        begin++;
    for (last = begin; last < end && b->bits[last] == value;)
        last++;
    return range(b, begin, last);
}

static bool is_same(struct xd_range a, struct xd_range b)
{
    return a.begin == b.begin && a.end == b.end;
}

static void check_form(const struct both *b)
{
    uint64_t bytes = 0;

    FUZZ_CHECK(b->set.n <= b->set.capacity);
    for (size_t i = 0; i < b->set.n; i++) {
        FUZZ_CHECK(b->set.ranges[i].begin < b->set.ranges[i].end);
        FUZZ_CHECK(i == 0 || b->set.ranges[i - 1].end < b->set.ranges[i].begin);
        bytes += xd_range_length(b->set.ranges[i]);
    }
    FUZZ_CHECK(bytes == b->set.bytes);
}

static void check_answers(const struct both *b, unsigned begin, unsigned end)
{
    struct xd_range r = range(b, begin, end);
    unsigned count = 0;

    for (unsigned i = begin; i < end; i++)
        count += b->bits[i];
    FUZZ_CHECK(xd_rangeset_contains(&b->set, r) == (count == end - begin));
    FUZZ_CHECK(
        is_same(xd_rangeset_next(&b->set, r), next_run(b, begin, end, true)));
    FUZZ_CHECK(is_same(xd_rangeset_next_gap(&b->set, r),
                       next_run(b, begin, end, false)));
}

static void step(struct both *b, struct fuzz_input *in)
{
    unsigned kind = fuzz_below(in, 3);
    unsigned begin = fuzz_below(in, BYTES), end = fuzz_below(in, BYTES);

    if (begin > end) {
        unsigned swap = begin;

        begin = end;
        end = swap;
    }
    if (kind == 0) {
        FUZZ_CHECK(xd_rangeset_add(&b->set, range(b, begin, end)) == 0);
        memset(b->bits + begin, true, end - begin);
    } else if (kind == 1) {
        FUZZ_CHECK(xd_rangeset_remove(&b->set, range(b, begin, end)) == 0);
        memset(b->bits + begin, false, end - begin);
    }
    check_form(b);
    check_answers(b, begin, end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    struct both b = {.base = fuzz_below(&in, 2) ? UINT64_MAX - BYTES : 0};

    xd_rangeset_init(&b.set);
    while (!fuzz_is_over(&in))
        step(&b, &in);
    xd_rangeset_fini(&b.set);
    return 0;
}
