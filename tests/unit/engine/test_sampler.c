/* SPDX-License-Identifier: MIT */
/*
 * Which depot is asked for a sample, and when.  That wrong bytes are found is the
 * integration tests' business.
 */
#include "engine/trust/sampler.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/lifetime.h"
#include "engine/trust/blame.h"
#include "engine/compare_copies.h"
#include "suite.h"

#define SIZE ((uint64_t)8 << 20)

static char folder[SUITE_FOLDER];
static char path[64];
static unsigned char zeros[XD_SAMPLE_BYTES], ones[XD_SAMPLE_BYTES];
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_engine *engine; /* the tests play its threads */
static struct xd_lane lane;
static struct xd_worker worker = {.lanes = &lane, .n_lanes = 1};
static struct xd_worker *workers[] = {&worker};
static struct xd_worker **own_workers; /* the engine's, for tear_down() */
static struct xd_error error;

static void set_up(void)
{
    static const char text[] =
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        "<file name=\"f\"><size>8388608</size>"
        "<url>http://a.example/f</url><url>http://b.example/f</url>"
        "<url>http://c.example/f</url></file></metalink>";

    memset(ones, 1, sizeof ones);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, sizeof text - 1, NULL, &error), 0);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    ck_assert_int_eq(xd_engine_new(&engine, manifest, 0, &xd_output_file, path,
                                   -1, options, &error),
                     0);
    engine->session.phase = XD_PHASE_FETCH;
    engine->wanted = (struct xd_range){0, SIZE};
    engine->sampler.has_thread = true;
    own_workers = engine->workers.list;
    engine->workers.list = workers;
    engine->workers.n = 1;
    xd_engine_lock(engine);
    xd_sampler_start_locked(engine);
    ck_assert_uint_gt(engine->sampler.n, 1);
}

