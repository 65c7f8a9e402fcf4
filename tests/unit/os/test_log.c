/* SPDX-License-Identifier: MIT */
/* lib/os/log: whole lines, one at a time, to the user's function. */
#include <stdio.h>
#include <string.h>

#include "os/log.h"
#include "suite.h"

#define THREADS 4
#define LINES 200

/* What the user's function saw; log.lock keeps it. */
static struct seen {
    int calls;
    enum xd_log_level level;
    char line[2000];
} seen;

static void see(void *user, enum xd_log_level level, const char *line)
{
    struct seen *s = user;

    s->calls++;
    s->level = level;
    snprintf(s->line, sizeof s->line, "%s", line);
}

START_TEST(a_line_arrives_with_its_level_and_its_user)
{
    struct xd_log log;

    ck_assert_int_eq(xd_log_init(&log, see, &seen), 0);
    xd_log(&log, XD_LOG_WARN, "depot %s: %d bytes", "d3", 42);
    xd_log_fini(&log);
    ck_assert_int_eq(seen.calls, 1);
    ck_assert_int_eq(seen.level, XD_LOG_WARN);
    ck_assert_str_eq(seen.line, "depot d3: 42 bytes");
}
END_TEST

START_TEST(without_a_function_nothing_happens)
{
    struct xd_log log;

    ck_assert_int_eq(xd_log_init(&log, NULL, &seen), 0);
    xd_log(&log, XD_LOG_ERROR, "%s", "unheard");
    xd_log_fini(&log);
    ck_assert_int_eq(seen.calls, 0);
}
END_TEST

START_TEST(a_line_stays_one_line_and_is_cut_when_long)
{
    struct xd_log log;
    char text[3000];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[5] = '\n';
    ck_assert_int_eq(xd_log_init(&log, see, &seen), 0);
    xd_log(&log, XD_LOG_DEBUG, "%s", text);
    xd_log_fini(&log);
    ck_assert_int_eq(strncmp(seen.line, "xxxxx?x", 7), 0);
    ck_assert_uint_eq(strlen(seen.line), 1023);
}
END_TEST

static void *talk(void *arg)
{
    for (int i = 0; i < LINES; i++)
        xd_log(arg, XD_LOG_INFO, "line %d", i);
    return NULL;
}

START_TEST(threads_talk_one_at_a_time)
{
    struct xd_log log;
    struct xd_thread threads[THREADS];

    ck_assert_int_eq(xd_log_init(&log, see, &seen), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(xd_thread_start(&threads[i], talk, &log), 0);
    for (int i = 0; i < THREADS; i++)
        xd_thread_join(&threads[i]);
    xd_log_fini(&log);
    ck_assert_int_eq(seen.calls, THREADS * LINES);
}
END_TEST

static void setup(void)
{
    memset(&seen, 0, sizeof seen);
}

int main(void)
{
    TCase *t = tcase_create("log");

    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, a_line_arrives_with_its_level_and_its_user);
    tcase_add_test(t, without_a_function_nothing_happens);
    tcase_add_test(t, a_line_stays_one_line_and_is_cut_when_long);
    tcase_add_test(t, threads_talk_one_at_a_time);
    return run_suite("os.log", t);
}
