/* SPDX-License-Identifier: MIT */
/*
 * The scenarios of examples/paper against the numbers of Plank, Atchley, Ding and
 * Beck (2003), section 4, and what they show of the algorithms.  A file of 50 MB
 * lies on I1 to I6; Ex is the first x of them.
 */
#include <stdio.h>
#include <string.h>
#include <xdownload/options.h>

#include "command/records.h"
#include "lab/playback.h"
#include "lab/simulate.h"
#include "suite.h"

#define MIB (UINT64_C(1) << 20)
#define SIZE (50 * MIB)

/* The paper's Mbit has 2^20 bits. */
#define BYTES_PER_MBIT ((double)MIB / 8)

#define PREBUFFER_S 5.0

/* What the paper calls one download.  0 is not set, which is a default. */
struct cell {
    const char *algorithm;
    const char *block;
    unsigned threads;
    unsigned r, p;
    unsigned depots; /* x of Ex */
    uint64_t seed;
};

static struct xd_simulation *simulation;
static struct xd_simulated result;

static void tear_down(void)
{
    xd_simulation_free(simulation);
    simulation = NULL;
}

/* The scenario with its first n depots. */
static void read_scenario(char *out, size_t capacity, const char *name,
                          unsigned n)
{
    char path[512], line[256];
    size_t used = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", SCENARIOS, name);
    f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s cannot be read", path);
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "depot", 5) == 0 && n-- == 0)
            break;
        ck_assert_uint_lt(used + strlen(line), capacity);
        memcpy(out + used, line, strlen(line) + 1);
        used += strlen(line);
    }
    fclose(f);
}

static void set(struct xd_options *o, const char *name, const char *value)
{
    struct xd_error err = {0};

    ck_assert_msg(xd_options_set(o, name, value, &err) == 0, "%s", err.msg);
}

static void set_number(struct xd_options *o, const char *name, unsigned value)
{
    char text[16];

    snprintf(text, sizeof text, "%u", value);
    if (value > 0)
        set(o, name, text);
}

static struct xd_options *options_of(const struct cell *c)
{
    struct xd_options *o;

    ck_assert_int_eq(xd_options_new(&o, NULL), 0);
    set(o, "algorithm", c->algorithm);
    if (c->block)
        set(o, "block-size", c->block);
    if (c->r > 0)
        set(o, "whole-blocks", "yes");
    set_number(o, "redundancy", c->r);
    set_number(o, "progress-number", c->p);
    set_number(o, "threads-per-depot", c->threads);
    return o;
}

/* Mbit/s, as the paper says it. */
static double run(const char *scenario, struct cell c)
{
    struct xd_options *o = options_of(&c);
    struct xd_error err = {0};
    char text[8192];
    struct xd_simulate_what what = {
        .scenario = text, .size = SIZE, .seed = c.seed > 0 ? c.seed : 1};

    read_scenario(text, sizeof text, scenario, c.depots);
    xd_simulation_free(simulation);
    ck_assert_msg(xd_simulate(&simulation, &what, o, &err) == 0, "%s", err.msg);
    xd_simulation_get(simulation, &result);
    ck_assert(result.is_complete);
    ck_assert_msg(!result.broken_rule, "%s", result.broken_rule);
    xd_options_free(o);
    return (double)SIZE / BYTES_PER_MBIT / result.seconds;
}

/* How long a player of so many Mbit/s stands still, of the last run. */
static double delay(double mbit, uint64_t block_bytes)
{
    static struct xd_fetch_record records[4096];
    struct xd_error err = {0};
    double seconds = -1;
    size_t n = 0;

    while (xd_simulation_record(simulation, n, &records[n]) == 0)
        n++;
    ck_assert_msg(xd_playback_delay(&seconds, records, n, SIZE, block_bytes,
                                    mbit * BYTES_PER_MBIT, PREBUFFER_S,
                                    &err) == 0,
                  "%s", err.msg);
    return seconds;
}

/* How much of what was received was redundant. */
static double waste(void)
{
    return 1 - (double)SIZE / (double)result.bytes_received;
}

static void expect_about(const char *what, double value, double paper,
                         double part)
{
    ck_assert_msg(value >= paper * (1 - part) && value <= paper * (1 + part),
                  "%s: %.2f, in the paper %.2f", what, value, paper);
}

static const char *const blocks[] = {"128k", "256k", "512k", "1m", "2m"};
static const uint64_t block_bytes[] = {MIB / 8, MIB / 4, MIB / 2, MIB, 2 * MIB};

#define N_BLOCKS (sizeof blocks / sizeof *blocks)

/* 4.1, the run that the paper describes. */

/* Of depot i: its blocks, and when its last one ended. */
static unsigned blocks_of(unsigned depot, double *out_end)
{
    struct xd_fetch_record r = {.struct_size = sizeof r};
    unsigned n = 0;

    *out_end = 0;
    for (size_t i = 0; xd_simulation_record(simulation, i, &r) == 0; i++)
        if (r.depot == depot) {
            n++;
            *out_end = r.end_s > *out_end ? r.end_s : *out_end;
        }
    return n;
}

