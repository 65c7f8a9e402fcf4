/* SPDX-License-Identifier: MIT */
#include "bench/subset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2^12 - 1 choices: with more depots they would take too long. */
#define ALL_SUBSETS_DEPOTS 12

struct parser {
    struct subsets *out;
    size_t n_depots;
    char *why;
    size_t why_size;
};

static subset first(size_t n)
{
    return n >= 64 ? ~(subset)0 : ((subset)1 << n) - 1;
}

size_t subset_count(subset s)
{
    size_t n = 0;

    for (; s != 0; s &= s - 1)
        n++;
    return n;
}

void subset_name(char out[SUBSET_NAME_SIZE], subset s)
{
    const size_t n = subset_count(s);
    size_t len = 0;

    if (s == first(n)) {
        snprintf(out, SUBSET_NAME_SIZE, "E%zu", n);
        return;
    }
    out[0] = '\0';
    for (unsigned i = 0; i < SUBSET_DEPOTS_MAX; i++)
        if (s >> i & 1)
            len += (size_t)snprintf(out + len, SUBSET_NAME_SIZE - len, "%s%u",
                                    len > 0 ? "+" : "", i + 1);
}

static bool add(struct parser *p, subset s)
{
    for (size_t i = 0; i < p->out->n; i++)
        if (p->out->items[i] == s)
            return true;
    subset *items = realloc(p->out->items, (p->out->n + 1) * sizeof *items);
    if (items == NULL) {
        snprintf(p->why, p->why_size, "out of memory");
        return false;
    }
    items[p->out->n++] = s;
    p->out->items = items;
    return true;
}

static bool add_chain(struct parser *p, size_t from, size_t to)
{
    for (size_t n = from; n <= to; n++)
        if (!add(p, first(n)))
            return false;
    return true;
}

static bool add_all(struct parser *p)
{
    if (p->n_depots > ALL_SUBSETS_DEPOTS) {
        snprintf(p->why, p->why_size,
                 "subsets: of %zu depots there are too many, only up to %d "
                 "depots have all their subsets tried",
                 p->n_depots, ALL_SUBSETS_DEPOTS);
        return false;
    }
    for (subset s = 1; s <= first(p->n_depots); s++)
        if (!add(p, s))
            return false;
    return true;
}

static bool add_drop_one(struct parser *p)
{
    const subset all = first(p->n_depots);

    if (!add(p, all))
        return false;
    for (size_t i = 0; p->n_depots > 1 && i < p->n_depots; i++)
        if (!add(p, all & ~((subset)1 << i)))
            return false;
    return true;
}

/* A number of depots at *at, which is moved behind it; 0: it is none. */
static size_t read_number(const struct parser *p, const char **at)
{
    char *end;
    const size_t len = strspn(*at, "0123456789");
    const unsigned long n = len > 0 && len < 5 ? strtoul(*at, &end, 10) : 0;

    if (n == 0 || n > p->n_depots)
        return 0;
    *at = end;
    return n;
}

static bool fail(const struct parser *p, const char *word)
{
    snprintf(p->why, p->why_size,
             "'%.80s' is no choice of %zu depots: use E1 to E%zu, a range such "
             "as E1-E%zu, chain, subsets, drop-one, or numbers such as 1+%zu",
             word, p->n_depots, p->n_depots, p->n_depots, p->n_depots);
    return false;
}

/* "E3" or "E1-E6" */
static bool add_first(struct parser *p, const char *word)
{
    const char *at = word + 1;
    const size_t from = read_number(p, &at);
    size_t to = from;

    if (strncmp(at, "-E", 2) == 0) {
        at += 2;
        to = read_number(p, &at);
    }
    if (from == 0 || to < from || *at != '\0')
        return fail(p, word);
    return add_chain(p, from, to);
}

/* "1+3+5" */
static bool add_numbers(struct parser *p, const char *word)
{
    const char *at = word;
    subset s = 0;

    for (;;) {
        const size_t n = read_number(p, &at);
        if (n == 0)
            return fail(p, word);
        s |= (subset)1 << (n - 1);
        if (*at == '\0')
            return add(p, s);
        if (*at++ != '+')
            return fail(p, word);
    }
}

static bool add_word(struct parser *p, const char *word)
{
    if (strcmp(word, "chain") == 0)
        return add_chain(p, 1, p->n_depots);
    if (strcmp(word, "subsets") == 0)
        return add_all(p);
    if (strcmp(word, "drop-one") == 0)
        return add_drop_one(p);
    if (strcmp(word, "all") == 0)
        return add(p, first(p->n_depots));
    if (word[0] == 'E' || word[0] == 'e')
        return add_first(p, word);
    return add_numbers(p, word);
}

bool subsets_parse(struct subsets *out, const char *text, size_t n_depots,
                   char *why, size_t size)
{
    struct parser p = {out, n_depots, why, size};
    bool good = true;

    *out = (struct subsets){NULL, 0};
    if (n_depots > SUBSET_DEPOTS_MAX) {
        snprintf(why, size,
                 "there are %zu depots, and at most %d can be "
                 "chosen from",
                 n_depots, SUBSET_DEPOTS_MAX);
        return false;
    }
    for (; good; text++) {
        char word[SUBSET_NAME_SIZE];
        const size_t len = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(len < 199 ? len : 199), text);
        good = add_word(&p, word);
        text += len;
        if (*text == '\0')
            break;
    }
    if (good)
        return true;
    free(out->items);
    *out = (struct subsets){NULL, 0};
    return false;
}
