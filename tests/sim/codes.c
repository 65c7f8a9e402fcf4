/* SPDX-License-Identifier: MIT */
#include "codes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "sim/net.h"

/* The objects of copies as well. */
#define SHARD_BYTES (UINT64_C(512) << 10)

#define MOST_SEEDS 64
#define N_LAYOUTS 4

struct layout {
    const char *name;
    struct xd_sim_code code;
    unsigned copies;
    bool ignores_late;
};

/* On so many depots. */
struct comparison {
    unsigned n_depots;
    struct layout layouts[N_LAYOUTS];
};

static const struct comparison comparisons[] = {
    {8,
     {{"1 copy", {0, 0}, 1, false},
      {"2 copies", {0, 0}, 2, false},
      {"4+4", {4, 8}, 0, false},
      {"4+4, late ones ignored", {4, 8}, 0, true}}},
    {6,
     {{"1 copy", {0, 0}, 1, false},
      {"3 copies", {0, 0}, 3, false},
      {"4+2", {4, 6}, 0, false},
      {"4+2, late ones ignored", {4, 6}, 0, true}}},
    {10,
     {{"1 copy", {0, 0}, 1, false},
      {"3 copies", {0, 0}, 3, false},
      {"8+2", {8, 10}, 0, false},
      {"8+2, late ones ignored", {8, 10}, 0, true}}},
};

#define N_COMPARISONS (sizeof comparisons / sizeof *comparisons)

/* Unequal: the rate of the last is half that of the first. */
static const struct {
    unsigned mbit, rtt_ms;
} depots[] = {{32, 20},  {16, 80}, {24, 100}, {20, 40}, {28, 60},
              {18, 140}, {30, 30}, {22, 120}, {26, 70}, {17, 50}};

/* What is bad of so many depots: another rate, a word, or what befalls them. */
static const struct kind {
    const char *name;
    unsigned n_bad, slower;
    const char *word, *later;
} kinds[] = {
    {"all are live", 0, 1, "", ""},
    {"one is slow (1/20)", 1, 20, "", ""},
    {"two are slow", 2, 20, "", ""},
    {"one is dead (silent)", 1, 1, " down", ""},
    {"two are dead (silent)", 2, 1, " down", ""},
    {"two are dead (refuse)", 2, 1, " refuses", ""},
    {"one dies (6 s)", 1, 1, "", "down"},
    {"two die (6 s)", 2, 1, "", "down"},
    {"one lies", 1, 1, " lies", ""},
    {"two lie", 2, 1, " lies", ""},
};

#define N_KINDS (sizeof kinds / sizeof *kinds)

/* Whether that depot is one of the bad ones: `first`, and `distance` behind it. */
static bool is_bad(const struct kind *k, unsigned depot, unsigned n,
                   uint64_t seed)
{
    uint64_t luck = seed;
    const unsigned first = (unsigned)(xd_sim_random(&luck) % n),
                   distance = 1 + (unsigned)(xd_sim_random(&luck) % (n - 1));

    return (k->n_bad > 0 && depot == first) ||
           (k->n_bad > 1 && depot == (first + distance) % n);
}

static void write_scenario(struct xd_text *out, const struct kind *k,
                           unsigned n, uint64_t seed)
{
    xd_text_addf(out, "client rate=400mbit queue=1m\n");
    for (unsigned i = 0; i < n; i++) {
        const bool bad = is_bad(k, i, n, seed);

        xd_text_addf(out,
                     "depot d%u 10.0.0.%u rate=%ukbit rtt=%ums queue=256k%s\n",
                     i, i, depots[i].mbit * 1000 / (bad ? k->slower : 1),
                     depots[i].rtt_ms, bad ? k->word : "");
        if (bad && k->later[0] != '\0')
            xd_text_addf(out, "at 6s d%u %s\n", i, k->later);
    }
}

/* Of one run. */
struct outcome {
    double seconds, limit; /* infinity: it fails, or has to */
    double vain;           /* bytes that came for nothing, in files */
    double parity;         /* bytes, in files */
};

static bool run(const struct comparison *c, const struct layout *l,
                const struct kind *k, struct xd_sim_options o,
                struct outcome *out)
{
    struct xd_text text = {.s = NULL};
    struct xd_error err = {0};
    struct xd_sim_result r;
    struct xd_scenario s;
    bool is_done;