START_TEST(the_run_of_the_paper_is_that_of_the_scenario)
{
    static const struct {
        unsigned depot;
        double waits_s;
    } others[] = {{0, 1.7}, {1, 2.5}, {2, 4.0}, {3, 7.3}, {5, 103.7}};
    double i5, end;
    unsigned n;

    run("paper-tennessee-run",
        (struct cell){"basic", "2m", 1, .depots = 6, .seed = (uint64_t)_i});
    n = blocks_of(4, &i5);
    ck_assert_msg(n >= 16 && n <= 18, "I5 serves %u blocks", n);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        blocks_of(others[i].depot, &end);
        expect_about("wait", end - i5, others[i].waits_s, 0.25);
    }
}
END_TEST

/* "As more replicas are added, its performance drops drastically." */
START_TEST(a_slow_sixth_depot_makes_basic_slower_but_not_progress)
{
    unsigned k = (unsigned)_i * 3 % (2 * N_BLOCKS); /* a few are of all kinds */
    const char *block = blocks[k % N_BLOCKS];
    unsigned threads = 1 + k / N_BLOCKS;
    struct cell basic = {"basic", block, threads, .depots = 5};
    struct cell progress = {"progress", block, threads, 2, 3, 5, 0};
    double basic_5 = run("paper-tennessee-run", basic);
    double progress_5 = run("paper-tennessee-run", progress);
    double basic_6, progress_6;

    basic.depots = progress.depots = 6;
    basic_6 = run("paper-tennessee-run", basic);
    progress_6 = run("paper-tennessee-run", progress);
    ck_assert_msg(basic_6 < basic_5, "%s basic %.1f, then %.1f", block, basic_5,
                  basic_6);
    if (strcmp(block, "2m") == 0)
        ck_assert_msg(basic_6 < basic_5 / 5, "%.1f, then %.1f", basic_5,
                      basic_6);
    ck_assert_msg(progress_6 > 0.9 * progress_5, "%s progress %.1f, then %.1f",
                  block, progress_5, progress_6);
}
END_TEST

/* The averages from Tennessee. */

START_TEST(one_depot_and_three_bring_what_they_did)
{
    struct cell c = {"progress", "2m", 2, 2, 3, 1, (uint64_t)_i};

    ck_assert_double_ge(run("paper-tennessee", c), 12.6);
    c.depots = 3;
    expect_about("E3", run("paper-tennessee", c), 39.5, 0.05);
}
END_TEST

#define SEEDS ((uint64_t)suite_cases(1, 3))

/* "Each result below is the average of many runs." */
static double average(struct cell c)
{
    double sum = 0;

    for (c.seed = 1; c.seed <= SEEDS; c.seed++)
        sum += run("paper-tennessee", c);
    return sum / (double)SEEDS;
}

static double maximum(unsigned p)
{
    double most = 0;

    for (unsigned depots = 5; depots <= 6; depots++)
        for (size_t b = 0; b < N_BLOCKS; b++) {
            double mbit = average(
                (struct cell){"progress", blocks[b], 2, 2, p, depots, 0});

            most = mbit > most ? mbit : most;
        }
    return most;
}

START_TEST(a_greater_p_is_a_little_faster)
{
    double p3 = maximum(3), p9 = maximum(9);

    expect_about("P = 3", p3, 71.9, 0.1);
    expect_about("P = 9", p9, 79.3, 0.1);
    ck_assert_msg(p9 > 1.05 * p3 && p9 < 1.15 * p3, "%.1f, then %.1f", p3, p9);
}
END_TEST

START_TEST(two_threads_gain_where_windows_are_small)
{
    for (unsigned depots = 1; depots <= 4; depots++) {
        struct cell c = {"basic", blocks[_i], 1, .depots = depots};
        double one = run("paper-tennessee", c), two;

        c.threads = 2;
        two = run("paper-tennessee", c);
        ck_assert_msg(two > 1.5 * one, "E%u %s: %.1f, then %.1f", depots,
                      blocks[_i], one, two);
    }
}
END_TEST

/* "Approximately (R-1)/R of the downloads will not contribute": as long as the
 * depots are equally fast.  Where the local one is there, it brings blocks before
 * others have come far. */
START_TEST(aggressive_wastes_half)
{
    for (unsigned depots = 3; depots <= 4; depots++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            run("paper-tennessee", (struct cell){"aggressive", blocks[_i],
                                                 threads, 2, .depots = depots});
            ck_assert_msg(waste() >= 0.45 && waste() <= 0.505,
                          "E%u %s: %.1f %%", depots, blocks[_i], 100 * waste());
        }
}
END_TEST

/* 4.2 */

START_TEST(progress_plays_15_mbit_at_every_level)
{
    run("paper-tennessee",
        (struct cell){"progress", "2m", 2, 2, 3, (unsigned)_i, 0});
    ck_assert_double_le(delay(15, 2 * MIB), 0);
}
END_TEST

