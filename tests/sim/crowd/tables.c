/* SPDX-License-Identifier: MIT */
/* The experiments of README.md. */
#include "tables.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

void crowd_head(const char *first)
{
    printf(
        "\n| %s | done | origin sent, files | between nodes, files | first s "
        "| median s | last s | fairness | duplicate bytes | requests each | "
        "failures each |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        "\n",
        first);
}

void crowd_row(const char *name, const struct crowd_summary *sum)
{
    printf("| %s | %u of %u%s | %.2f | %.2f | %.1f | %.1f | %.1f | %.3f | "
           "%.1f %% | %.0f | %.1f |\n",
           name, sum->n_done, sum->n_done + sum->n_failed,
           sum->n_broken > 0 ? " (a rule is broken)" : "", sum->origin,
           sum->hops, sum->first, sum->median, sum->last, sum->fairness,
           100 * sum->redundant, sum->requests, sum->failures);
    fflush(stdout);
}

static void run_row(const char *name, const struct crowd_setup *s)
{
    const struct crowd_summary sum = crowd_run(s, NULL);

    crowd_row(name, &sum);
}

/* ---- the set-up of the mesh's live test ---- */

void crowd_live_table(void)
{
    struct crowd_setup s = crowd_live(), fault = s;

    printf("The lines allow %.1f s for all, those of each chunk's two nodes "
           "%.1f s.\n",
           crowd_line_limit(&s), crowd_layout_limit(&s));
    crowd_head("40 clients, 5 nodes, 4 MiB chunks");
    run_row("cold, two hops", &s);
    s.hops = 1;
    run_row("cold, one hop", &s);
    s.hops = 2;
    s.is_warm = true;
    run_row("warm", &s);
    s.is_warm = false;
    fault.dies_s = 40;
    run_row("cold, two hops, a node dies at 40 s", &fault);
    fault.dies_s = 3;
    run_row("the same at 3 s", &fault);
    fault.dies_s = 0;
    fault.mutes_s = 40;
    run_row("cold, two hops, a node is silent from 40 s", &fault);
    fault.mutes_s = 0;
    fault.slows_s = 40;
    run_row("cold, two hops, a node has 0.5 Mbit/s from 40 s", &fault);
    s.memory = 8 * MIB;
    run_row("cold, two hops, nodes have room for 2 chunks", &s);
}

/* ---- how long a chunk should be ---- */

void crowd_chunks_table(void)
{
    static const uint64_t chunks[] = {256, 512, 1024, 2048, 4096, 8192};

    printf(
        "\n| chunk KiB | warm: last s | duplicate bytes | cold, two hops: last "
        "s | origin, files | failures each | the same with a silence of 60 s: "
        "last s | cold, one hop: last s | origin, files | one client, cold: s "
        "|\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        struct crowd_setup s = crowd_live();
        struct crowd_summary warm, cold, patient, one, lone;

        s.chunk = chunks[i] * KIB;
        s.step_ms = 5;
        cold = crowd_run(&s, NULL);
        s.silence_s = 60;
        patient = crowd_run(&s, NULL);
        s.hops = 1;
        one = crowd_run(&s, NULL);
        s.is_warm = true;
        warm = crowd_run(&s, NULL);
        s.is_warm = false;
        s.hops = 2;
        s.n_clients = 1;
        lone = crowd_run(&s, NULL);
        printf("| %llu | %.1f | %.1f %% | %.1f | %.2f | %.1f | %.1f | %.1f | "
               "%.2f | %.1f |\n",
               (unsigned long long)chunks[i], warm.last, 100 * warm.redundant,
               cold.last, cold.origin, cold.failures, patient.last, one.last,
               one.origin, lone.last);
        fflush(stdout);
    }
}

/* ---- CoBlitz ---- */

static void paper_row(const char *name, const char *paper,
                      const struct crowd_setup *s)
{
    const struct crowd_summary sum = crowd_run(s, NULL);

    printf("| %s | %s | %.1f (%u to %u) | %.2f | %.2f | %.1f | %.1f %% | %.1f "
           "%% |\n",
           name, paper, sum.origin, sum.least, sum.most, sum.mbit_mean,
           sum.mbit_median, sum.median, 100 * sum.redundant,
           100 * sum.retries * (double)s->chunk / (double)s->size);
    fflush(stdout);
}