    o.object_bytes = o.piece_bytes = SHARD_BYTES;
    o.code = l->code;
    o.copies = l->copies;
    o.ignores_late = l->ignores_late;
    write_scenario(&text, k, c->n_depots, o.seed);
    is_done = !text.failed && xd_scenario_parse(&s, text.s, &err) == 0;
    xd_text_fini(&text);
    if (!is_done)
        return false;
    is_done =
        xd_sim_limit(&s, &o, &out->limit) == 0 && xd_sim_run(&s, &o, &r) == 0;
    if (is_done) {
        out->seconds =
            r.is_complete ? (double)r.took / XD_SECOND : (double)INFINITY;
        out->vain = (double)r.wire / (double)o.size - 1;
        out->parity = 0;
        for (size_t i = 0; i < r.n_depots; i++)
            out->parity += (double)r.depots[i].parity / (double)o.size;
        if (r.broken != XD_RULE_NONE)
            fprintf(stderr, "%s, %s, seed %llu: broken: %s\n", l->name, k->name,
                    (unsigned long long)o.seed, xd_rule_text(r.broken));
        xd_sim_result_fini(&r);
    }
    xd_scenario_fini(&s);
    return is_done;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Of those that did not fail. */
static double median(const struct outcome *list, size_t n,
                     double (*value)(const struct outcome *o))
{
    double values[MOST_SEEDS];
    size_t n_values = 0;

    for (size_t i = 0; i < n; i++)
        if (!isinf(list[i].seconds))
            values[n_values++] = value(&list[i]);
    qsort(values, n_values, sizeof *values, by_value);
    return n_values > 0 ? values[n_values / 2] : 0;
}

static double seconds_of(const struct outcome *o)
{
    return o->seconds;
}

static double multiple_of(const struct outcome *o)
{
    return o->seconds / o->limit;
}

static double vain_of(const struct outcome *o)
{
    return o->vain;
}

static double parity_of(const struct outcome *o)
{
    return o->parity;
}

static void print_cell(const struct outcome *list, size_t n, bool has_parity)
{
    double worst = 0;
    size_t n_failed = 0;

    for (size_t i = 0; i < n; i++)
        if (isinf(list[i].seconds))
            n_failed++;
        else
            worst = fmax(worst, list[i].seconds);
    if (n_failed == n) {
        printf(" fails |");
        return;
    }
    printf(" %.1f (%.1f) s, %.2f x, %.1f %%", median(list, n, seconds_of),
           worst, median(list, n, multiple_of), 100 * median(list, n, vain_of));
    if (has_parity)
        printf(", %.0f %%", 100 * median(list, n, parity_of));
    if (n_failed > 0)
        printf("; fails %zu of %zu", n_failed, n);
    printf(" |");
}

static bool print_row(const struct comparison *c, const struct kind *k,
                      struct xd_sim_options o, unsigned seeds)
{
    struct outcome list[MOST_SEEDS];
    const uint64_t first = o.seed;

    printf("| %s |", k->name);
    for (size_t i = 0; i < N_LAYOUTS; i++) {
        for (unsigned j = 0; j < seeds; j++) {
            o.seed = first + j;
            if (!run(c, &c->layouts[i], k, o, &list[j]))
                return false;
        }
        print_cell(list, seeds, c->layouts[i].code.k > 0);
        fflush(stdout);
    }
    printf("\n");
    return true;
}

static double stored(const struct layout *l)
{
    return l->code.k > 0 ? (double)l->code.n / l->code.k : l->copies;
}

bool xd_print_codes(const struct xd_sim_options *o, unsigned seeds)
{
    if (seeds > MOST_SEEDS)
        seeds = MOST_SEEDS;
    for (size_t i = 0; i < N_COMPARISONS; i++) {
        const struct comparison *c = &comparisons[i];

        printf("| %u depots |", c->n_depots);
        for (size_t j = 0; j < N_LAYOUTS; j++)
            printf(" %s: stored %.2f x |", c->layouts[j].name,
                   stored(&c->layouts[j]));
        printf("\n| --- | --- | --- | --- | --- |\n");
        for (size_t j = 0; j < N_KINDS; j++)
            if (!print_row(c, &kinds[j], *o, seeds))
                return false;
        printf("\n");
    }
    return true;
}
