/* SPDX-License-Identifier: MIT */
/* Of many objects no more are begun at a time than may be. */
#include "play.h"

/* What the adaptive one begins sim.sets holds to the same. */
static const struct xd_policy *const policies[] = {
    &xd_policy_basic, &xd_policy_aggressive, &xd_policy_progress};

#define OBJECT ((uint64_t)20)
#define N_OBJECTS 5

static uint64_t cuts[N_OBJECTS - 1];

/* Five objects of two blocks, and as many depots as there are blocks. */
static void init(struct play *p, const struct xd_policy *policy,
                 unsigned most_objects)
{
    play_init(p, policy, 10, N_OBJECTS * OBJECT);
    for (unsigned i = 0; i < N_OBJECTS - 1; i++)
        cuts[i] = (i + 1) * OBJECT;
    p->layout.cuts = cuts;
    p->layout.n_cuts = N_OBJECTS - 1;
    p->o.most_objects = most_objects;
    p->o.redundancy = 1;
    p->o.has_gaps = true;
}

/* Begins what may be begun; returns up to where that is.  *out_failed: up to where
 * it was given up meanwhile. */
static uint64_t begin_all(struct play *p, uint64_t *out_failed)
{
    struct xd_sched_action a;
    uint64_t to = 0;

    while (a = play_next(p), a.kind != XD_DO_WAIT) {
        ck_assert_int_ne(a.kind, XD_DO_FINISH);
        if (a.kind == XD_DO_FETCH && a.range.end > to)
            to = a.range.end;
        if (a.kind == XD_DO_FAIL)
            *out_failed = a.range.end;
    }
    return to;
}

static void receive(struct play *p, uint64_t begin, uint64_t end)
{
    play_range(p, XD_EV_HELD, begin, end);
}

static void verify(struct play *p, uint64_t begin, uint64_t end)
{
    play_range(p, XD_EV_VERIFIED, begin, end);
}

START_TEST(the_next_is_begun_when_one_is_verified)
{
    struct play p;

    init(&p, policies[_i], 2);
    play_start(&p);
    ck_assert_uint_eq(begin_all(&p, NULL), 2 * OBJECT);
    receive(&p, 0, OBJECT);
    ck_assert_uint_eq(begin_all(&p, NULL), 0);
    verify(&p, 0, OBJECT - 1);
    ck_assert_uint_eq(begin_all(&p, NULL), 0);
    verify(&p, OBJECT - 1, OBJECT);
    ck_assert_uint_eq(begin_all(&p, NULL), 3 * OBJECT);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_is_verified_late_holds_up_none_but_one)
{
    struct play p;

    init(&p, policies[_i], 2);
    play_start(&p);
    begin_all(&p, NULL);
    for (uint64_t i = 1; i < N_OBJECTS - 1; i++) {
        verify(&p, i * OBJECT, (i + 1) * OBJECT);
        ck_assert_uint_eq(begin_all(&p, NULL), (i + 2) * OBJECT);
    }
    play_fini(&p);
}
END_TEST

START_TEST(what_is_there_before_is_not_begun)
{
    struct play p;

    init(&p, policies[_i], 1);
    play_start(&p);
    receive(&p, 0, 2 * OBJECT);
    verify(&p, 0, 2 * OBJECT);
    ck_assert_uint_eq(begin_all(&p, NULL), 3 * OBJECT);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_nobody_has_makes_room_for_the_next)
{
    uint64_t failed = 0;
    struct play p;

    init(&p, policies[_i], 1);
    play_start(&p);
    for (unsigned i = 0; i < p.layout.n_depots; i++)
        play_lost(&p, i, OBJECT / 2, OBJECT + OBJECT / 2);
    ck_assert_uint_eq(begin_all(&p, &failed), 3 * OBJECT);
    ck_assert_uint_eq(failed, OBJECT + OBJECT / 2);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_missing_again_does_not_keep_others_from_going_on)
{
    struct play p;

    init(&p, policies[_i], 1);
    play_start(&p);
    begin_all(&p, NULL);
    verify(&p, 0, OBJECT);
    begin_all(&p, NULL);
    play_range(&p, XD_EV_REJECTED, 0, OBJECT / 2);
    verify(&p, OBJECT, 2 * OBJECT);
    ck_assert_uint_eq(begin_all(&p, NULL), 3 * OBJECT);
    play_fini(&p);
}
END_TEST

