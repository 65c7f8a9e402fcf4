/* SPDX-License-Identifier: MIT */
/* A simulated download, when memory runs out. */
#include <xdownload/error.h>
#include "lab/simulate.h"

#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"
#include "torture.h"

static const char text[] = "client rate=50mbit\n"
                           "link l rate=5mbit\n"
                           "depot a 1.1.1.1 rate=8mbit rtt=20ms loss=1% via=l\n"
                           "depot b 1.1.1.2 rate=4mbit rtt=50ms lies\n"
                           "depot c 1.1.1.3 rate=4mbit rtt=50ms\n"
                           "at 100ms a rate=2mbit\n";

static int download(void)
{
    struct xd_sim_options o = {.sched = {.policy = &xd_policy_progress,
                                         .redundancy = 2,
                                         .progress = 1,
                                         .lanes_per_depot = 2,
                                         .max_open = 3,
                                         .block_bytes = 30000,
                                         .max_failures = 3},
                               .size = 300000,
                               .piece_bytes = 50000,
                               .silence = XD_SECOND};
    struct xd_scenario s;
    struct xd_sim_result r = {.n_depots = 0};
    double limit;
    int rc;

    torture_begin();
    rc = xd_scenario_parse(&s, text, NULL);
    if (rc == 0)
        rc = xd_scenario_limit(&s, 1, o.size, &limit);
    if (rc == 0)
        rc = xd_sim_run(&s, &o, &r);
    torture_end();
    ck_assert(rc < 0 || r.is_complete);
    xd_sim_result_fini(&r);
    xd_scenario_fini(&s);
    return rc;
}

START_TEST(a_simulation_without_memory_stops_and_leaks_nothing)
{
    torture_survivor(download);
}
END_TEST

static int simulate(void)
{
    struct xd_simulate_what what = {
        .scenario = text, .size = 300000, .piece_bytes = 50000};
    struct xd_simulation *s;
    int rc;

    torture_begin();
    rc = xd_simulate(&s, &what, NULL, NULL);
    torture_end();
    ck_assert((rc == 0) == (s != NULL));
    xd_simulation_free(s);
    return rc;
}

START_TEST(what_a_simulation_has_recorded_is_had_whole_or_not_at_all)
{
    torture_survivor(simulate);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sim");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, a_simulation_without_memory_stops_and_leaks_nothing);
    tcase_add_test(t,
                   what_a_simulation_has_recorded_is_had_whole_or_not_at_all);
    return run_suite("torture.sim", t);
}
