/* SPDX-License-Identifier: MIT */
/* Which event leads from which phase to which, and what is done then. */
#include "session/session.h"

#include <signal.h>

#include "suite.h"

static const struct xd_session_round answer = {XD_ROUND_SINGLE_ANSWER, 7};
static const struct xd_session_round repair = {.kind = XD_ROUND_REPAIR};

/* All that is possible, but FAILED; `flag` is that of the event. */
static const struct step {
    enum xd_phase from;
    enum xd_session_event_kind event;
    bool flag, has_file;
    enum xd_phase to;
    enum xd_session_action_kind action;
} steps[] = {
    {XD_PHASE_NEW, XD_SESSION_STARTED, false, false, XD_PHASE_PROBE,
     XD_SESSION_DECIDE},
    {XD_PHASE_NEW, XD_SESSION_STARTED, false, true, XD_PHASE_PROBE,
     XD_SESSION_DECIDE},
    {XD_PHASE_NEW, XD_SESSION_STARTED, true, false, XD_PHASE_FETCH,
     XD_SESSION_DECIDE},
    {XD_PHASE_NEW, XD_SESSION_STARTED, true, true, XD_PHASE_OPEN,
     XD_SESSION_KEEP},
    {XD_PHASE_PROBE, XD_SESSION_SIZED, false, false, XD_PHASE_FETCH,
     XD_SESSION_DECIDE},
    {XD_PHASE_PROBE, XD_SESSION_SIZED, false, true, XD_PHASE_OPEN,
     XD_SESSION_KEEP},
    {XD_PHASE_OPEN, XD_SESSION_OPENED, false, true, XD_PHASE_FETCH,
     XD_SESSION_DECIDE},
    {XD_PHASE_FETCH, XD_SESSION_COMPLETE, false, true, XD_PHASE_FINISH,
     XD_SESSION_LEAVE},
    {XD_PHASE_FETCH, XD_SESSION_COMPLETE, true, true, XD_PHASE_CHECK,
     XD_SESSION_KEEP},
    {XD_PHASE_FETCH, XD_SESSION_RESTART, false, true, XD_PHASE_STOP,
     XD_SESSION_DECIDE},
    {XD_PHASE_REFETCH, XD_SESSION_COMPLETE, true, true, XD_PHASE_COMPARE,
     XD_SESSION_KEEP},
    {XD_PHASE_REFETCH, XD_SESSION_COMPLETE, false, true, XD_PHASE_COMPARE,
     XD_SESSION_KEEP},
    {XD_PHASE_REFETCH, XD_SESSION_RESTART, true, true, XD_PHASE_STOP,
     XD_SESSION_DECIDE},
    {XD_PHASE_COMPARE, XD_SESSION_RESTART, true, true, XD_PHASE_STOP,
     XD_SESSION_DECIDE},
    {XD_PHASE_COMPARE, XD_SESSION_REPLACED, false, true, XD_PHASE_CHECK,
     XD_SESSION_KEEP},
    {XD_PHASE_CHECK, XD_SESSION_RESTART, true, true, XD_PHASE_STOP,
     XD_SESSION_DECIDE},
    {XD_PHASE_CHECK, XD_SESSION_DISCARDED, false, true, XD_PHASE_FETCH,
     XD_SESSION_DECIDE},
    {XD_PHASE_CHECK, XD_SESSION_MATCHED, false, true, XD_PHASE_FINISH,
     XD_SESSION_LEAVE},
    {XD_PHASE_FINISH, XD_SESSION_ENDED, false, true, XD_PHASE_END,
     XD_SESSION_NOTHING},
    {XD_PHASE_FAIL, XD_SESSION_ENDED, false, true, XD_PHASE_END,
     XD_SESSION_NOTHING},
};

#define N_STEPS ((int)(sizeof steps / sizeof *steps))

static struct xd_session_event event_of(enum xd_session_event_kind kind,
                                        bool flag)
{
    struct xd_session_event event = {.kind = kind};

    if (kind == XD_SESSION_STARTED)
        event.is_size_known = flag;
    else if (kind == XD_SESSION_COMPLETE)
        event.is_to_be_checked = flag;
    else if (kind == XD_SESSION_RESTART)
        event.round = flag ? repair : answer;
    else if (kind == XD_SESSION_FAILED)
        event.is_cancel = flag;
    return event;
}