START_TEST(without_a_number_all_are_begun)
{
    struct play p;

    init(&p, policies[_i], 0);
    play_start(&p);
    ck_assert_uint_eq(begin_all(&p, NULL), N_OBJECTS * OBJECT);
    play_fini(&p);
}
END_TEST

/* ---- more is wanted ---- */

static const struct xd_policy *const adaptive = &xd_policy_adaptive;

static void extend(struct play *p, uint64_t begin, uint64_t end)
{
    play_range(p, XD_EV_EXTENDED, begin, end);
    for (unsigned i = 0; i < p->layout.n_depots; i++)
        play_event(p, (struct xd_sched_event){.kind = XD_EV_JOINED,
                                              .depot = i,
                                              .range = {begin, end}});
}

static void receive_and_verify(struct play *p, uint64_t begin, uint64_t end)
{
    receive(p, begin, end);
    verify(p, begin, end);
}

/* Also when all that was wanted before is here. */
START_TEST(what_is_added_is_asked_for_and_ends_it_later)
{
    const uint64_t end = N_OBJECTS * OBJECT;
    struct xd_sched_action a;
    struct play p;

    init(&p, adaptive, _i == 0 ? 0 : 2);
    play_start(&p);
    receive_and_verify(&p, 0, end);
    ck_assert_int_eq(play_next(&p).kind, XD_DO_FINISH);
    extend(&p, end, end + OBJECT);
    extend(&p, end + OBJECT, end + 2 * OBJECT);
    while (a = play_next(&p), a.kind != XD_DO_FETCH)
        ck_assert(a.kind != XD_DO_FINISH && a.kind != XD_DO_WAIT);
    ck_assert_uint_eq(a.range.begin, end);
    ck_assert_uint_le(a.range.end, end + OBJECT); /* an edge lies there */
    receive_and_verify(&p, end, end + 2 * OBJECT - 1);
    ck_assert_int_ne(play_next(&p).kind, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(of_what_is_added_no_more_is_begun_than_may_be)
{
    const uint64_t end = N_OBJECTS * OBJECT;
    uint64_t to;
    struct play p;

    init(&p, adaptive, 1);
    play_start(&p);
    for (uint64_t i = 0; i < N_OBJECTS; i++)
        extend(&p, end + i * OBJECT, end + (i + 1) * OBJECT);
    receive_and_verify(&p, 0, end);
    to = begin_all(&p, NULL);
    ck_assert(to > end && to <= end + OBJECT);
    receive(&p, end, end + OBJECT);
    ck_assert_uint_eq(begin_all(&p, NULL), 0);
    play_fini(&p);
}
END_TEST

/* What was given up is not asked for again for the sake of something else. */
START_TEST(what_is_added_gives_no_hope_for_what_is_lost)
{
    const uint64_t end = N_OBJECTS * OBJECT;
    uint64_t failed = 0;
    struct play p;

    init(&p, adaptive, 2);
    play_start(&p);
    for (unsigned i = 0; i < p.layout.n_depots; i++)
        play_lost(&p, i, 0, OBJECT);
    begin_all(&p, &failed);
    ck_assert_uint_eq(failed, OBJECT);
    failed = 0;
    extend(&p, end, end + OBJECT);
    begin_all(&p, &failed);
    ck_assert_uint_eq(failed, 0);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("horizon");

    tcase_add_loop_test(t, the_next_is_begun_when_one_is_verified, 0, 3);
    tcase_add_loop_test(t, one_that_is_verified_late_holds_up_none_but_one, 0,
                        3);
    tcase_add_loop_test(t, what_is_there_before_is_not_begun, 0, 3);
    tcase_add_loop_test(t, one_that_nobody_has_makes_room_for_the_next, 0, 3);
    tcase_add_loop_test(
        t, what_is_missing_again_does_not_keep_others_from_going_on, 0, 3);
    tcase_add_loop_test(t, without_a_number_all_are_begun, 0, 3);
    tcase_add_loop_test(t, what_is_added_is_asked_for_and_ends_it_later, 0, 2);
    tcase_add_test(t, of_what_is_added_no_more_is_begun_than_may_be);
    tcase_add_test(t, what_is_added_gives_no_hope_for_what_is_lost);
    return run_suite("sched.horizon", t);
}
