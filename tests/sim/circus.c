/* SPDX-License-Identifier: MIT */
/*
 * The figures of Circus (FAST 2004) in virtual time: README.md.
 *
 *     circus all|loads|sizes|files|blocks|queues|thresholds|leapfront|memory|
 *            hints [--memory MB] [--process MB] [--runs N] [--seed N] [--until S] [--data]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circus_figures.h"

static const struct {
    const char *name;
    void (*print)(const struct circus_figures *f);
} figures[] = {
    {"loads", circus_loads},         {"sizes", circus_sizes},
    {"files", circus_files},         {"blocks", circus_blocks},
    {"queues", circus_queues},       {"thresholds", circus_thresholds},
    {"leapfront", circus_leapfront}, {"memory", circus_memory},
    {"hints", circus_hints}};

static int usage(void)
{
    fprintf(stderr,
            "usage: circus all|loads|sizes|files|blocks|queues|"
            "thresholds|leapfront|memory|hints\n"
            "              [--memory MB] [--process MB] [--runs N] [--seed N] "
            "[--until S] [--data]\n");
    return 2;
}

static bool set(struct circus_figures *f, const char *name, const char *value)
{
    char *end;
    const double n = strtod(value, &end);

    if (*end != '\0' || !(n >= (strcmp(name, "--process") == 0 ? 0 : 1)))
        return false;
    if (strcmp(name, "--process") == 0)
        f->o.client_bytes = (uint64_t)(n * 1048576);
    else if (strcmp(name, "--memory") == 0)
        f->o.memory_bytes = (uint64_t)(n * 1048576);
    else if (strcmp(name, "--runs") == 0)
        f->n_runs = (unsigned)n;
    else if (strcmp(name, "--seed") == 0)
        f->o.seed = (uint64_t)n;
    else if (strcmp(name, "--until") == 0)
        f->o.until_s = n;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    struct circus_figures f = {.o = one_depot_paper(), .n_runs = 3};
    bool is_known = false;

    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--data") == 0)
            f.is_data = true;
        else if (i + 1 == argc || !set(&f, argv[i], argv[i + 1]))
            return usage();
        else
            i++;
    }
    for (size_t i = 0; argc > 1 && i < sizeof figures / sizeof figures[0]; i++)
        if (strcmp(argv[1], "all") == 0 ||
            strcmp(argv[1], figures[i].name) == 0) {
            figures[i].print(&f);
            is_known = true;
        }
    return is_known ? 0 : usage();
}
