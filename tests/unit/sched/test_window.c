/* In-order output: how far ahead, and a silent depot at the head of the line. */
#include "play.h"

static void reader_is_at(struct play *p, uint64_t byte)
{
    play_range(p, XD_EV_READER, byte, 0);
}

START_TEST(no_block_is_fetched_that_ends_behind_the_window)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.lanes_per_depot = 9;
    p.o.window_bytes = 45;
    play_start(&p);
    expect_opened(&p, 1);
    for (uint64_t i = 0; i < 4; i++)
        expect_block(&p, 0, i);
    expect_wait(&p);
    play_done(&p, 0);
    expect_wait(&p);
    reader_is_at(&p, 4);
    expect_wait(&p);
    reader_is_at(&p, 5);
    expect_block(&p, 0, 4);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_reader_never_runs_back)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.lanes_per_depot = 9;
    p.o.window_bytes = 40;
    play_start(&p);
    expect_opened(&p, 1);
    reader_is_at(&p, 10);
    reader_is_at(&p, 0);
    for (uint64_t i = 0; i < 5; i++)
        expect_block(&p, 0, i);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_block_is_at_most_a_quarter_of_the_window)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 30;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->block_bytes, 7);
    play_fini(&p);

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 40;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->block_bytes, 10);
    play_fini(&p);
}
END_TEST

START_TEST(p_is_at_most_the_blocks_in_the_window_less_two)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 79;
    p.o.progress = 100;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 5);
    play_fini(&p);

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 79;
    p.o.progress = 4;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 4);
    play_fini(&p);
}
END_TEST

START_TEST(a_window_of_a_few_bytes_still_moves)
{
    for (uint64_t window = 1; window < 9; window++) {
        struct play p;

        play_init(&p, &xd_policy_progress, 1, 20);
        p.o.window_bytes = window;
        play_start(&p);
        expect_opened(&p, 1);
        for (;;) {
            struct xd_sched_action a = play_next(&p);

            if (a.kind == XD_DO_FINISH)
                break;
            ck_assert_int_eq(a.kind, XD_DO_FETCH);
            play_done(&p, a.fetch);
            reader_is_at(&p, a.range.end);
        }
        play_fini(&p);
    }
}
END_TEST

START_TEST(the_window_is_no_reason_to_double_blocks)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 2, 1000);
    p.o.window_bytes = 40;
    p.o.lanes_per_depot = 2;
    play_start(&p);
    expect_opened(&p, 2);
    for (unsigned i = 0; i < 4; i++)
        play_next(&p);
    play_done(&p, 1);
    expect_wait(&p); /* one lane is free, and untouched blocks lie ahead */
    play_fini(&p);
}
END_TEST

/*
 * Depot 0 says nothing about block 0, and the others complete all else that
 * the window allows.  The silent fetch is that of lane 0.
 */
static void silent_head(struct play *p, const struct xd_policy *policy)
{
    play_init(p, policy, 3, 1000);
    p->o.window_bytes = 60;
    p->o.progress = XD_AUTO;
    play_start(p);
    expect_opened(p, 3);
    expect_block(p, 0, 0);
}

START_TEST(progress_gets_past_a_silent_head_without_waiting_for_its_failure)
{
    struct play p;

    silent_head(&p, &xd_policy_progress);
    expect_block(&p, 1, 1);
    expect_block(&p, 2, 2);
    play_done(&p, 1);
    play_done(&p, 2);
    expect_block(&p, 1, 3);
    expect_block(&p, 2, 4);
    play_done(&p, 1);
    play_done(&p, 2);
    expect_block(&p, 1, 5);
    expect_wait(&p); /* four later ones are complete, which is P */
    play_done(&p, 1);
    expect_block(&p, 1, 0);
    play_done(&p, 1);
    expect_cancel(&p, 0);
    reader_is_at(&p, 60);
    expect_block(&p, 1, 6);
    play_fini(&p);
}
END_TEST

START_TEST(aggressive_gets_past_a_silent_head_at_once)
{
    struct play p;

    silent_head(&p, &xd_policy_aggressive);
    expect_block(&p, 1, 0);
    play_done(&p, 1);
    expect_cancel(&p, 0);
    expect_block(&p, 1, 1);
    play_fini(&p);
}
END_TEST

START_TEST(basic_gets_past_a_silent_head_when_its_fetch_fails)
{
    struct play p;

    silent_head(&p, &xd_policy_basic);
    for (uint64_t i = 1; i < 6; i++)
        play_done(&p, expect_block(&p, 1, i));
    expect_wait(&p);
    p.now = 10 * XD_SECOND;
    expect_wait(&p);
    play_failed(&p, 0);
    play_done(&p, expect_block(&p, 1, 0));
    reader_is_at(&p, 60);
    expect_block(&p, 1, 6);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("window");

    tcase_add_test(t, no_block_is_fetched_that_ends_behind_the_window);
    tcase_add_test(t, a_reader_never_runs_back);
    tcase_add_test(t, a_block_is_at_most_a_quarter_of_the_window);
    tcase_add_test(t, p_is_at_most_the_blocks_in_the_window_less_two);
    tcase_add_test(t, a_window_of_a_few_bytes_still_moves);
    tcase_add_test(t, the_window_is_no_reason_to_double_blocks);
    tcase_add_test(
        t, progress_gets_past_a_silent_head_without_waiting_for_its_failure);
    tcase_add_test(t, aggressive_gets_past_a_silent_head_at_once);
    tcase_add_test(t, basic_gets_past_a_silent_head_when_its_fetch_fails);
    return run_suite("sched.window", t);
}