void crowd_coblitz_table(void)
{
    struct crowd_setup s = crowd_planetlab(), direct = s;

    printf(
        "\n| 380 nodes, 50 MB | paper: origin; mean, median Mbit/s; median s | "
        "origin, files (each chunk) | mean Mbit/s | median Mbit/s | median s "
        "| duplicate bytes | chunks asked again |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    direct.n_plain = direct.n_clients;
    direct.asks_origin = true;
    paper_row("direct", "-; 0.23, 0.20; 1618", &direct);
    s.window.is_in_order = true;
    paper_row("in order, at once", "7.0; 2.50, 2.78; 144", &s);
    s.spread_s = 40;
    paper_row("in order, staggered", "9.0; 2.99, 3.26; 142", &s);
    s.spread_s = 1;
    s.is_warm = true;
    paper_row("in order, cached", "-; 3.51, 3.65; 110", &s);
    s.window.is_in_order = false;
    paper_row("out of order, cached", "-; 4.36, 4.08; 98", &s);
    s.is_warm = false;
    paper_row("out of order, at once", "7.9; 2.91, 3.15; 127", &s);
    s.spread_s = 40;
    paper_row("out of order, staggered", "9.0; 3.68, 3.78; 125", &s);
    s.spread_s = 1;
    s.unseen = 0;
    paper_row("out of order, at once, all near peers seen", "", &s);
    s.has_peers = false;
    paper_row("their agent, mesh in which all know all", "", &s);
}

/* With so many clients as take minutes. */
void crowd_planetlab_ours_table(void)
{
    struct crowd_setup s = crowd_planetlab();

    s.n_clients = 40;
    crowd_head("40 clients, 380 nodes, 50 MB, cold");
    run_row("CoBlitz", &s);
    s.has_peers = false;
    run_row("their agent, 60 kB chunks, mesh of two hops", &s);
    s.kind = XD_CROWD_SESSION;
    s.copies = 2;
    s.chunk = 1000000;
    run_row("xdownload, 1 MB chunks, the same mesh", &s);
}

/* ---- fairness ---- */

static void print_group(const struct crowd_setup *s,
                        const struct xd_crowd_result *r, size_t from, size_t to)
{
    const struct crowd_summary sum = crowd_sum(s, r, from, to);

    if (from < to)
        printf("| %.2f | %.3f ", sum.mbit_mean, sum.fairness);
    else
        printf("| - | - ");
}

static void beside(const char *name, const struct crowd_setup *s)
{
    const size_t n = s->n_clients - s->n_plain;
    struct xd_crowd_result r;

    crowd_run(s, &r);
    printf("| %s ", name);
    print_group(s, &r, 0, n);
    print_group(s, &r, n, s->n_clients);
    printf("|\n");
    fflush(stdout);
    xd_crowd_result_fini(&r);
}

void crowd_fair_table(void)
{
    struct crowd_setup s = crowd_live();

    printf(
        "\n| warm, 1 MiB chunks | ours: mean Mbit/s | fairness | plain: mean "
        "Mbit/s | fairness |\n"
        "| --- | --- | --- | --- | --- | --- |\n");
    s.is_warm = true;
    s.chunk = MIB;
    beside("40 of ours", &s);
    s.lanes = 1;
    s.first_lanes = 0;
    beside("40 of ours, one request at a time for each node (`-t 1`)", &s);
    s.n_plain = 40;
    s.client_mbit = 50;
    beside("40 plain, each at one node", &s);
    s.lanes = 6;
    s.first_lanes = 2;
    s.n_plain = 20;
    beside("20 of ours, 20 plain", &s);
    s.n_plain = 39;
    beside("1 of ours, 39 plain", &s);
    s.n_plain = 20;
    s.lanes = 1;
    s.first_lanes = 0;
    beside("20 of ours (`-t 1`), 20 plain", &s);
    s.n_plain = 39;
    beside("1 of ours (`-t 1`), 39 plain", &s);
}

/* ---- growth ---- */

double crowd_processor(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

double crowd_peak_mib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* The peak of memory is that of the program so far. */
void crowd_grow_table(void)
{
    static const unsigned sizes[][2] = {{10, 10},   {100, 10},  {10, 100},
                                        {100, 30},  {100, 100}, {300, 100},
                                        {1000, 10}, {1000, 100}};

    printf("\n| clients | nodes | origin, files | last s | lines: s | layout: "
           "s | steps | "
           "transfers | decisions | processor s | MiB at most |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- "
           "|\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct crowd_setup s = crowd_live();
        struct xd_crowd_result r;
        struct crowd_summary sum;
        const double began = crowd_processor();

        s.n_clients = sizes[i][0];
        s.n_nodes = sizes[i][1];
        s.size = 16 * MIB;
        s.chunk = 256 * KIB;
        s.step_ms = 20;
        sum = crowd_run(&s, &r);
        printf("| %u | %u | %.2f | %.1f | %.1f | %.1f | %llu | %llu | %llu | "
               "%.1f | "
               "%.0f |\n",
               s.n_clients, s.n_nodes, sum.origin, sum.last,
               crowd_line_limit(&s), crowd_layout_limit(&s),
               (unsigned long long)r.n_steps, (unsigned long long)r.n_flows,
               (unsigned long long)r.n_decisions, crowd_processor() - began,
               crowd_peak_mib());
        fflush(stdout);
        xd_crowd_result_fini(&r);
    }
}

/* ---- their window against ours ---- */

static void compare(const char *name, struct crowd_setup s)
{
    char text[128];

    snprintf(text, sizeof text, "xdownload, %s", name);
    run_row(text, &s);
    s.kind = XD_CROWD_WINDOW;
    snprintf(text, sizeof text, "window, %s", name);
    run_row(text, &s);
    s.window.latest = 60 * XD_SECOND;
    snprintf(text, sizeof text, "window, deadlines up to 60 s, %s", name);
    run_row(text, &s);
    s.window.is_fixed = true;
    s.window.most = 10;
    snprintf(text, sizeof text, "always 10, deadlines up to 60 s, %s", name);
    run_row(text, &s);
}

void crowd_window_table(void)
{
    struct crowd_setup s = crowd_live();

    s.step_ms = 5;
    crowd_head("40 clients, 5 nodes");
    compare("4 MiB, cold", s);
    s.is_warm = true;
    compare("4 MiB, warm", s);
    s.chunk = MIB;
    compare("1 MiB, warm", s);
    s.is_warm = false;
    compare("1 MiB, cold", s);
    s.chunk = 64 * KIB;
    compare("64 KiB, cold", s);
    s.chunk = MIB;
    s.dies_s = 40;
    compare("1 MiB, cold, a node dies at 40 s", s);
    s.dies_s = 0;
    s.slows_s = 40;
    compare("1 MiB, cold, a node has 0.5 Mbit/s from 40 s", s);
    s.slows_s = 0;
    s.n_clients = 1;
    s.client_mbit = 250;
    s.is_warm = true;
    compare("1 MiB, warm, one client with 250 Mbit/s", s);
}
