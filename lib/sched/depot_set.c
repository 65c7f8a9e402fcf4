/* SPDX-License-Identifier: MIT */
#include "sched/depot_set.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

#define BITS 64U

static unsigned words_of(unsigned n)
{
    return n / BITS + 1;
}

int xd_depot_set_init(struct xd_depot_set *s, unsigned n)
{
    *s = (struct xd_depot_set){.n = n};
    s->words = xd_alloc(words_of(n), sizeof *s->words);
    s->summary = xd_alloc(words_of(words_of(n)), sizeof *s->summary);
    if (s->words != NULL && s->summary != NULL)
        return 0;
    xd_depot_set_fini(s);
    return XD_E_NOMEM;
}

int xd_depot_set_grow(struct xd_depot_set *s, unsigned n)
{
    unsigned before = words_of(s->n), after = words_of(n);

    if (xd_lengthen(&s->words, before, after, sizeof *s->words) < 0 ||
        xd_lengthen(&s->summary, words_of(before), words_of(after),
                    sizeof *s->summary) < 0)
        return XD_E_NOMEM;
    s->n = n;
    return 0;
}

void xd_depot_set_fini(struct xd_depot_set *s)
{
    xd_free(s->words);
    xd_free(s->summary);
    *s = (struct xd_depot_set){.n = 0};
}

static void put(uint64_t *words, unsigned i, bool is_in)
{
    uint64_t bit = UINT64_C(1) << (i % BITS);

    if (is_in)
        words[i / BITS] |= bit;
    else
        words[i / BITS] &= ~bit;
}

void xd_depot_set_put(struct xd_depot_set *s, unsigned depot, bool is_in)
{
    put(s->words, depot, is_in);
    put(s->summary, depot / BITS, s->words[depot / BITS] != 0);
}

static unsigned lowest_bit(uint64_t word)
{
    unsigned i = 0;

    for (unsigned width = BITS / 2; width > 0; width /= 2)
        if ((word & ((UINT64_C(1) << width) - 1)) == 0) {
            word >>= width;
            i += width;
        }
    return i;
}

/* Returns the first bit at or after `from` that is set among the first n, or
 * n. */
static unsigned next(const uint64_t *words, unsigned n, unsigned from)
{
    for (unsigned i = from / BITS; from < n && i < words_of(n); i++) {
        uint64_t word = words[i];

        if (i == from / BITS)
            word &= ~UINT64_C(0) << (from % BITS);
        if (word != 0)
            return i * BITS + lowest_bit(word);
    }
    return n;
}

unsigned xd_depot_set_next(const struct xd_depot_set *s, unsigned from)
{
    unsigned n_words = words_of(s->n), word = from / BITS, found;

    if (from >= s->n)
        return s->n;
    found = next(s->words, (word + 1) * BITS < s->n ? (word + 1) * BITS : s->n,
                 from);
    if (found < s->n && found < (word + 1) * BITS)
        return found;
    word = next(s->summary, n_words, word + 1);
    if (word == n_words)
        return s->n;
    return word * BITS + lowest_bit(s->words[word]);
}
