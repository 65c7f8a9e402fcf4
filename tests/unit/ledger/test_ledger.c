/* SPDX-License-Identifier: MIT */
/* lib/ledger: the state of every byte, held against an array. */
#include <signal.h>

#include "model.h"
#include "suite.h"

#define R(b, e) ((struct xd_range){b, e})
#define MILLION UINT64_C(1000000)

static struct xd_ledger ledger;

static void teardown(void)
{
    xd_ledger_fini(&ledger);
}

static void change(enum xd_transition t, uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(xd_ledger_change(&ledger, t, R(begin, end)), 0);
}

static void write_out(uint64_t begin, uint64_t end, unsigned depot)
{
    change(XD_CLAIM, begin, end);
    ck_assert_int_eq(xd_ledger_written(&ledger, R(begin, end), depot), 0);
}

static void discard(uint64_t begin, uint64_t end, enum xd_discard_reason why)
{
    ck_assert_int_eq(xd_ledger_discard(&ledger, R(begin, end), why), 0);
}

static void assert_state(uint64_t byte, enum xd_byte_state state,
                         unsigned depot)
{
    ck_assert_int_eq(xd_runs_at(&ledger.states, byte).state, state);
    ck_assert_uint_eq(xd_runs_at(&ledger.origins, byte).depot, depot);
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (uint32_t)((uint64_t)*seed * n >> 32);
}

/* At the beginning and at the end of all bytes there are. */
START_TEST(random_transitions_do_what_they_do_to_an_array)
{
    uint32_t seed = (uint32_t)_i;
    struct model m;

    model_init(&m, _i % 2 ? UINT64_MAX - MODEL_BYTES : 0);
    for (unsigned i = 0; i < 3000; i++) {
        unsigned a = draw(&seed, MODEL_BYTES + 1);
        unsigned b = draw(&seed, MODEL_BYTES + 1);
        unsigned begin = a < b ? a : b, end = a < b ? b : a;

        if (i % 3) /* a short one is legal more often */
            end = end < begin + 4 ? end : begin + 4;
        ck_assert_int_eq(
            model_change(
                &m, &ledger, draw(&seed, MODEL_TRANSITIONS), begin, end,
                model_origin(draw(&seed, MODEL_DEPOTS)),
                (enum xd_discard_reason)draw(&seed, XD_N_DISCARD_REASONS)),
            0);
        ck_assert(model_agrees(&m, &ledger, draw(&seed, 256),
                               model_origin(draw(&seed, MODEL_DEPOTS)), begin,
                               end));
        ck_assert(model_agrees_on_discards(&m, &ledger));
        ck_assert(model_has_whole_runs(&m, &ledger));
    }
}
END_TEST

START_TEST(a_byte_goes_from_missing_to_verified_and_keeps_its_origin)
{
    change(XD_ASSIGN, 0, 100);
    change(XD_RECEIVE, 0, 50);
    assert_state(49, XD_BYTE_RECEIVED, XD_NO_DEPOT);
    assert_state(50, XD_BYTE_ASSIGNED, XD_NO_DEPOT);
    write_out(0, 50, 7);
    assert_state(0, XD_BYTE_WRITTEN, 7);
    change(XD_VERIFY, 0, 50);
    assert_state(0, XD_BYTE_VERIFIED, 7);
    change(XD_RELEASE, 0, 100);
    assert_state(0, XD_BYTE_VERIFIED, 7);
    assert_state(50, XD_BYTE_MISSING, XD_NO_DEPOT);
    discard(0, 50, XD_DISCARD_BANNED);
    assert_state(0, XD_BYTE_MISSING, XD_NO_DEPOT);
}
END_TEST

START_TEST(what_is_being_written_is_not_discarded)
{
    write_out(0, 10, 1);
    change(XD_CLAIM, 10, 20);
    discard(0, 20, XD_DISCARD_BAD_PIECE);
    ck_assert(xd_ledger_has(&ledger, XD_BYTES_CLAIMED, R(10, 20)));
    ck_assert_uint_eq(xd_ledger_count(&ledger, XD_BYTES_CLAIMED, R(0, 10)), 0);
    ck_assert_uint_eq(ledger.discarded[XD_DISCARD_BAD_PIECE], 10);
}
END_TEST

static bool was_discarded(uint64_t byte, enum xd_discard_reason why)
{
    enum xd_discard_reason kept;

    return xd_ledger_was_discarded(&ledger, byte, &kept) && kept == why;
}

START_TEST(why_a_byte_was_discarded_is_kept_until_it_is_written_again)
{
    enum xd_discard_reason why;

    write_out(0, 100, 1);
    change(XD_VERIFY, 50, 100);
    discard(0, 30, XD_DISCARD_BAD_PIECE);
    discard(20, 60, XD_DISCARD_BANNED);
    ck_assert(was_discarded(29, XD_DISCARD_BAD_PIECE)); /* it was gone */
    ck_assert(was_discarded(59, XD_DISCARD_BANNED));
    ck_assert(!xd_ledger_was_discarded(&ledger, 60, &why));
    write_out(0, 25, 2);
    ck_assert(!xd_ledger_was_discarded(&ledger, 24, &why));
    ck_assert(was_discarded(25, XD_DISCARD_BAD_PIECE));
    assert_state(24, XD_BYTE_WRITTEN, 2);
    discard(0, 1, XD_DISCARD_BAD_PIECE);
    ck_assert_uint_eq(ledger.discarded[XD_DISCARD_BAD_PIECE], 31);
    ck_assert_uint_eq(ledger.discarded[XD_DISCARD_BANNED], 30);
}
END_TEST