START_TEST(an_event_leads_on)
{
    const struct step *step = &steps[_i];
    struct xd_session s = {.phase = step->from, .has_file = step->has_file};
    struct xd_session_event event = event_of(step->event, step->flag);

    ck_assert_int_eq(xd_session_step(&s, &event).kind, step->action);
    ck_assert_int_eq(s.phase, step->to);
}
END_TEST

START_TEST(a_round_begins_when_no_request_is_left)
{
    struct xd_session s = {.phase = XD_PHASE_STOP, .round = answer};
    struct xd_session_event event = event_of(XD_SESSION_IDLE, false);
    struct xd_session_action action = xd_session_step(&s, &event);

    ck_assert_int_eq(action.kind, XD_SESSION_BEGIN);
    ck_assert_int_eq(action.round.kind, XD_ROUND_SINGLE_ANSWER);
    ck_assert_uint_eq(action.round.depot, 7);
    ck_assert_int_eq(s.phase, XD_PHASE_FETCH);
    s = (struct xd_session){.phase = XD_PHASE_STOP, .round = repair};
    action = xd_session_step(&s, &event);
    ck_assert_int_eq(action.kind, XD_SESSION_BEGIN);
    ck_assert_int_eq(action.round.kind, XD_ROUND_REPAIR);
    ck_assert_int_eq(s.phase, XD_PHASE_REFETCH);
}
END_TEST

START_TEST(a_failure_ends_every_phase_once)
{
    struct xd_session s = {.phase = (enum xd_phase)_i};
    struct xd_session_event event = event_of(XD_SESSION_FAILED, false);

    ck_assert_int_eq(xd_session_step(&s, &event).kind, XD_SESSION_LEAVE);
    ck_assert_int_eq(s.phase, XD_PHASE_FAIL);
    ck_assert_int_eq(xd_session_step(&s, &event).kind, XD_SESSION_NOTHING);
    ck_assert_int_eq(s.phase, XD_PHASE_FAIL);
}
END_TEST

START_TEST(a_complete_file_is_not_canceled_but_a_pipe_is)
{
    struct xd_session s = {.phase = XD_PHASE_FINISH};
    struct xd_session_event event = event_of(XD_SESSION_FAILED, true);

    ck_assert_int_eq(xd_session_step(&s, &event).kind, XD_SESSION_NOTHING);
    ck_assert_int_eq(s.phase, XD_PHASE_FINISH);
    s.is_pipe = true;
    ck_assert_int_eq(xd_session_step(&s, &event).kind, XD_SESSION_LEAVE);
    ck_assert_int_eq(s.phase, XD_PHASE_FAIL);
}
END_TEST

/* What a thread reports that was at work when the download failed. */
static bool may_be_late(enum xd_session_event_kind kind)
{
    return kind == XD_SESSION_OPENED || kind == XD_SESSION_RESTART ||
           kind == XD_SESSION_REPLACED || kind == XD_SESSION_DISCARDED ||
           kind == XD_SESSION_FAILED;
}

START_TEST(what_comes_after_a_failure_changes_nothing)
{
    for (enum xd_phase phase = XD_PHASE_FAIL; phase <= XD_PHASE_END; phase++) {
        struct xd_session s = {.phase = phase};
        struct xd_session_event event =
            event_of((enum xd_session_event_kind)_i, true);

        if (!may_be_late(event.kind))
            continue;
        ck_assert_int_eq(xd_session_step(&s, &event).kind, XD_SESSION_NOTHING);
        ck_assert_int_eq(s.phase, phase);
    }
}
END_TEST

#define N_PHASES (XD_PHASE_END + 1)
#define N_EVENTS (XD_SESSION_ENDED + 1)

static bool is_possible(enum xd_phase phase, enum xd_session_event_kind kind)
{
    bool is_over = phase == XD_PHASE_FAIL || phase == XD_PHASE_END;

    for (int i = 0; i < N_STEPS; i++)
        if (steps[i].from == phase && steps[i].event == kind)
            return true;
    return kind == XD_SESSION_FAILED || (is_over && may_be_late(kind)) ||
           (phase == XD_PHASE_STOP && kind == XD_SESSION_IDLE);
}

