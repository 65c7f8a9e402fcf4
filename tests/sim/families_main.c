/* SPDX-License-Identifier: MIT */
/*
 *     families                       the table, 200 seeds of each family
 *     families -n 20 [-s FIRST] [-p POLICY] [FAMILY]...
 *     families --list                classes, parameters, bounds
 *     families --readers             what viewers wait, 200 seeds
 *     families --kept -n 20          what families.kept has
 *     families --bbr ...             with BBR in place of CUBIC
 *     families --print -n 1 [-p POLICY] FAMILY     the scenarios themselves
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

#define THREADS 2

/* Seeds on which the menu of show_fixed() is tried. */
#define MOST_TRIED 20U

struct table {
    const struct xd_family *family;
    unsigned policy;
    uint64_t first;
    unsigned n;
    bool has_bbr;
    struct xd_family_run *runs;
    atomic_uint next;
    atomic_bool failed;
};

static void *work(void *arg)
{
    struct table *t = arg;

    for (unsigned i; i = atomic_fetch_add(&t->next, 1), i < t->n;)
        if (xd_family_run(t->family, (enum xd_ruled_policy)t->policy,
                          t->first + i, t->has_bbr, &t->runs[i], NULL) < 0)
            atomic_store(&t->failed, true);
    return NULL;
}

static void measure(struct table *t)
{
    pthread_t threads[THREADS];

    atomic_store(&t->next, 0);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, t) != 0)
            abort();
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (atomic_load(&t->failed)) {
        fprintf(stderr,
                "families: %s: out of memory, or a scenario that "
                "cannot be read\n",
                t->family->name);
        exit(1);
    }
}

static struct xd_spread column(const struct table *t, size_t offset)
{
    double *values = malloc(t->n * sizeof *values);
    struct xd_spread s;

    if (!values)
        abort();
    for (unsigned i = 0; i < t->n; i++)
        memcpy(&values[i], (const char *)&t->runs[i] + offset, sizeof *values);
    s = xd_spread_of(values, t->n);
    free(values);
    return s;
}

#define COLUMN(t, field) column(t, offsetof(struct xd_family_run, field))

static void print_ratio(double ratio)
{
    if (isfinite(ratio))
        printf(" %.3f |", ratio);
    else
        printf(" none |");
}

static void print_row(const struct table *t, const char *name)
{
    const struct xd_spread over = COLUMN(t, over),
                           duplicates = COLUMN(t, duplicates);

    printf("| %s | %s |", t->family->name, name);
    print_ratio(over.median);
    print_ratio(over.p95);
    print_ratio(over.worst);
    printf(" %.1f %% | %.1f %% | %.0f | %.0f | %.0f | %.1f |\n",
           100 * duplicates.median, 100 * duplicates.p95,
           COLUMN(t, requests).median, COLUMN(t, in_vain).median,
           COLUMN(t, connections).median, COLUMN(t, cpu).median);
    fflush(stdout);
}

static void print_wait(struct xd_spread waited, struct xd_spread bound)
{
    printf(" %.2f | %.2f | %.2f |", waited.median, waited.p95, bound.median);
}

static void print_waits(const struct table *t, const char *name)
{
    printf("| %s | %s |", t->family->name, name);
    print_wait(COLUMN(t, start), COLUMN(t, start_bound));
    print_wait(COLUMN(t, stall), COLUMN(t, stall_bound));
    print_wait(COLUMN(t, seek), COLUMN(t, seek_bound));
    printf("\n");
    fflush(stdout);
}

static void print_scenarios(const struct table *t, const char *policy)
{
    for (unsigned i = 0; i < t->n; i++) {
        struct xd_text text = {.s = NULL};

        if (xd_family_run(t->family, (enum xd_ruled_policy)t->policy,
                          t->first + i, t->has_bbr, &t->runs[i], &text) < 0)
            exit(1);
        printf("# %s, seed %llu, %llu bytes: %s takes %.3f s, %.3f of its "
               "bound\n%s",
               t->family->name, (unsigned long long)(t->first + i),
               (unsigned long long)t->runs[i].size, policy, t->runs[i].seconds,
               t->runs[i].over, text.s);
        xd_text_fini(&text);
    }
}

static void list(void)
{
    printf(
        "| family | class | parameters | bound |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < xd_n_families; i++)
        printf("| %s | %s | %s | %s |\n", xd_families[i].name,
               xd_families[i].class, xd_families[i].parameters,
               xd_families[i].bound);
}

/* What was asked for. */
struct command {
    bool prints, keeps, is_of_readers;
    const char *only; /* a policy; NULL: all */
    char **families;  /* of these, if any */
    int n_families;
};

static bool is_named(const struct command *c, const struct xd_family *f)
{
    bool is_there = c->n_families == 0;

    for (int i = 0; i < c->n_families; i++)
        is_there |= strcmp(c->families[i], f->name) == 0;
    return is_there && (!c->is_of_readers || strcmp(f->class, "readers") == 0);
}

static void print_head(const struct command *c)
{
    if (c->prints || c->keeps)
        return;
    if (c->is_of_readers)
        printf("| family | policy | first byte, s: median | p95 | bound | "
               "stalls, s: median | p95 | bound | after a seek, s: median | "
               "p95 | bound |\n");
    else
        printf("| family | policy | time / bound: median | p95 | worst | "
               "duplicates: median | p95 | requests | in vain | connections | "
               "CPU us per decision |\n");
    printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | "
           "--- |\n");
}

