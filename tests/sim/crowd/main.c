/* SPDX-License-Identifier: MIT */
/*
 * Crowds of clients in virtual time, as tables: README.md.
 *
 *     crowd live|chunks|coblitz|ours|fair|grow|window     an experiment
 *     crowd run --clients 40 --nodes 5 --warm ...         one crowd
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#define MIB ((uint64_t)1 << 20)

static double number(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (*end == 'm')
        value *= (double)MIB;
    else if (*end == 'k')
        value *= 1024;
    return value;
}

static bool set(struct crowd_setup *s, const char *name, const char *value)
{
    const double n = number(value);
    const struct {
        const char *name;
        double *field;
    } reals[] = {{"--client-mbit", &s->client_mbit},
                 {"--node-mbit", &s->node_mbit},
                 {"--origin-mbit", &s->origin_mbit},
                 {"--rtt", &s->rtt_ms},
                 {"--spread", &s->spread_s},
                 {"--poisson", &s->poisson_s},
                 {"--dies", &s->dies_s},
                 {"--mute", &s->mutes_s},
                 {"--slow", &s->slows_s},
                 {"--step", &s->step_ms},
                 {"--silence", &s->silence_s},
                 {"--unseen", &s->unseen},
                 {"--poll", &s->poll_s},
                 {"--devs", &s->window.deadline_devs},
                 {"--most", &s->window.most}};
    const struct {
        const char *name;
        uint64_t *field;
    } sizes[] = {{"--size", &s->size},
                 {"--chunk", &s->chunk},
                 {"--memory", &s->memory},
                 {"--seed", &s->seed}};
    const struct {
        const char *name;
        unsigned *field;
    } counts[] = {{"--clients", &s->n_clients},
                  {"--nodes", &s->n_nodes},
                  {"--copies", &s->copies},
                  {"--lanes", &s->lanes},
                  {"--first-lanes", &s->first_lanes},
                  {"--hops", &s->hops},
                  {"--plain", &s->n_plain}};

    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (strcmp(name, reals[i].name) == 0)
            return *reals[i].field = n, true;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(name, sizes[i].name) == 0)
            return *sizes[i].field = (uint64_t)n, true;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (strcmp(name, counts[i].name) == 0)
            return *counts[i].field = (unsigned)n, true;
    return false;
}

static bool set_switch(struct crowd_setup *s, const char *name)
{
    if (strcmp(name, "--planetlab") == 0)
        return *s = crowd_planetlab(), true;
    if (strcmp(name, "--warm") == 0)
        return s->is_warm = true;
    if (strcmp(name, "--checked") == 0)
        return s->is_checked = true;
    if (strcmp(name, "--ours") == 0)
        return s->kind = XD_CROWD_SESSION, true;
    if (strcmp(name, "--mesh") == 0)
        return s->has_peers = false, true;
    if (strcmp(name, "--window") == 0)
        return s->kind = XD_CROWD_WINDOW, true;
    if (strcmp(name, "--fixed") == 0)
        return s->window.is_fixed = true;
    if (strcmp(name, "--in-order") == 0)
        return s->window.is_in_order = true;
    if (strcmp(name, "--from-origin") == 0)
        return s->asks_origin = true;
    return false;
}

static void run(int argc, char **argv)
{
    struct crowd_setup s = crowd_live();
    struct xd_crowd_result r;
    struct crowd_summary sum;
    double began;

    for (int i = 0; i < argc; i++) {
        if (set_switch(&s, argv[i]))
            continue;
        if (i + 1 == argc || !set(&s, argv[i], argv[i + 1])) {
            fprintf(stderr, "crowd: no such option: %s\n", argv[i]);
            exit(2);
        }
        i++;
    }
    began = crowd_processor();
    sum = crowd_run(&s, &r);
    crowd_head("crowd");
    crowd_row("run", &sum);
    printf("\nlimit %.1f s, layout %.1f s; Mbit/s mean %.2f median %.2f 90th "
           "%.2f; retries %.1f failures %.1f; chunk asked of the origin %u to "
           "%u times, at "
           "most %u at a time\n",
           crowd_line_limit(&s), crowd_layout_limit(&s), sum.mbit_mean,
           sum.mbit_median, sum.mbit_p90, sum.retries, sum.failures, sum.least,
           sum.most, r.origin_most);
    printf(
        "%.1f s of the processor, %.0f MiB, %llu steps, %llu transfers, %llu "
        "decisions\n",
        crowd_processor() - began, crowd_peak_mib(),
        (unsigned long long)r.n_steps, (unsigned long long)r.n_flows,
        (unsigned long long)r.n_decisions);
    xd_crowd_result_fini(&r);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } tables[] = {
        {"live", crowd_live_table},       {"chunks", crowd_chunks_table},
        {"coblitz", crowd_coblitz_table}, {"ours", crowd_planetlab_ours_table},
        {"fair", crowd_fair_table},       {"grow", crowd_grow_table},
        {"window", crowd_window_table}};

    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return run(argc - 2, argv + 2), 0;
    for (size_t i = 0; argc == 2 && i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(argv[1], tables[i].name) == 0)
            return tables[i].print(), 0;
    fprintf(stderr, "usage: crowd live|chunks|coblitz|ours|fair|grow|window\n"
                    "       crowd run [OPTION]...\n");
    return 2;
}