START_TEST(no_other_event_can_happen)
{
    enum xd_phase phase = (enum xd_phase)(_i / N_EVENTS);
    enum xd_session_event_kind kind =
        (enum xd_session_event_kind)(_i % N_EVENTS);
    struct xd_session s = {.phase = phase};
    struct xd_session_event event = event_of(kind, false);

    if (is_possible(phase, kind))
        raise(SIGABRT); /* it is what is expected of the others */
    xd_session_step(&s, &event);
}
END_TEST

START_TEST(what_is_possible_breaks_no_promise)
{
    enum xd_phase phase = (enum xd_phase)(_i / N_EVENTS);
    enum xd_session_event_kind kind =
        (enum xd_session_event_kind)(_i % N_EVENTS);
    struct xd_session s = {.phase = phase};
    struct xd_session_event event = event_of(kind, false);

    if (is_possible(phase, kind))
        xd_session_step(&s, &event);
}
END_TEST

/* ---- decisions ---- */

#define MINUTE (60 * XD_SECOND)

static struct xd_session session;

static void finish(void)
{
    xd_session_fini(&session);
    session = (struct xd_session){.phase = XD_PHASE_NEW};
}

static void expect(enum xd_session_action_kind kind, xd_usec now)
{
    ck_assert_int_eq(xd_session_next(&session, now, now).kind, kind);
}

static void expect_order(enum xd_sched_action_kind kind, xd_usec now)
{
    struct xd_session_action a = xd_session_next(&session, now, now);

    ck_assert_int_eq(a.kind, XD_SESSION_OBEY);
    ck_assert_int_eq(a.order.kind, kind);
}

/* The size is asked of one depot, which has failed, and is asked again at 50 s
 * of the scheduler's clock. */
static void probe(void)
{
    session.phase = XD_PHASE_PROBE;
    session.size_probe = xd_size_probe_new(1, 1, 3, 0);
    ck_assert_ptr_nonnull(session.size_probe);
    expect_order(XD_DO_OPEN, XD_SECOND);
    expect_order(XD_DO_FETCH, XD_SECOND);
    xd_size_probe_retry(session.size_probe, 0, 50 * XD_SECOND);
}

START_TEST(in_other_phases_nothing_is_decided)
{
    static const enum xd_phase idle[] = {
        XD_PHASE_NEW,    XD_PHASE_OPEN, XD_PHASE_COMPARE, XD_PHASE_CHECK,
        XD_PHASE_FINISH, XD_PHASE_FAIL, XD_PHASE_END};

    session.phase = idle[_i];
    expect(XD_SESSION_NOTHING, 0);
}
END_TEST

START_TEST(before_a_round_every_request_is_stopped)
{
    session.phase = XD_PHASE_STOP;
    expect(XD_SESSION_STOP_ALL, 0);
    expect(XD_SESSION_STOP_ALL, 0);
}
END_TEST

START_TEST(an_empty_file_is_complete)
{
    session.phase = XD_PHASE_FETCH;
    expect_order(XD_DO_FINISH, 0);
}
END_TEST

START_TEST(the_size_is_asked_for_first)
{
    probe();
    expect_order(XD_DO_WAIT, XD_SECOND);
}
END_TEST

START_TEST(a_pause_of_the_clock_delays_what_is_waited_for)
{
    struct xd_session_action a;

    probe();
    a = xd_session_next(&session, 11 * XD_SECOND, XD_SECOND);
    ck_assert_int_eq(a.order.kind, XD_DO_WAIT);
    ck_assert_uint_eq(a.order.until, 60 * XD_SECOND);
}
END_TEST

/* Three depots have answered at 1 s, and nothing comes since; request 0 has
 * failed at 6 s: orders come for 0.3 s, and then there is a pause. */
static void take_line_down(void)
{
    const struct xd_line_failure failure = {.is_unanswered = true};
    xd_usec retry_at;

    session.line = xd_line_new(3, 5 * XD_SECOND, 2 * MINUTE);
    ck_assert_ptr_nonnull(session.line);
    for (unsigned i = 0; i < 3; i++) {
        xd_line_begun(session.line, i, i, 0);
        xd_line_received(session.line, i, XD_SECOND);
    }
    ck_assert(
        xd_line_failed(session.line, 0, &failure, 6 * XD_SECOND, &retry_at));
}

