/* SPDX-License-Identifier: MIT */
/* No family of networks takes longer than it did: families.kept. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "suite.h"

#define SEEDS 20
#define TOLERANCE 1.02

/* Returns the median that is kept of a family, or -1. */
static double kept(const char *family)
{
    FILE *f = fopen(KEPT, "r");
    double median = -1, value;
    char name[64];

    ck_assert_ptr_nonnull(f);
    while (fscanf(f, "%63s %lf", name, &value) == 2)
        if (strcmp(name, family) == 0)
            median = value;
    fclose(f);
    return median;
}

static double median_of(const struct xd_family *f)
{
    double over[SEEDS];

    for (unsigned i = 0; i < SEEDS; i++) {
        struct xd_family_run run;

        ck_assert_int_eq(
            xd_family_run(f, XD_RULED_ADAPTIVE, i + 1, false, &run, NULL), 0);
        over[i] = run.over;
    }
    return xd_spread_of(over, SEEDS).median;
}

START_TEST(no_family_takes_longer_than_it_did)
{
    const struct xd_family *f = &xd_families[_i];
    double median = median_of(f);

    ck_assert_msg(median <= kept(f->name) * TOLERANCE,
                  "%s: %.4f of its bound in the median of %d seeds, and it was "
                  "%.4f; if that is meant: families --kept -n %d > "
                  "tests/sim/families.kept",
                  f->name, median, SEEDS, kept(f->name), SEEDS);
}
END_TEST

START_TEST(a_seed_makes_one_network)
{
    const struct xd_family *f = &xd_families[_i];
    struct xd_text first, second;
    struct xd_family_run a, b;

    ck_assert_int_eq(xd_family_run(f, XD_RULED_ADAPTIVE, 1, false, &a, &first),
                     0);
    ck_assert_int_eq(xd_family_run(f, XD_RULED_BASIC, 1, false, &b, &second),
                     0);
    ck_assert_str_eq(first.s, second.s);
    xd_text_fini(&second);
    ck_assert_int_eq(xd_family_run(f, XD_RULED_ADAPTIVE, 1, false, &b, &second),
                     0);
    ck_assert_double_eq(a.over, b.over);
    xd_text_fini(&first);
    xd_text_fini(&second);
}
END_TEST

/* 16 connections of 1 MiB/s each. */
START_TEST(aria2_has_16_connections_per_server)
{
    static const char text[] = "depot a 1.1.1.1 rate=400mbit rtt=20ms cap=1m\n";
    struct xd_sim_options o = {.size = 32 << 20, .seed = 1};
    struct xd_family_run run = {.over = 0};
    struct xd_scenario s;
    double took = 0;

    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_fixed_run(0, &s, &o, &run, &took), 0);
    ck_assert_double_ge(took, 1.8);
    ck_assert_double_le(took, 2.4);
    ck_assert_double_eq(run.connections, 16);
    xd_scenario_fini(&s);
}
END_TEST

/* A fast and a slow server: the fast one brings halves of what the other was to. */
START_TEST(aria2_takes_halves_of_segments)
{
    static const char text[] = "depot a 1.1.1.1 rate=80mbit rtt=20ms\n"
                               "depot b 1.1.1.2 rate=4mbit rtt=20ms\n";
    struct xd_sim_options o = {.size = 64 << 20, .seed = 1};
    struct xd_family_run run = {.over = 0};
    struct xd_scenario s;
    double took = 0;

    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_fixed_run(0, &s, &o, &run, &took), 0);
    ck_assert_double_gt(run.requests, 16);
    ck_assert_double_lt(took, 40); /* 64 if each brought its half */
    xd_scenario_fini(&s);
}
END_TEST

static unsigned fixed_named(const char *name)
{
    char found[64];

    for (unsigned i = 0; i < xd_n_fixed; i++) {
        xd_fixed_name(i, found, sizeof found);
        if (strcmp(found, name) == 0)
            return i;
    }
    ck_abort_msg("no client is named %s", name);
}

/* Half of all connections are mute. */
START_TEST(a_client_with_a_floor_replaces_mute_connections)
{
    static const char text[] =
        "depot a 1.1.1.1 rate=100mbit rtt=20ms hangs=50%\n";
    struct xd_sim_options o = {.size = 32 << 20, .seed = 1};
    struct xd_family_run run = {.over = 0};
    struct xd_scenario s;
    double took = 0;

    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(
        xd_fixed_run(fixed_named("6, shares"), &s, &o, &run, &took), 0);
    ck_assert(isinf(took));
    run = (struct xd_family_run){.over = 0};
    ck_assert_int_eq(
        xd_fixed_run(fixed_named("6, shares, 0.7 MB/s"), &s, &o, &run, &took),
        0);
    ck_assert_double_lt(took, 6);
    ck_assert_double_gt(run.connections, 6);
    xd_scenario_fini(&s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("families");

    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, no_family_takes_longer_than_it_did, 0,
                        (int)xd_n_families);
    tcase_add_loop_test(t, a_seed_makes_one_network, 0, (int)xd_n_families);
    tcase_add_test(t, aria2_has_16_connections_per_server);
    tcase_add_test(t, aria2_takes_halves_of_segments);
    tcase_add_test(t, a_client_with_a_floor_replaces_mute_connections);
    return run_suite("sim.families", t);
}
