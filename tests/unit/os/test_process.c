/* SPDX-License-Identifier: MIT */
#include "os/process.h"

#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "suite.h"

#define LONG ((size_t)4 << 20) /* more than any socket holds */

static struct xd_process p;
static struct xd_error err;

static void setup(void)
{
    ck_assert_int_eq(xd_process_init(&p), 0);
    err = (struct xd_error){0};
}

static void teardown(void)
{
    xd_process_fini(&p);
}

static int start(const char *script, size_t most)
{
    const char *const argv[] = {"sh", "-c", script, NULL};

    return xd_process_start(&p, argv, most, &err);
}

static void run(const char *script)
{
    ck_assert_msg(start(script, 1000) == 0, "%s", err.msg);
    ck_assert_msg(xd_process_end(&p, &err) == 0, "%s", err.msg);
    ck_assert(!xd_process_is_running(&p));
}

START_TEST(what_it_says_on_both_outputs_is_kept)
{
    run("echo one; echo two >&3; echo three >&2");
    ck_assert_str_eq(p.said[XD_PROCESS_OUTPUT].s, "one\n");
    ck_assert_str_eq(p.said[XD_PROCESS_FD3].s, "two\n");
}
END_TEST

START_TEST(it_reads_what_it_is_fed)
{
    ck_assert_int_eq(start("cat; echo end >&3", 1000), 0);
    ck_assert_int_eq(xd_process_feed(&p, "ab", 2, &err), 0);
    ck_assert_int_eq(xd_process_feed(&p, "c", 1, &err), 0);
    ck_assert_int_eq(xd_process_end(&p, &err), 0);
    ck_assert_str_eq(p.said[XD_PROCESS_OUTPUT].s, "abc");
    ck_assert_str_eq(p.said[XD_PROCESS_FD3].s, "end\n");
}
END_TEST

