/* SPDX-License-Identifier: MIT */
/* A scheduler and a size probe, when something runs out. */
#include <string.h>

#include <xdownload/error.h>

#include "ledger/ledger.h"
#include "sched/size_probe.h"
#include "sched/sched.h"
#include "suite.h"
#include "torture.h"

#define DEPOTS 4
#define SIZE 400

static const char *policy;
static struct xd_ledger ledger;

static struct xd_sched *new_sched(void)
{
    static struct xd_range all[2] = {{0, SIZE}, {SIZE / 2, SIZE}};
    static uint64_t cuts[] = {70, 130, 200, 290};
    struct xd_holding depots[DEPOTS] = {
        {.held = &all[0], .n_held = 1},
        {.held = &all[1], .n_held = 1, .max_lanes = 1},
        {.held = &all[0], .n_held = 1},
        {.held = &all[0], .n_held = 1, .max_lanes = 2}};
    struct xd_layout layout = {.size = SIZE,
                               .cuts = cuts,
                               .n_cuts = 4,
                               .depots = depots,
                               .n_depots = DEPOTS};
    struct xd_sched_options o = {.policy = xd_policy_find(policy),
                                 .redundancy = 2,
                                 .progress = 2,
                                 .lanes_per_depot = 2,
                                 .max_open = 3,
                                 .block_bytes = 20,
                                 .max_failures = 3};

    return xd_sched_new(&layout, &o, all[0], &ledger);
}

static int tell(struct xd_sched *s, enum xd_sched_event_kind kind,
                const struct xd_sched_action *a, struct xd_range r)
{
    struct xd_sched_event ev = {.kind = kind,
                                .now = XD_SECOND,
                                .fetch = a->fetch,
                                .depot = a->depot,
                                .range = r};

    return xd_sched_event(s, &ev);
}

/* What is asked for comes; of each tenth request half, and each seventh is
 * found to be wrong. */
static int answer(struct xd_sched *s, const struct xd_sched_action *a,
                  unsigned n)
{
    struct xd_range r = a->range;
    enum xd_sched_event_kind judgement = XD_EV_VERIFIED;
    int rc;

    if (n % 10 == 9) {
        r.end = r.begin + xd_range_length(r) / 2;
        rc = tell(s, XD_EV_FAILED, a, r);
    } else {
        rc = tell(s, XD_EV_DONE, a, r);
    }
    if (n % 7 == 6)
        judgement = XD_EV_REJECTED;
    if (rc == 0 && judgement == XD_EV_REJECTED)
        rc = xd_ledger_discard(&ledger, r, XD_DISCARD_BAD_PIECE);
    if (rc == 0)
        rc = tell(s, judgement, a, r);
    if (rc == 0 && n == 11)
        rc = tell(s, XD_EV_LOST, a, (struct xd_range){300, 310});
    if (rc == 0 && n == 12)
        rc = tell(s, XD_EV_NORANGES, a, r);
    return rc;
}

static int download(void)
{
    struct xd_sched_action a = {.kind = XD_DO_WAIT};
    struct xd_sched *s;
    xd_usec now = XD_SECOND;
    unsigned n = 0;
    int rc = 0;

    torture_begin();
    s = new_sched();
    if (s == NULL) {
        xd_ledger_fini(&ledger);
        return XD_E_NOMEM;
    }
    while (rc == 0 && a.kind != XD_DO_FINISH && n < 1000) {
        a = xd_sched_next(s, now);
        if (a.kind == XD_DO_WAIT)
            now = a.until;
        else if (a.kind == XD_DO_FETCH)
            rc = answer(s, &a, n++);
    }
    torture_end();
    ck_assert(rc < 0 || a.kind == XD_DO_FINISH);
    xd_sched_free(s);
    xd_ledger_fini(&ledger);
    return rc;
}

/* It survives without the memory for why a request is made. */
START_TEST(a_download_that_has_no_memory_stops_and_leaks_nothing)
{
    static const char *const policies[] = {"basic", "aggressive", "progress"};

    policy = policies[_i];
    torture_survivor(download);
}
END_TEST

static int ask_for_the_size(void)
{
    struct xd_size_probe *c;

    torture_begin();
    c = xd_size_probe_new(DEPOTS, 2, 1, 1);
    torture_end();
    if (c == NULL)
        return XD_E_NOMEM;
    ck_assert_int_eq(xd_size_probe_next(c, XD_SECOND).kind, XD_DO_OPEN);
    xd_size_probe_free(c);
    return 0;
}

START_TEST(a_census_needs_memory)
{
    torture(ask_for_the_size);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sched");

    tcase_set_timeout(t, 0);
    tcase_add_loop_test(
        t, a_download_that_has_no_memory_stops_and_leaks_nothing, 0, 3);
    tcase_add_test(t, a_census_needs_memory);
    return run_suite("torture.sched", t);
}
