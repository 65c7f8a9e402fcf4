/* SPDX-License-Identifier: MIT */
/* Requests that end after the last byte is there: the report still names the depots that
 * were of no use. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/lifetime.h"
#include "engine/request_end.h"
#include "engine/source.h"
#include "suite.h"

static char folder[SUITE_FOLDER];
static char path[64];
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_engine *engine; /* the tests play its threads */
static struct xd_depot *depot;
static struct xd_lane lane;

static void set_up(void)
{
    static const char text[] =
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        "<file name=\"f\"><size>1000</size>"
        "<url>http://a.example/f</url><url>http://b.example/f</url>"
        "</file></metalink>";

    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, sizeof text - 1, NULL, NULL), 0);
    ck_assert_int_eq(xd_options_new(&options, NULL), 0);
    ck_assert_int_eq(xd_engine_new(&engine, manifest, 0, &xd_output_file, path,
                                   -1, options, NULL),
                     0);
    depot = engine->depots.list[1];
    xd_engine_lock(engine);
}

static void tear_down(void)
{
    xd_engine_unlock(engine);
    xd_engine_unref(engine);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Ends a request of the second depot so, while the complete file gets its name. */
static void end_late(struct xd_outcome outcome)
{
    engine->session.phase = XD_PHASE_FINISH;
    depot->lanes_busy = 1;
    depot->state = XD_DEPOT_BUSY;
    lane = (struct xd_lane){
        .state = LANE_RUNNING,
        .range = {0, 1000},
        .end = 1000,
        .first_byte = XD_NEVER,
        .source = xd_depot_source(depot, (struct xd_range){0, 1000}),
        .outcome = outcome};
    lane.url = xd_source_url(lane.source);
    xd_request_ended_locked(engine, depot, &lane);
}

static struct xd_outcome failing(enum xd_verdict verdict, const char *why)
{
    struct xd_outcome outcome = {.verdict = verdict};

    xd_fail(&outcome.error, XD_E_NET, "http://b.example/f: %s", why);
    return outcome;
}

static void check_named(unsigned failures, const char *why)
{
    struct xd_error error = {.code = XD_OK};

    if (depot->last_error)
        error = xd_kept_error_get(depot->last_error);

    ck_assert_uint_eq(depot->failures, failures);
    if (why)
        ck_assert_str_eq(error.msg, why);
    else
        ck_assert_int_eq(error.code, XD_OK);
}

START_TEST(late_404_counts_and_gives_the_depot_up)
{
    end_late(failing(XD_VERDICT_GONE, "answered 404"));
    check_named(1, "http://b.example/f: answered 404");
    ck_assert_int_eq(depot->state, XD_DEPOT_FAILED);
}
END_TEST

START_TEST(late_500_counts)
{
    struct xd_outcome outcome = failing(XD_VERDICT_AGAIN, "answered 500");

    outcome.error.http_status = 500;
    end_late(outcome);
    check_named(1, "http://b.example/f: answered 500");
}
END_TEST

START_TEST(late_refusal_of_the_connection_counts)
{
    struct xd_outcome outcome = failing(XD_VERDICT_AGAIN, "refused");

    outcome.is_refusal = true;
    outcome.error.os_errno = ECONNREFUSED;
    end_late(outcome);
    check_named(1, "http://b.example/f: refused");
}
END_TEST

START_TEST(request_that_the_end_has_stopped_is_no_failure)
{
    end_late((struct xd_outcome){.verdict = XD_VERDICT_STOPPED});
    check_named(0, NULL);
}
END_TEST

START_TEST(late_silence_is_no_failure)
{
    struct xd_outcome outcome = failing(XD_VERDICT_AGAIN, "no bytes");

    outcome.is_unanswered = true;
    end_late(outcome);
    check_named(0, NULL);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("late_failure");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, late_404_counts_and_gives_the_depot_up);
    tcase_add_test(tcase, late_500_counts);
    tcase_add_test(tcase, late_refusal_of_the_connection_counts);
    tcase_add_test(tcase, request_that_the_end_has_stopped_is_no_failure);
    tcase_add_test(tcase, late_silence_is_no_failure);
    return run_suite("late_failure", tcase);
}
