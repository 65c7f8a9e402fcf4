/* SPDX-License-Identifier: MIT */
#include "bench/subset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit for "subsets".  12 depots have 2^12 - 1 subsets; the runs for more
 * depots would take too long. */
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
    bool good = true;

    for (size_t n = from; good && n <= to; n++)
        good = add(p, first(n));
    return good;
}

static bool add_all(struct parser *p)
{
    bool good = true;

    if (p->n_depots > ALL_SUBSETS_DEPOTS) {
        snprintf(p->why, p->why_size,
                 "subsets: of %zu depots there are too many, only up to %d "
                 "depots have all their subsets tried",
                 p->n_depots, ALL_SUBSETS_DEPOTS);
        return false;
    }
    for (subset s = 1; good && s <= first(p->n_depots); s++)
        good = add(p, s);
    return good;
}

static bool add_drop_one(struct parser *p)
{
    const subset all = first(p->n_depots);
    bool good = add(p, all);

    for (size_t i = 0; good && p->n_depots > 1 && i < p->n_depots; i++)
        good = add(p, all & ~((subset)1 << i));
    return good;
}

/* Reads the number of a depot at *at, and moves *at past it.  Returns 0 if
 * there is no number. */
static size_t read_number(const struct parser *p, const char **at)
{
    const size_t len = strspn(*at, "0123456789");
    const unsigned long n = len > 0 && len < 5 ? strtoul(*at, NULL, 10) : 0;

    *at += len;
    return n <= p->n_depots ? n : 0;
}

/* Reads a word like "E3" or "E1-E6". */
static bool read_chain(const struct parser *p, const char *at, size_t *out_from,
                       size_t *out_to)
{
    at++;
    *out_from = *out_to = read_number(p, &at);
    if (strncmp(at, "-E", 2) == 0) {
        at += 2;
        *out_to = read_number(p, &at);
    }
    return *out_from > 0 && *out_to >= *out_from && *at == '\0';
}

/* Reads a word like "1+3+5".  Returns 0 if the word has another form. */
static subset read_numbers(const struct parser *p, const char *at)
{
    subset s = 0;

    for (;; at++) {
        const size_t n = read_number(p, &at);
        if (n == 0 || (*at != '+' && *at != '\0'))
            return 0;
        s |= (subset)1 << (n - 1);
        if (*at == '\0')
            return s;
    }
}

static bool add_word(struct parser *p, const char *word)
{
    const size_t n = p->n_depots;
    size_t from, to;
    subset s;

    if (strcmp(word, "chain") == 0)
        return add_chain(p, 1, n);
    if (strcmp(word, "subsets") == 0)
        return add_all(p);
    if (strcmp(word, "drop-one") == 0)
        return add_drop_one(p);
    if (strcmp(word, "all") == 0)
        return add(p, first(n));
    if ((word[0] == 'E' || word[0] == 'e') && read_chain(p, word, &from, &to))
        return add_chain(p, from, to);
    if ((s = read_numbers(p, word)) != 0)
        return add(p, s);
    snprintf(p->why, p->why_size,
             "'%.80s' is no choice of %zu depots: use E1 to E%zu, a range such "
             "as E1-E%zu, chain, subsets, drop-one, or numbers such as 1+%zu",
             word, n, n, n, n);
    return false;
}

bool subsets_parse(struct subsets *out, const char *text, size_t n_depots,
                   char *why, size_t size)
{
    struct parser p = {out, n_depots, why, size};
    bool good = n_depots <= SUBSET_DEPOTS_MAX;

    *out = (struct subsets){NULL, 0};
    if (!good)
        snprintf(why, size,
                 "there are %zu depots, and at most %d can be chosen from",
                 n_depots, SUBSET_DEPOTS_MAX);
    for (const char *end; good; text = end + 1) {
        char word[SUBSET_NAME_SIZE];
        end = text + strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(end - text), text);
        good = add_word(&p, word);
        if (*end == '\0')
            break;
    }
    if (good)
        return true;
    free(out->items);
    *out = (struct subsets){NULL, 0};
    return false;
}
