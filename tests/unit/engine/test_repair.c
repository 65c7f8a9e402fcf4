/* SPDX-License-Identifier: MIT */
/*
 * Whom a repair suspects when two depots differ and a third is asked.  That the
 * file comes right is the integration tests' business.
 */
#include "engine/trust/repair.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/decide.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lifetime.h"
#include "engine/compare_copies.h"
#include "suite.h"

#define BLOCK 4096
#define SIZE (5 * BLOCK) /* one of depot 0, two each of the others */

static const struct xd_range first_block = {0, BLOCK};

static char folder[SUITE_FOLDER];
static char path[64];
static unsigned char zeros[SIZE], ones[BLOCK], twos[BLOCK];
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_engine *engine; /* the tests play its threads */
static struct xd_sink *sink;
static struct xd_error error;

static void bring_locked(unsigned depot, uint64_t begin, uint64_t end)
{
    struct xd_range range = {begin, end};

    ck_assert_int_eq(xd_ledger_change(&engine->ledger, XD_CLAIM, range), 0);
    ck_assert_int_eq(xd_ledger_written(&engine->ledger, range, depot), 0);
    xd_verify_written_locked(engine, range, NULL);
}

/* All is here, wrong as a whole, and what depot 0 brought is fetched again. */
static void suspect_first_locked(void)
{
    bring_locked(0, 0, BLOCK);
    bring_locked(1, BLOCK, 3 * (uint64_t)BLOCK);
    bring_locked(2, 3 * (uint64_t)BLOCK, SIZE);
    engine->session.phase = XD_PHASE_CHECK;
    xd_verify_work_locked(engine);
    xd_repair_work_locked(engine);
    ck_assert_int_eq(engine->session.phase, XD_PHASE_STOP);
    xd_decide_anew_locked(engine);
    ck_assert_uint_eq(engine->repair.depot, 0);
    ck_assert_int_eq(engine->session.phase, XD_PHASE_REFETCH);
}

static void setup(void)
{
    static const char text[] =
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        "<file name=\"f\"><size>20480</size><hash type=\"sha-256\">"
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
        "</hash><url>http://a.example/f</url><url>http://b.example/f</url>"
        "<url>http://c.example/f</url></file></metalink>";

    memset(ones, 1, sizeof ones);
    memset(twos, 2, sizeof twos);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, sizeof text - 1, NULL, &error), 0);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    ck_assert_int_eq(xd_engine_new(&engine, manifest, 0, &xd_output_file, path,
                                   -1, options, &error),
                     0);
    ck_assert_int_eq(xd_file_sink_new(&sink, path, SIZE_MAX, false, &error), 0);
    ck_assert_int_eq(xd_sink_write(sink, 0, zeros, SIZE, &error), 0);
    engine->dest.sink = sink;
    engine->sampler.has_thread = true;
    xd_engine_lock(engine);
    suspect_first_locked();
    engine->dest.target = NULL; /* nothing is decided */
}

static void teardown(void)
{
    engine->sampler.has_thread = false;
    engine->dest.target = NULL;
    xd_engine_unlock(engine);
    xd_engine_unref(engine);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    snprintf(path + strlen(path), sizeof path - strlen(path), ".part");
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Depot 1 brings other bytes than depot 0 had, and depot 2 tells its own. */
static void dispute_locked(const unsigned char *third)
{
    unsigned depot;
    size_t i;

    compare_copies_locked(engine, 1, first_block, ones);
    ck_assert(xd_sampler_choose_locked(engine, &i, &depot));
    ck_assert_uint_eq(depot, 2);
    engine->depots.list[depot]->samples_asked |= UINT32_C(1) << i;
    xd_sampler_received_locked(engine, i, depot, third);
}

/* What was fetched is the same as what the suspect had. */
static void compare_locked(void)
{
    ck_assert_int_eq(
        xd_sink_write(engine->dest.scratch, 0, zeros, SIZE, &error), 0);
    if (engine->session.phase == XD_PHASE_REFETCH)
        xd_repair_complete_locked(engine);
    engine->dest.target = NULL; /* nothing is decided */
    xd_repair_work_locked(engine);
}

START_TEST(who_is_outvoted_is_suspected_in_place_of_the_suspect)
{
    dispute_locked(zeros);
    ck_assert_int_eq(engine->session.phase, XD_PHASE_STOP);
    ck_assert_uint_eq(engine->repair.depot, 1);
    ck_assert(engine->dest.target == engine->dest.sink);
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_STORED), SIZE);
}
END_TEST

START_TEST(whom_others_took_the_place_of_is_suspected_later)
{
    dispute_locked(zeros);
    xd_decide_anew_locked(engine);
    compare_locked();
    ck_assert_uint_eq(engine->repair.depot, 0);
}
END_TEST

START_TEST(a_suspect_who_is_outvoted_stays_it)
{
    dispute_locked(ones);
    ck_assert_int_eq(engine->session.phase, XD_PHASE_REFETCH);
    ck_assert_uint_eq(engine->repair.depot, 0);
}
END_TEST

START_TEST(three_who_all_differ_leave_the_suspect_as_it_was)
{
    size_t i;
    unsigned depot;

    dispute_locked(twos);
    ck_assert_int_eq(engine->session.phase, XD_PHASE_REFETCH);
    ck_assert_uint_eq(engine->repair.depot, 0);
    ck_assert(!xd_sampler_choose_locked(engine, &i, &depot));
}
END_TEST

START_TEST(nobody_is_asked_about_a_suspect_twice)
{
    unsigned depot;
    size_t i;

    dispute_locked(ones);
    compare_copies_locked(engine, 2, first_block, twos);
    ck_assert(!xd_sampler_choose_locked(engine, &i, &depot));
}
END_TEST

/* The vote comes when all was fetched. */
START_TEST(who_is_outvoted_late_is_suspected_next)
{
    xd_repair_complete_locked(engine);
    xd_repair_outvoted_locked(engine, 2);
    ck_assert_uint_eq(engine->repair.depot, 0);
    compare_locked();
    ck_assert_uint_eq(engine->repair.depot, 2);
}
END_TEST

START_TEST(who_has_no_byte_in_the_file_is_not_suspected)
{
    ck_assert_int_eq(xd_ledger_discard(&engine->ledger,
                                       (struct xd_range){BLOCK, SIZE},
                                       XD_DISCARD_BAD_FILE),
                     0);
    dispute_locked(zeros);
    ck_assert_int_eq(engine->session.phase, XD_PHASE_REFETCH);
    ck_assert_uint_eq(engine->repair.depot, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("repair");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, who_is_outvoted_is_suspected_in_place_of_the_suspect);
    tcase_add_test(tcase, whom_others_took_the_place_of_is_suspected_later);
    tcase_add_test(tcase, a_suspect_who_is_outvoted_stays_it);
    tcase_add_test(tcase, three_who_all_differ_leave_the_suspect_as_it_was);
    tcase_add_test(tcase, nobody_is_asked_about_a_suspect_twice);
    tcase_add_test(tcase, who_is_outvoted_late_is_suspected_next);
    tcase_add_test(tcase, who_has_no_byte_in_the_file_is_not_suspected);
    return run_suite("repair", tcase);
}