START_TEST(requests_are_stopped_that_a_line_that_is_down_carries)
{
    xd_usec now = 6 * XD_SECOND;

    probe();
    take_line_down();
    for (unsigned fetch = 1; fetch < 3; fetch++) {
        struct xd_session_action a = xd_session_next(&session, now, now);

        ck_assert_int_eq(a.kind, XD_SESSION_STOP);
        ck_assert_int_eq(a.order.kind, XD_DO_CANCEL);
        ck_assert_uint_eq(a.order.fetch, fetch);
        xd_line_ended(session.line, fetch);
    }
    expect_order(XD_DO_WAIT, now);
}
END_TEST

START_TEST(while_the_line_is_down_there_are_pauses)
{
    struct xd_session_action a;
    xd_usec now = 7 * XD_SECOND;

    probe();
    take_line_down();
    for (unsigned fetch = 1; fetch < 3; fetch++)
        xd_line_ended(session.line, fetch);
    expect_order(XD_DO_WAIT, 6 * XD_SECOND);
    a = xd_session_next(&session, now, now);
    ck_assert_int_eq(a.kind, XD_SESSION_REST);
    ck_assert_uint_eq(a.until, xd_line_wake(session.line));
    expect_order(XD_DO_WAIT, a.until);
}
END_TEST

START_TEST(a_line_that_stays_down_is_lost)
{
    struct xd_session_action a;

    probe();
    take_line_down();
    a = xd_session_next(&session, 5 * MINUTE, 5 * MINUTE);
    ck_assert_int_eq(a.kind, XD_SESSION_LOSE);
    ck_assert_uint_eq(a.silent, 5 * MINUTE - XD_SECOND);
}
END_TEST

START_TEST(depots_are_pinged_only_where_that_can_be)
{
    xd_usec doubt_at;

    probe();
    session.line = xd_line_new(3, 5 * XD_SECOND, 2 * MINUTE);
    ck_assert_ptr_nonnull(session.line);
    for (unsigned i = 0; i < 3; i++) {
        xd_line_begun(session.line, i, i, 0);
        xd_line_received(session.line, i, XD_SECOND);
    }
    doubt_at = xd_line_doubt_at(session.line);
    ck_assert_uint_lt(doubt_at, 6 * XD_SECOND);
    expect_order(XD_DO_WAIT, doubt_at);
    session.can_ping = true;
    expect(XD_SESSION_DOUBT, doubt_at);
    expect_order(XD_DO_WAIT, doubt_at);
}
END_TEST

START_TEST(a_request_may_be_silent_as_long_as_its_user_says)
{
    session.silence = 7 * XD_SECOND;
    ck_assert_uint_eq(xd_session_silence(&session, 0), 7 * XD_SECOND);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("session");

    tcase_add_loop_test(tcase, an_event_leads_on, 0, N_STEPS);
    tcase_add_test(tcase, a_round_begins_when_no_request_is_left);
    tcase_add_loop_test(tcase, a_failure_ends_every_phase_once, 0,
                        XD_PHASE_FAIL);
    tcase_add_test(tcase, a_complete_file_is_not_canceled_but_a_pipe_is);
    tcase_add_loop_test(tcase, what_comes_after_a_failure_changes_nothing, 0,
                        N_EVENTS);
    tcase_add_loop_test_raise_signal(tcase, no_other_event_can_happen, SIGABRT,
                                     0, N_PHASES * N_EVENTS);
    tcase_add_loop_test(tcase, what_is_possible_breaks_no_promise, 0,
                        N_PHASES * N_EVENTS);
    tcase_add_checked_fixture(tcase, NULL, finish);
    tcase_add_loop_test(tcase, in_other_phases_nothing_is_decided, 0, 7);
    tcase_add_test(tcase, before_a_round_every_request_is_stopped);
    tcase_add_test(tcase, an_empty_file_is_complete);
    tcase_add_test(tcase, the_size_is_asked_for_first);
    tcase_add_test(tcase, a_pause_of_the_clock_delays_what_is_waited_for);
    tcase_add_test(tcase,
                   requests_are_stopped_that_a_line_that_is_down_carries);
    tcase_add_test(tcase, while_the_line_is_down_there_are_pauses);
    tcase_add_test(tcase, a_line_that_stays_down_is_lost);
    tcase_add_test(tcase, depots_are_pinged_only_where_that_can_be);
    tcase_add_test(tcase, a_request_may_be_silent_as_long_as_its_user_says);
    return run_suite("session", tcase);
}
