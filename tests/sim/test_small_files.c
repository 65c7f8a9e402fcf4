/* SPDX-License-Identifier: MIT */
/* A file of a few requests: from all depots it takes no longer than from the
 * nearest, known or not, and it comes at most twice. */
#include <stdio.h>

#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define KIB ((uint64_t)1 << 10)

struct place {
    const char *nearest, *others;
};

static const struct place places[] = {
    /* one next door, and others about and far away */
    {"depot b 1.1.1.2 rate=75mbit rtt=1ms queue=256k\n",
     "depot a 1.1.1.1 rate=12mbit rtt=30ms queue=128k\n"
     "depot c 1.1.1.3 rate=10mbit rtt=35ms queue=128k\n"
     "depot d 1.1.1.4 rate=6mbit rtt=250ms queue=128k\n"
     "depot e 1.1.1.5 rate=10mbit rtt=70ms queue=128k\n"
     "depot f 1.1.1.6 rate=1500kbit rtt=115ms queue=64k\n"},
    /* all alike */
    {"depot a 1.1.1.1 rate=20mbit rtt=40ms queue=256k\n",
     "depot b 1.1.1.2 rate=20mbit rtt=40ms queue=256k\n"
     "depot c 1.1.1.3 rate=20mbit rtt=40ms queue=256k\n"
     "depot d 1.1.1.4 rate=20mbit rtt=40ms queue=256k\n"},
    /* other continents */
    {"depot a 1.1.1.1 rate=100mbit rtt=200ms queue=4m\n",
     "depot b 1.1.1.2 rate=150mbit rtt=280ms queue=4m\n"
     "depot c 1.1.1.3 rate=120mbit rtt=240ms queue=4m\n"
     "depot d 1.1.1.4 rate=100mbit rtt=300ms queue=4m\n"},
    /* one good, and others that crawl or say nothing */
    {"depot a 1.1.1.1 rate=60mbit rtt=25ms\n",
     "depot b 1.1.1.2 rate=150kbit rtt=80ms queue=32k\n"
     "depot c 1.1.1.3 rate=200kbit rtt=30ms queue=32k\n"
     "depot d 1.1.1.4 rate=50mbit rtt=30ms down\n"
     "depot e 1.1.1.5 rate=300kbit rtt=50ms queue=32k\n"},
};

static const uint64_t sizes[] = {100 * KIB, 300 * KIB, 1000 * KIB};

static struct xd_sim_result fetch(const char *first, const char *second,
                                  uint64_t size)
{
    const struct xd_sim_options o = {.sched = {.policy = &xd_policy_adaptive,
                                               .lanes_per_depot = 2,
                                               .max_open = 64,
                                               .block_bytes = 1024 * KIB,
                                               .max_failures = 5,
                                               .patience = 120 * XD_SECOND},
                                     .size = size,
                                     .seed = 1,
                                     .silence = 5 * XD_SECOND};
    struct xd_error err = {0};
    struct xd_sim_result result;
    struct xd_scenario s;
    char text[2048];

    snprintf(text, sizeof text, "client rate=100mbit queue=512k\n%s%s", first,
             second);
    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "broken: %s",
                  xd_rule_text(result.broken));
    ck_assert(result.is_complete);
    xd_scenario_fini(&s);
    return result;
}

static void compare(const struct place *at, uint64_t size, bool is_first)
{
    struct xd_sim_result alone = fetch(at->nearest, "", size);
    struct xd_sim_result all = is_first ? fetch(at->nearest, at->others, size)
                                        : fetch(at->others, at->nearest, size);

    ck_assert_msg(
        all.took <= alone.took + alone.took / 10 + 10 * XD_MS,
        "%llu bytes took %llu us, from the nearest depot alone %llu us",
        (unsigned long long)size, (unsigned long long)all.took,
        (unsigned long long)alone.took);
    ck_assert_msg(all.wire <= 2 * size, "%llu bytes came for %llu",
                  (unsigned long long)all.wire, (unsigned long long)size);
    xd_sim_result_fini(&alone);
    xd_sim_result_fini(&all);
}

START_TEST(it_takes_no_longer_than_from_the_nearest_and_comes_at_most_twice)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        compare(&places[_i], sizes[i], true);
        compare(&places[_i], sizes[i], false);
    }
}
END_TEST

START_TEST(equal_depots_share_a_megabyte)
{
    const struct place *equal = &places[1];
    struct xd_sim_result alone = fetch(equal->nearest, "", 1000 * KIB);
    struct xd_sim_result all = fetch(equal->nearest, equal->others, 1000 * KIB);

    ck_assert_uint_lt(4 * all.took, 3 * alone.took);
    xd_sim_result_fini(&alone);
    xd_sim_result_fini(&all);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("small_files");

    tcase_add_loop_test(
        t, it_takes_no_longer_than_from_the_nearest_and_comes_at_most_twice, 0,
        4);
    tcase_add_test(t, equal_depots_share_a_megabyte);
    return run_suite("sim.small_files", t);
}