static void tear_down(void)
{
    engine->sampler.has_thread = false;
    engine->workers.list = own_workers;
    engine->workers.n = 0;
    xd_engine_unlock(engine);
    xd_engine_unref(engine);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* The second sample is asked of `depot`; XD_HELD: of none. */
static void request_second(unsigned depot)
{
    struct xd_range range = engine->sampler.samples[1].range;

    worker.depot = depot == XD_HELD ? NULL : engine->depots.list[depot];
    lane = (struct xd_lane){
        .state = LANE_RUNNING, .range = range, .end = range.end};
}

static bool is_asked(unsigned *out_depot)
{
    size_t i;

    if (!xd_sampler_choose_locked(engine, &i, out_depot))
        return false;
    ck_assert_uint_eq(i, 1);
    return true;
}

static void deliver_sample(unsigned depot, const unsigned char *data)
{
    engine->depots.list[depot]->samples_asked |= 2;
    xd_sampler_received_locked(engine, 1, depot, data);
}

static void deliver_second(unsigned depot, const unsigned char *data)
{
    compare_copies_locked(engine, depot, engine->sampler.samples[1].range,
                          data);
    request_second(XD_HELD);
}

START_TEST(a_sample_is_asked_for_while_the_bytes_are_in_flight)
{
    unsigned depot;

    engine->depots.list[2]->bytes = 1;
    request_second(XD_HELD);
    ck_assert(!is_asked(&depot));
    request_second(0);
    ck_assert(is_asked(&depot));
    ck_assert_uint_eq(depot, 2);
}
END_TEST

START_TEST(of_those_that_have_delivered_the_nearest_is_asked)
{
    unsigned depot;

    for (unsigned i = 1; i < 3; i++) {
        engine->depots.list[i]->bytes = 1;
        engine->depots.list[i]->first_byte = (unsigned)_i == i ? 10 : 20;
    }
    request_second(0);
    ck_assert(is_asked(&depot));
    ck_assert_uint_eq(depot, (unsigned)_i);
}
END_TEST

/* It may be silent. */
START_TEST(a_depot_that_has_delivered_nothing_is_asked_later)
{
    unsigned depot;

    request_second(0);
    ck_assert(!is_asked(&depot));
    deliver_second(0, zeros);
    ck_assert(is_asked(&depot));
    ck_assert_uint_ne(depot, 0);
}
END_TEST

START_TEST(a_depot_is_not_asked_for_what_it_delivers_itself)
{
    unsigned depot;

    engine->depots.list[1]->bytes = 1;
    request_second(1);
    ck_assert(!is_asked(&depot));
}
END_TEST

START_TEST(a_sample_that_came_first_is_compared_with_the_bytes)
{
    unsigned depot;

    engine->depots.list[2]->bytes = 1;
    request_second(0);
    ck_assert(is_asked(&depot));
    deliver_sample(2, zeros);
    ck_assert(!is_asked(&depot));
    ck_assert_uint_eq(engine->sampler.bytes_compared, 0);
    deliver_second(0, zeros);
    ck_assert(!is_asked(&depot));
    ck_assert_uint_eq(engine->sampler.bytes_compared,
                      xd_range_length(engine->sampler.samples[1].range));
}
END_TEST

START_TEST(a_third_depot_decides_where_the_bytes_differ_from_the_sample)
{
    unsigned depot;

    engine->depots.list[2]->bytes = 1;
    request_second(0);
    deliver_sample(2, zeros);
    deliver_second(0, ones);
    ck_assert(is_asked(&depot));
    ck_assert_uint_eq(depot, 1);
    ck_assert_uint_eq(engine->sampler.bytes_compared, 0);
    deliver_sample(1, ones);
    ck_assert(engine->depots.list[2]->is_banned);
    ck_assert_uint_eq(engine->sampler.bytes_compared,
                      xd_range_length(engine->sampler.samples[1].range));
}
END_TEST

/* Its request failed, and the depot that told the sample delivers the bytes. */
/* Two depots have both copies of the second sample; the third has delivered the
 * beginning.  Those that can be asked about it answer after these times. */
static void deliver_beginning(xd_usec first, xd_usec second)
{
    request_second(0);
    deliver_second(0, zeros);
    deliver_sample(1, zeros);
    engine->depots.list[0]->first_byte = first;
    engine->depots.list[1]->first_byte = second;
    ck_assert(!is_asked(&(unsigned){0}));
    compare_copies_locked(engine, 2, (struct xd_range){0, 8192}, zeros);
}

START_TEST(each_depot_is_compared_once_with_a_near_one)
{
    struct xd_range own;
    unsigned depot;
    size_t i;

    deliver_beginning(2, 1);
    ck_assert(xd_sampler_choose_locked(engine, &i, &depot));
    ck_assert_uint_eq(depot, 1);
    own = engine->sampler.samples[i].range;
    ck_assert_uint_eq(own.begin, 0);
    ck_assert_uint_eq(own.end, XD_SAMPLE_BYTES);
    xd_sampler_received_locked(engine, i, depot, zeros);
    ck_assert(!is_asked(&depot));
    compare_copies_locked(engine, 2, (struct xd_range){8192, 16384}, zeros);
    ck_assert(!is_asked(&depot));
}
END_TEST

/* Two servers may stand behind its name. */
START_TEST(a_sample_that_a_depot_was_asked_for_proves_nothing_else_of_it)
{
    unsigned depot;
    size_t i;

    deliver_second(0, zeros);
    deliver_sample(2, zeros);
    engine->depots.list[0]->first_byte = 1;
    compare_copies_locked(engine, 2, (struct xd_range){0, 8192}, ones);
    ck_assert(xd_sampler_choose_locked(engine, &i, &depot));
    ck_assert_uint_eq(depot, 0);
    ck_assert_uint_eq(engine->sampler.samples[i].range.begin, 0);
}
END_TEST

START_TEST(a_depot_that_was_banned_meanwhile_is_no_witness)
{
    const struct xd_sample_copies *c = &engine->sampler.samples[1];

    deliver_second(0, ones);
    xd_blame_ban_locked(engine, 0, &(struct xd_error){.msg = "it changed"});
    deliver_sample(1, zeros);
    ck_assert(!xd_sample_copies_differ(c));
    ck_assert_uint_eq(xd_sample_copies_count(c), 1);
}
END_TEST

START_TEST(a_depot_that_differs_in_its_first_bytes_is_outvoted)
{
    unsigned depot;
    size_t i;

    deliver_beginning(1, 2);
    for (unsigned expected = 0; expected < 2; expected++) {
        ck_assert(xd_sampler_choose_locked(engine, &i, &depot));
        ck_assert_uint_eq(depot, expected);
        engine->depots.list[depot]->samples_asked |= UINT64_C(1) << i;
        xd_sampler_received_locked(engine, i, depot, ones);
    }
    ck_assert(engine->depots.list[2]->is_banned);
    ck_assert(!engine->depots.list[0]->is_banned);
}
END_TEST

START_TEST(a_depot_without_an_answer_yet_is_not_asked_about_another)
{
    deliver_beginning(XD_NEVER, XD_NEVER);
    ck_assert(!is_asked(&(unsigned){0}));
}
END_TEST

START_TEST(a_few_first_bytes_are_not_compared)
{
    size_t n = engine->sampler.n;

    compare_copies_locked(engine, 2, (struct xd_range){0, 511}, zeros);
    ck_assert_uint_eq(engine->sampler.n, n);
    compare_copies_locked(engine, 2, (struct xd_range){511, 1023}, zeros);
    ck_assert_uint_eq(engine->sampler.n, n + 1);
}
END_TEST

START_TEST(one_depot_that_delivered_both_is_not_compared_with_itself)
{
    unsigned depot;

    engine->depots.list[2]->bytes = 1;
    request_second(0);
    deliver_sample(2, zeros);
    request_second(2);
    ck_assert(is_asked(&depot));
    ck_assert_uint_ne(depot, 2);
    deliver_second(2, zeros);
    ck_assert(is_asked(&depot));
    ck_assert_uint_ne(depot, 2);
    ck_assert_uint_eq(engine->sampler.bytes_compared, 0);
}
END_TEST

/* The hash of the whole proves a file before anybody sees it.  Readers and pipes have
 * the bytes before. */
START_TEST(whole_hash_replaces_comparing_only_for_a_file)
{
    static const struct {
        const struct xd_output_traits *output;
        bool compares;
    } rows[] = {{&xd_output_file, false},
                {&xd_output_source, true},
                {&xd_output_pipe, true}};
    const struct xd_output_traits *own = engine->dest.output;

    engine->verify.whole = (struct xd_proof *)(void *)&error;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        engine->sampler.is_on = false;
        engine->dest.output = rows[i].output;
        xd_sampler_start_locked(engine);
        ck_assert_int_eq(engine->sampler.is_on, rows[i].compares);
    }
    engine->verify.whole = NULL;
    engine->dest.output = own;
}
END_TEST

