/* SPDX-License-Identifier: MIT */
#include "publish/audit_verdict.h"

#include "suite.h"

/* Of a replica with which nothing is wrong. */
#define SOUND .has_answered = true, .answered_after = XD_MS

static const struct {
    struct xd_audit_facts facts;
    enum xd_audit_verdict verdict;
} rows[] = {
    {{SOUND}, XD_AUDIT_OK},
    {{SOUND, .is_left_out = true, .is_expired = true}, XD_AUDIT_SKIPPED},
    {{.answered_after = XD_NEVER}, XD_AUDIT_DEAD},
    {{.answered_after = XD_NEVER, .has_failed = true, .is_line_down = true},
     XD_AUDIT_UNREACHED},
    {{SOUND, .has_failed = true}, XD_AUDIT_DEAD},
    {{.answered_after = XD_NEVER, .has_failed = true, .is_denied = true},
     XD_AUDIT_DENIED},
    {{SOUND, .has_failed = true, .is_denied = true, .is_refused = true},
     XD_AUDIT_DENIED},
    {{SOUND, .has_failed = true, .is_denied = true, .is_expired = true},
     XD_AUDIT_EXPIRED},
    {{SOUND, .has_failed = true, .is_denied = true, .bytes_wrong = 1},
     XD_AUDIT_LYING},
    {{SOUND, .is_denied = true}, XD_AUDIT_OK},
    {{.is_expired = true, .has_failed = true}, XD_AUDIT_EXPIRED},
    {{SOUND, .has_failed = true, .is_refused = true}, XD_AUDIT_DEAD},
    {{SOUND, .differs_in_size = true, .has_failed = true}, XD_AUDIT_STALE},
    {{SOUND, .has_changed = true, .has_failed = true}, XD_AUDIT_STALE},
    {{SOUND, .bytes_wrong = 1}, XD_AUDIT_LYING},
    {{SOUND, .bytes_wrong = 1, .has_failed = true}, XD_AUDIT_LYING},
    {{SOUND, .bytes_wrong = 1, .is_older = true}, XD_AUDIT_STALE},
    {{SOUND, .is_older = true}, XD_AUDIT_OK},
    {{SOUND, .bytes_disputed = 1}, XD_AUDIT_DISPUTED},
    {{SOUND, .is_disputed = true}, XD_AUDIT_DISPUTED},
    {{SOUND, .bytes_disputed = 1, .has_no_ranges = true}, XD_AUDIT_DISPUTED},
    {{SOUND, .has_no_ranges = true}, XD_AUDIT_UNRANGED},
    {{.has_answered = true, .answered_after = 2 * XD_SECOND}, XD_AUDIT_OK},
    {{.has_answered = true, .answered_after = 2 * XD_SECOND + 1},
     XD_AUDIT_SLOW},
    {{SOUND, .received_in = XD_SECOND, .bytes_per_s = 24.9,
      .median_bytes_per_s = 100},
     XD_AUDIT_SLOW},
    {{SOUND, .received_in = XD_SECOND, .bytes_per_s = 25,
      .median_bytes_per_s = 100},
     XD_AUDIT_OK},
    {{SOUND, .received_in = XD_SECOND / 2 - 1, .bytes_per_s = 1,
      .median_bytes_per_s = 100},
     XD_AUDIT_OK},
    {{SOUND, .received_in = XD_SECOND / 2, .bytes_per_s = 1,
      .median_bytes_per_s = 100},
     XD_AUDIT_SLOW},
    {{SOUND, .received_in = XD_SECOND, .bytes_per_s = 0,
      .median_bytes_per_s = 100},
     XD_AUDIT_OK},
};

START_TEST(facts_make_a_verdict)
{
    ck_assert_int_eq(xd_audit_judge(&rows[_i].facts), rows[_i].verdict);
}
END_TEST

START_TEST(three_verdicts_are_of_replicas_that_can_be_used)
{
    unsigned usable = 0;

    for (int v = XD_AUDIT_SKIPPED; v <= XD_AUDIT_UNREACHED; v++) {
        if (xd_audit_verdict_is_usable((enum xd_audit_verdict)v))
            usable |= 1u << v;
        ck_assert_str_ne(xd_audit_verdict_name((enum xd_audit_verdict)v),
                         "unknown");
    }
    ck_assert_uint_eq(usable, 1u << XD_AUDIT_OK | 1u << XD_AUDIT_SLOW |
                                  1u << XD_AUDIT_UNRANGED);
}
END_TEST

START_TEST(a_rate_needs_bytes_and_time)
{
    ck_assert_double_eq(xd_audit_rate(100000, XD_SECOND), 100000);
    ck_assert_double_eq(xd_audit_rate(100000, 1), 2000000);
    ck_assert_double_eq(xd_audit_rate((32 << 10) - 1, XD_SECOND), 0);
    ck_assert_double_eq(xd_audit_rate(32 << 10, XD_SECOND), 32 << 10);
}
END_TEST

START_TEST(the_median_is_of_what_was_measured)
{
    double odd[] = {0, 9, 1, 0, 5}, even[] = {1, 0, 2}, empty[] = {0, 0};

    ck_assert_double_eq(xd_audit_median(odd, 5), 5);
    ck_assert_double_eq(xd_audit_median(even, 3), 2);
    ck_assert_double_eq(xd_audit_median(empty, 2), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("audit_verdict");

    tcase_add_loop_test(t, facts_make_a_verdict, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, three_verdicts_are_of_replicas_that_can_be_used);
    tcase_add_test(t, a_rate_needs_bytes_and_time);
    tcase_add_test(t, the_median_is_of_what_was_measured);
    return run_suite("audit_verdict", t);
}