struct named_policy {
    const char *name;
    unsigned policy;
    bool is_asked_for; /* it is in the table only then */
};

static const struct named_policy policies[] = {
    {"adaptive", XD_RULED_ADAPTIVE, false},
    {"adaptive2", XD_RULED_ADAPTIVE2, true},
    {"basic", XD_RULED_BASIC, false},
    {"progress", XD_RULED_PROGRESS, false},
    {"aria2", XD_RULED_FIXED, false}};
#define N_POLICIES (sizeof policies / sizeof *policies)

static bool is_wanted(const struct command *c, const struct named_policy *p)
{
    return c->only ? strcmp(c->only, p->name) == 0 : !p->is_asked_for;
}

static void show_policy(const struct command *c, struct table *t,
                        const struct named_policy *p)
{
    t->policy = p->policy;
    if (c->prints) {
        print_scenarios(t, p->name);
        return;
    }
    measure(t);
    if (c->is_of_readers)
        print_waits(t, p->name);
    else
        print_row(t, p->name);
}

static bool can_run(const struct xd_family *f, const struct named_policy *p)
{
    return p->policy < XD_RULED_FIXED || !f->is_foreign;
}

/* The geometric mean, in which no end counts as 100 times the bound. */
static double mean_of(const struct table *t)
{
    double sum = 0;

    for (unsigned i = 0; i < t->n; i++)
        sum += log(fmin(t->runs[i].over, 100));
    return exp(sum / t->n);
}

/* The best client with fixed rules: what can be had by who knows the family, and not
 * the draw. */
static void show_fixed(const struct command *c, struct table *t)
{
    const unsigned n = t->n;
    double least = (double)INFINITY;
    unsigned best = 1;
    char name[64] = "fixed: ";

    if (c->only && strcmp(c->only, "fixed") != 0)
        return;
    t->n = n < MOST_TRIED ? n : MOST_TRIED;
    for (unsigned i = 1; i < xd_n_fixed; i++) {
        t->policy = XD_RULED_FIXED + i;
        measure(t);
        if (mean_of(t) < least) {
            least = mean_of(t);
            best = i;
        }
    }
    t->n = n;
    t->policy = XD_RULED_FIXED + best;
    measure(t);
    xd_fixed_name(best, name + strlen(name), sizeof name - strlen(name));
    print_row(t, name);
}

static void show_family(const struct command *c, struct table *t)
{
    if (c->keeps) {
        t->policy = XD_RULED_ADAPTIVE;
        measure(t);
        printf("%s %.4f\n", t->family->name, COLUMN(t, over).median);
        return;
    }
    for (size_t i = 0; i < N_POLICIES; i++)
        if (is_wanted(c, &policies[i]) && can_run(t->family, &policies[i]))
            show_policy(c, t, &policies[i]);
    if (!c->prints && strcmp(t->family->class, "hidden") == 0)
        show_fixed(c, t);
}

/* False: it is not to be understood. */
static bool read_words(struct command *c, struct table *t, int argc,
                       char **argv)
{
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--print") == 0)
            c->prints = true;
        else if (strcmp(argv[i], "--kept") == 0)
            c->keeps = true;
        else if (strcmp(argv[i], "--readers") == 0)
            c->is_of_readers = true;
        else if (strcmp(argv[i], "--bbr") == 0)
            t->has_bbr = true;
        else if (i + 1 < argc && strcmp(argv[i], "-n") == 0)
            t->n = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "-s") == 0)
            t->first = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "-p") == 0)
            c->only = argv[++i];
        else
            return false;
    }
    c->families = argv + i;
    c->n_families = argc - i;
    if (c->prints && !c->only)
        c->only = "adaptive";
    return t->n > 0;
}

int main(int argc, char **argv)
{
    struct table t = {.first = 1, .n = 200};
    struct command c = {.only = NULL};

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    if (!read_words(&c, &t, argc, argv)) {
        fprintf(stderr, "usage: families [--list] [--print] [--kept] "
                        "[--readers] [--bbr] [-n SEEDS] [-s FIRST] [-p POLICY] "
                        "[FAMILY]...\n");
        return 2;
    }
    t.runs = calloc(t.n, sizeof *t.runs);
    if (!t.runs)
        abort();
    print_head(&c);
    for (size_t f = 0; f < xd_n_families; f++) {
        t.family = &xd_families[f];
        if (is_named(&c, t.family))
            show_family(&c, &t);
    }
    free(t.runs);
    return 0;
}