START_TEST(feeding_and_listening_do_not_wait_for_each_other)
{
    char *data = xd_alloc(LONG, 1);

    ck_assert_ptr_nonnull(data);
    ck_assert_int_eq(start("tee /proc/self/fd/3 2>/dev/null || cat", LONG), 0);
    ck_assert_msg(xd_process_feed(&p, data, LONG, &err) == 0, "%s", err.msg);
    ck_assert_msg(xd_process_end(&p, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(p.said[XD_PROCESS_OUTPUT].len, LONG);
    xd_free(data);
}
END_TEST

START_TEST(one_that_reads_nothing_may_still_say_why)
{
    char *data = xd_alloc(LONG, 1);

    ck_assert_int_eq(start("exec <&-; echo no", 1000), 0);
    ck_assert_int_eq(xd_process_feed(&p, data, LONG, &err), 0);
    ck_assert_int_eq(xd_process_end(&p, &err), 0);
    ck_assert_str_eq(p.said[XD_PROCESS_OUTPUT].s, "no\n");
    xd_free(data);
}
END_TEST

START_TEST(one_that_says_too_much_is_ended)
{
    ck_assert_int_eq(start("while :; do echo more; done", 1000), 0);
    ck_assert_int_eq(xd_process_end(&p, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "more than 1000 bytes"));
    ck_assert(!xd_process_is_running(&p));
}
END_TEST

START_TEST(it_may_say_as_much_as_is_allowed)
{
    ck_assert_int_eq(start("printf 12345", 5), 0);
    ck_assert_int_eq(xd_process_end(&p, &err), 0);
    ck_assert_int_eq(start("printf 123456", 5), 0);
    ck_assert_int_eq(xd_process_end(&p, &err), XD_E_IO);
}
END_TEST

START_TEST(a_program_that_is_not_there_is_named)
{
    const char *const argv[] = {"no-such-program-is-there", NULL};
    int rc = xd_process_start(&p, argv, 10, &err);

    if (rc == 0) /* the system cannot say it at once */
        rc = xd_process_end(&p, &err);
    ck_assert_int_eq(rc, XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "no-such-program-is-there cannot be "
                                          "run: is it installed?"));
}
END_TEST

START_TEST(one_that_a_system_cannot_run_says_so_by_its_status)
{
    ck_assert_int_eq(start("exit 127", 10), 0);
    ck_assert_int_eq(xd_process_end(&p, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "cannot be run: is it installed?"));
    ck_assert_int_eq(start("exit 126", 10), 0);
    ck_assert_int_eq(xd_process_end(&p, &err), 0);
}
END_TEST

START_TEST(its_environment_is_the_locale_alone)
{
    run("/usr/bin/env | grep -v -e ^PWD= -e ^SHLVL= -e ^_=");
    ck_assert_str_eq(p.said[XD_PROCESS_OUTPUT].s, "LC_ALL=C\n");
}
END_TEST

START_TEST(it_inherits_no_descriptor_of_another_and_no_signal_mask)
{
    struct xd_process other;
    const char *const argv[] = {"cat", NULL};
    sigset_t all;

    ck_assert_int_eq(xd_process_init(&other), 0);
    ck_assert_int_eq(xd_process_start(&other, argv, 10, &err), 0);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    run("ls -l /proc/$$/fd | grep -c socket:; grep SigBlk /proc/self/status "
        ">&3");
    ck_assert_str_eq(p.said[XD_PROCESS_OUTPUT].s, "3\n");
    ck_assert_ptr_nonnull(strstr(p.said[XD_PROCESS_FD3].s, "0000000000000000"));
    xd_process_fini(&other);
}
END_TEST

START_TEST(a_second_run_forgets_the_first)
{
    run("echo one");
    run("echo two >&3");
    ck_assert_ptr_null(p.said[XD_PROCESS_OUTPUT].s);
    ck_assert_str_eq(p.said[XD_PROCESS_FD3].s, "two\n");
}
END_TEST

static void *stop_soon(void *unused)
{
    (void)unused;
    suite_rest_ms(50);
    xd_process_stop(&p);
    return NULL;
}

START_TEST(a_stop_ends_what_waits_and_all_that_comes_later)
{
    struct xd_thread thread;

    ck_assert_int_eq(start("exec sleep 1000", 10), 0);
    ck_assert_int_eq(xd_thread_start(&thread, stop_soon, NULL), 0);
    ck_assert_int_eq(xd_process_end(&p, &err), XD_E_CANCELED);
    xd_thread_join(&thread);
    ck_assert_int_eq(start("echo", 10), XD_E_CANCELED);
}
END_TEST

START_TEST(one_that_is_abandoned_is_not_left_behind)
{
    pid_t pid;

    ck_assert_int_eq(start("exec sleep 1000", 10), 0);
    pid = p.pid;
    xd_process_abandon(&p);
    ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("process");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 300);
    tcase_add_test(t, what_it_says_on_both_outputs_is_kept);
    tcase_add_test(t, it_reads_what_it_is_fed);
    tcase_add_test(t, feeding_and_listening_do_not_wait_for_each_other);
    tcase_add_test(t, one_that_reads_nothing_may_still_say_why);
    tcase_add_test(t, one_that_says_too_much_is_ended);
    tcase_add_test(t, it_may_say_as_much_as_is_allowed);
    tcase_add_test(t, a_program_that_is_not_there_is_named);
    tcase_add_test(t, one_that_a_system_cannot_run_says_so_by_its_status);
    tcase_add_test(t, its_environment_is_the_locale_alone);
    tcase_add_test(t, it_inherits_no_descriptor_of_another_and_no_signal_mask);
    tcase_add_test(t, a_second_run_forgets_the_first);
    tcase_add_test(t, a_stop_ends_what_waits_and_all_that_comes_later);
    tcase_add_test(t, one_that_is_abandoned_is_not_left_behind);
    return run_suite("process", t);
}
