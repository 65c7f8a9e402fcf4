/* SPDX-License-Identifier: MIT */
/* The line to all depots is away for 25 s: no depot is to blame, and bytes come
 * within 3 s after it is back. */
#include <stdio.h>

#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static const char depots[] = "client rate=100mbit queue=512k\n"
                             "depot a 1.1.1.1 rate=40mbit rtt=30ms\n"
                             "depot b 1.1.1.2 rate=30mbit rtt=60ms\n"
                             "depot c 1.1.1.3 rate=20mbit rtt=180ms\n";
static const char outage[] = "at 2s client down\n"
                             "at 27s client up\n";

static struct xd_sim_result fetch(const struct xd_policy *policy,
                                  const char *changes, bool has_http2)
{
    const struct xd_sim_options o = {.sched = {.policy = policy,
                                               .redundancy = 2,
                                               .lanes_per_depot = 2,
                                               .progress = XD_AUTO,
                                               .max_open = 64,
                                               .block_bytes = MIB,
                                               .max_failures = 5,
                                               .patience = 120 * XD_SECOND},
                                     .size = 40 * MIB,
                                     .seed = 1,
                                     .has_http2 = has_http2,
                                     .silence = 5 * XD_SECOND};
    struct xd_error err = {0};
    struct xd_sim_result result;
    struct xd_scenario s;
    char text[1024];

    snprintf(text, sizeof text, "%s%s", depots, changes);
    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "broken: %s",
                  xd_rule_text(result.broken));
    ck_assert(result.is_complete);
    xd_scenario_fini(&s);
    return result;
}

static void check(const struct xd_policy *policy, bool has_http2)
{
    struct xd_sim_result without = fetch(policy, "", has_http2);
    struct xd_sim_result with = fetch(policy, outage, has_http2);

    ck_assert_msg(with.took <= without.took + 28 * XD_SECOND,
                  "%s: %llu us in place of %llu", policy->name,
                  (unsigned long long)with.took,
                  (unsigned long long)without.took);
    for (size_t i = 0; i < with.n_depots; i++)
        ck_assert_uint_eq(with.depots[i].failures, 0);
    xd_sim_result_fini(&with);
    xd_sim_result_fini(&without);
}

START_TEST(it_takes_no_more_than_three_seconds_beside_the_time_away)
{
    check(&xd_policy_adaptive, false);
    check(&xd_policy_adaptive, true);
    check(&xd_policy_basic, false);
    check(&xd_policy_aggressive, false);
    check(&xd_policy_progress, false);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("outage");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase,
                   it_takes_no_more_than_three_seconds_beside_the_time_away);
    return run_suite("outage", tcase);
}