/* Nothing was stored of it. */
START_TEST(what_a_request_received_and_did_not_write_is_lost_not_discarded)
{
    enum xd_discard_reason why;

    write_out(0, 10, 1);
    change(XD_RECEIVE, 10, 20);
    change(XD_LOSE, 0, 20);
    assert_state(9, XD_BYTE_WRITTEN, 1);
    assert_state(10, XD_BYTE_MISSING, XD_NO_DEPOT);
    ck_assert(!xd_ledger_was_discarded(&ledger, 10, &why));
}
END_TEST

START_TEST(what_was_set_aside_has_the_origin_of_the_first_copy)
{
    write_out(0, 100, 1);
    change(XD_VERIFY, 0, 100);
    change(XD_SET_ASIDE, 20, 60);
    ck_assert_uint_eq(xd_ledger_bytes(&ledger, XD_BYTES_RECEIVED), 60);
    write_out(20, 40, 2);
    change(XD_RESTORE, 0, 100);
    ck_assert_uint_eq(xd_ledger_bytes_of(&ledger, 1, R(0, 100)), 100);
    ck_assert(xd_ledger_has(&ledger, XD_BYTES_READABLE, R(0, 100)));
}
END_TEST

START_TEST(what_is_verified_of_a_broken_stream_may_be_read_and_is_missing)
{
    write_out(0, 10, 1);
    change(XD_VERIFY, 0, 10);
    change(XD_RECEIVE, 10, 20);
    change(XD_OUTDATE, 0, UINT64_MAX);
    ck_assert_uint_eq(xd_ledger_bytes(&ledger, XD_BYTES_RECEIVED), 0);
    ck_assert_uint_eq(xd_ledger_bytes(&ledger, XD_BYTES_READABLE), 10);
}
END_TEST

/* A second claim; the end of a write that was never begun; a verdict on what
 * is still written; a suspicion of what is not there. */
START_TEST(an_illegal_transition_breaks_a_promise)
{
    change(XD_CLAIM, 10, 20);
    switch (_i) {
    case 0:
        change(XD_CLAIM, 0, 11);
        break;
    case 1:
        (void)xd_ledger_written(&ledger, R(19, 21), 0);
        break;
    case 2:
        change(XD_VERIFY, 0, 30);
        break;
    case 3:
        change(XD_SET_ASIDE, 0, 1);
        break;
    case 4:
        change(XD_SET_ASIDE, 10, 20);
        break;
    }
}
END_TEST

/* How many nodes a transition and a search touch in the mean of `n`, among as
 * many runs. */
static double touched(uint64_t n)
{
    uint64_t visits = 0;
    uint32_t seed = 1;

    for (uint64_t i = 0; i < n / 2; i++)
        change(XD_ASSIGN, i * 20, i * 20 + 10);
    ledger.states.visits = &visits;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t at = draw(&seed, (uint32_t)(n / 2)) * UINT64_C(20);

        change(XD_RECEIVE, at + 2, at + 4);
        change(XD_RELEASE, at, at + 40);
        (void)xd_ledger_next(&ledger, XD_BYTES_RECEIVED, R(at + 4, n * 20));
        (void)xd_ledger_next_gap(&ledger, 1u | XD_BYTES_ASSIGNED,
                                 R(at, n * 20));
    }
    ledger.states.visits = NULL;
    xd_ledger_fini(&ledger);
    return (double)visits / 4000;
}

START_TEST(a_million_runs_cost_little_more_than_a_thousand)
{
    double thousand = touched(1000), million = touched(MILLION);

    ck_assert_double_lt(million, 3 * thousand);
    ck_assert_double_lt(million, 300);
}
END_TEST

START_TEST(runs_that_become_equal_are_one_and_their_nodes_are_used_again)
{
    size_t n;

    for (uint64_t i = 0; i < 1000; i++)
        change(XD_ASSIGN, i * 2, i * 2 + 1);
    n = ledger.states.n;
    change(XD_RECEIVE, 0, 2000);
    ck_assert_uint_eq(ledger.states.n - ledger.states.n_free, 3);
    for (uint64_t i = 0; i < 900; i++)
        write_out(i * 2, i * 2 + 1, 0);
    ck_assert_uint_le(ledger.states.n, n + 2);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("ledger");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_loop_test(tcase, random_transitions_do_what_they_do_to_an_array,
                        0, 20);
    tcase_add_test(tcase,
                   a_byte_goes_from_missing_to_verified_and_keeps_its_origin);
    tcase_add_test(tcase, what_is_being_written_is_not_discarded);
    tcase_add_test(tcase,
                   why_a_byte_was_discarded_is_kept_until_it_is_written_again);
    tcase_add_test(
        tcase, what_a_request_received_and_did_not_write_is_lost_not_discarded);
    tcase_add_test(tcase, what_was_set_aside_has_the_origin_of_the_first_copy);
    tcase_add_test(
        tcase, what_is_verified_of_a_broken_stream_may_be_read_and_is_missing);
    tcase_add_loop_test_raise_signal(
        tcase, an_illegal_transition_breaks_a_promise, SIGABRT, 0, 5);
    tcase_add_test(tcase, a_million_runs_cost_little_more_than_a_thousand);
    tcase_add_test(
        tcase, runs_that_become_equal_are_one_and_their_nodes_are_used_again);
    return run_suite("ledger", tcase);
}