START_TEST(first_bytes_wait_for_another_depot_with_a_whole_hash)
{
    const enum xd_phase phase = engine->session.phase;
    xd_usec until = 0;

    ck_assert(!xd_sampler_delays_locked(engine, 0, &until));
    engine->verify.whole = (struct xd_proof *)(void *)&error;
    ck_assert(xd_sampler_delays_locked(engine, 0, &until));
    ck_assert_uint_gt(until, 0);
    engine->session.phase = XD_PHASE_FINISH;
    ck_assert(!xd_sampler_delays_locked(engine, 0, &until));
    engine->session.phase = phase;
    deliver_second(0, zeros);
    ck_assert(xd_sampler_delays_locked(engine, 0, &until));
    deliver_second(1, zeros);
    ck_assert(!xd_sampler_delays_locked(engine, 0, &until));
    ck_assert(!xd_sampler_delays_locked(engine, 1, &until));
    engine->verify.whole = NULL;
}
END_TEST

START_TEST(a_sample_that_the_whole_hash_will_decide_is_not_asked_again)
{
    unsigned depot;

    engine->verify.whole = (struct xd_proof *)(void *)&error;
    engine->depots.list[2]->max_connections = 1; /* it is no witness */
    deliver_second(0, zeros);
    deliver_second(1, ones);
    ck_assert(!is_asked(&depot));
    engine->verify.whole = NULL;
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sampler");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, a_sample_is_asked_for_while_the_bytes_are_in_flight);
    tcase_add_loop_test(t, of_those_that_have_delivered_the_nearest_is_asked, 1,
                        3);
    tcase_add_test(t, a_depot_that_has_delivered_nothing_is_asked_later);
    tcase_add_test(t, a_depot_is_not_asked_for_what_it_delivers_itself);
    tcase_add_test(t, a_sample_that_came_first_is_compared_with_the_bytes);
    tcase_add_test(
        t, a_third_depot_decides_where_the_bytes_differ_from_the_sample);
    tcase_add_test(t, each_depot_is_compared_once_with_a_near_one);
    tcase_add_test(
        t, a_sample_that_a_depot_was_asked_for_proves_nothing_else_of_it);
    tcase_add_test(t, a_depot_that_was_banned_meanwhile_is_no_witness);
    tcase_add_test(t, a_depot_that_differs_in_its_first_bytes_is_outvoted);
    tcase_add_test(t, a_depot_without_an_answer_yet_is_not_asked_about_another);
    tcase_add_test(t, whole_hash_replaces_comparing_only_for_a_file);
    tcase_add_test(t, first_bytes_wait_for_another_depot_with_a_whole_hash);
    tcase_add_test(t,
                   a_sample_that_the_whole_hash_will_decide_is_not_asked_again);
    tcase_add_test(t, a_few_first_bytes_are_not_compared);
    tcase_add_test(t,
                   one_depot_that_delivered_both_is_not_compared_with_itself);
    return run_suite("engine.sampler", t);
}