START_TEST(progress_plays_50_mbit_from_three_depots_far_away)
{
    run("paper-tennessee",
        (struct cell){"progress", "2m", 2, 2, 3, 3, (uint64_t)_i});
    ck_assert_double_le(delay(50, 2 * MIB), 0);
}
END_TEST

/* With few depots it is too slow, and with all it waits for the slowest. */
START_TEST(basic_is_unusable_at_50_mbit)
{
    for (unsigned threads = 1; threads <= 2; threads++)
        for (unsigned depots = 1; depots <= 6; depots += depots == 2 ? 4 : 1) {
            run("paper-tennessee",
                (struct cell){"basic", blocks[_i], threads, .depots = depots});
            ck_assert_double_gt(delay(50, block_bytes[_i]), 1);
        }
}
END_TEST

/* The client in Santa Barbara. */

START_TEST(aggressive_stays_at_50_mbit_with_small_blocks)
{
    for (unsigned depots = 2; depots <= 6; depots++) {
        struct cell c = {"aggressive", "128k", 1, 2, .depots = depots};

        expect_about("one thread", run("paper-santa-barbara", c), 50, 0.15);
        c.threads = 2;
        expect_about("two threads", run("paper-santa-barbara", c), 50, 0.15);
    }
}
END_TEST

START_TEST(one_block_comes_late_from_singapore)
{
    struct xd_fetch_record r = {.struct_size = sizeof r};
    double ends[SIZE / (2 * MIB)] = {0}, others = 0;
    unsigned from = 0;

    run("paper-santa-barbara",
        (struct cell){"aggressive", "2m", 1, 2, .depots = 6});
    for (size_t i = 0; xd_simulation_record(simulation, i, &r) == 0; i++) {
        double *end = &ends[r.begin / (2 * MIB)];

        if (r.code != 0 || (*end > 0 && *end <= r.end_s))
            continue;
        *end = r.end_s;
        from = r.begin == 2 * MIB ? r.depot : from;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        others = i != 1 && ends[i] > others ? ends[i] : others;
    ck_assert_uint_eq(from, 3); /* and Harvard's has not ended */
    ck_assert_msg(ends[1] > others + 7 && ends[1] < others + 9,
                  "%.1f s, all others %.1f s", ends[1], others);
}
END_TEST

/* Ours. */

/* Those that were the best in some cell of the whole grid. */
static double best_of_paper(const char *scenario, unsigned threads,
                            unsigned depots)
{
    const struct cell cells[] = {{"basic", "128k", threads, .depots = depots},
                                 {"basic", "256k", threads, .depots = depots},
                                 {"basic", "1m", threads, .depots = depots},
                                 {"basic", "2m", threads, .depots = depots},
                                 {"progress", "256k", threads, 2, 6, depots, 0},
                                 {"progress", "1m", threads, 3, 9, depots, 0}};
    double best = 0;

    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        double mbit = run(scenario, cells[i]);

        best = mbit > best ? mbit : best;
    }
    return best;
}

/* With as many connections. */
START_TEST(adaptive_is_as_good_as_the_best_of_the_papers)
{
    static const char *const scenarios[] = {
        "paper-tennessee", "paper-santa-barbara", "paper-tennessee-run"};
    unsigned k = (unsigned)_i * 5 % 36; /* a few are of all kinds */
    const char *scenario = scenarios[k / 12];
    unsigned depots = 1 + k % 6, threads = 1 + k / 6 % 2;
    double best = best_of_paper(scenario, threads, depots);
    double ours = run(
        scenario, (struct cell){"adaptive", NULL, threads, .depots = depots});

    ck_assert_msg(ours >= 0.98 * best, "%s E%u, %u threads: %.1f, ours %.1f",
                  scenario, depots, threads, best, ours);
}
END_TEST

int main(void)
{
    const int n_blocks = (int)N_BLOCKS;
    TCase *t = tcase_create("paper");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, NULL, tear_down);
    tcase_add_loop_test(t, the_run_of_the_paper_is_that_of_the_scenario, 1, 11);
    tcase_add_loop_test(t,
                        a_slow_sixth_depot_makes_basic_slower_but_not_progress,
                        0, suite_cases(4, 2 * n_blocks));
    tcase_add_loop_test(t, one_depot_and_three_bring_what_they_did, 1, 11);
    tcase_add_test(t, a_greater_p_is_a_little_faster);
    tcase_add_loop_test(t, two_threads_gain_where_windows_are_small, 0,
                        n_blocks);
    tcase_add_loop_test(t, aggressive_wastes_half, 0, n_blocks);
    tcase_add_loop_test(t, progress_plays_15_mbit_at_every_level, 1, 7);
    tcase_add_loop_test(t, progress_plays_50_mbit_from_three_depots_far_away, 1,
                        11);
    tcase_add_loop_test(t, basic_is_unusable_at_50_mbit, 0, n_blocks);
    tcase_add_test(t, aggressive_stays_at_50_mbit_with_small_blocks);
    tcase_add_test(t, one_block_comes_late_from_singapore);
    tcase_add_loop_test(t, adaptive_is_as_good_as_the_best_of_the_papers, 0,
                        suite_cases(12, 36));
    return run_suite("sim.paper", t);
}
