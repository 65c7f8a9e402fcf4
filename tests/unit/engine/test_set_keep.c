/* SPDX-License-Identifier: MIT */
/*
 * What a set keeps for its next run: when its journals are synced, and what a
 * journal costs that cannot be written.  The tests play the keeper.
 */
#include "engine/set_keep.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <xdownload/xdownload.h>

#include "engine/engine.h"
#include "os/clock.h"
#include "suite.h"

#define LONG (UINT64_C(5) << 20)
#define SHORT 100

/* Two long files that have journals, a short one between them. */
static const struct xd_range first = {0, LONG}, middle = {LONG, LONG + SHORT},
                             last = {LONG + SHORT, 2 * LONG + SHORT};

static char folder[SUITE_FOLDER];
static struct xd_engine *engine;
static struct xd_sink *sink;
static struct xd_error error;

static void make(uint64_t size)
{
    static const char hash[] =
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const uint64_t sizes[] = {size, SHORT, size};
    const size_t files[] = {0, 1, 2};
    struct xd_download *download;
    struct xd_options *options;
    struct xd_manifest *m;
    char text[1200] = "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">";

    for (int i = 0; i < 3; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "<file name=\"f%d\"><size>%llu</size><hash type=\"sha-256\">%s"
                 "</hash><url>http://127.0.0.1:1/f%d</url></file>",
                 i, (unsigned long long)sizes[i], hash, i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "</metalink>");
    ck_assert_int_eq(
        xd_manifest_parse(&m, text, strlen(text), "m.meta4", &error), 0);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    ck_assert_int_eq(
        xd_download_new_set(&download, m, files, 3, 0, folder, options, &error),
        0);
    xd_options_free(options);
    xd_manifest_unref(m);
    engine = (struct xd_engine *)download;
}

/* No more than one is open but for what is in use, or not synced. */
static void open_set(void)
{
    engine->set.most_open = 1;
    ck_assert_msg(xd_set_open(engine, &sink, &error) == 0, "%s", error.msg);
    engine->dest.sink = engine->dest.target = sink;
}

static void setup(void)
{
    suite_folder(folder);
    make(LONG);
}

static void teardown(void)
{
    char command[100];

    xd_download_unref((struct xd_download *)engine);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void put(uint64_t at)
{
    ck_assert_msg(xd_sink_write(sink, at, "x", 1, &error) == 0, "%s",
                  error.msg);
}

static void written(uint64_t at)
{
    xd_engine_lock(engine);
    xd_set_written_locked(engine, (struct xd_range){at, at + 1});
    xd_engine_unlock(engine);
}

static void dropped(uint64_t begin, uint64_t end)
{
    xd_engine_lock(engine);
    xd_set_dropped_locked(engine, (struct xd_range){begin, end});
    xd_engine_unlock(engine);
}

static void work(void)
{
    xd_engine_lock(engine);
    xd_set_keep_work_locked(engine);
    xd_engine_unlock(engine);
}

static void save(void)
{
    xd_engine_lock(engine);
    xd_set_save_locked(engine);
    xd_engine_unlock(engine);
}

static xd_usec keep_at(void)
{
    return xd_set_keep_at_locked(engine);
}

static enum xd_set_state state(size_t i)
{
    return engine->set.files[i].state;
}

/* Whether the next run finds that much of these, and nothing else. */
static void expect_found(struct xd_range range)
{
    xd_download_unref((struct xd_download *)engine);
    make(LONG);
    open_set();
    ck_assert_uint_eq(engine->set.held.bytes, xd_range_length(range));
    ck_assert(xd_rangeset_contains(&engine->set.held, range));
}

START_TEST(long_files_have_journals)
{
    ck_assert(xd_set_keeps(engine, first.end - 1));
    ck_assert(!xd_set_keeps(engine, middle.begin));
    ck_assert(!xd_set_keeps(engine, middle.end - 1));
    ck_assert(xd_set_keeps(engine, last.begin));
}
END_TEST

START_TEST(five_seconds_after_the_first_byte_of_a_long_file_it_is_synced)
{
    xd_usec before, at;

    ck_assert_uint_eq(keep_at(), XD_NEVER);
    written(middle.begin);
    ck_assert_uint_eq(keep_at(), XD_NEVER);
    before = xd_now();
    written(last.begin);
    at = keep_at();
    ck_assert_uint_ge(at, before + 5 * XD_SECOND);
    ck_assert_uint_le(at, xd_now() + 5 * XD_SECOND);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    written(first.begin);
    ck_assert_uint_eq(keep_at(), at);
    open_set();
    work();
    ck_assert_uint_eq(keep_at(), XD_NEVER);
    written(first.begin);
    ck_assert_uint_gt(keep_at(), at);
}
END_TEST

START_TEST(what_is_wrong_is_noted_at_once_and_before_a_sync)
{
    open_set();
    put(last.begin);
    put(last.begin + 1);
    written(last.begin);
    dropped(last.begin, last.begin + 1);
    ck_assert_uint_eq(keep_at(), 0);
    work();
    ck_assert_uint_ne(keep_at(), 0); /* it is to be synced still */
    ck_assert_uint_ne(keep_at(), XD_NEVER);
    ck_assert_int_eq(engine->error.code, XD_OK);
    work();
    ck_assert_uint_eq(keep_at(), XD_NEVER);
    expect_found((struct xd_range){last.begin + 1, last.begin + 2});
}
END_TEST

START_TEST(without_journals_nothing_is_noted)
{
    xd_download_unref((struct xd_download *)engine);
    make(SHORT);
    open_set();
    put(0);
    written(0);
    dropped(0, 1);
    ck_assert_uint_eq(keep_at(), XD_NEVER);
    ck_assert_uint_eq(engine->set.keep.dropped.n, 0);
    save();
}
END_TEST

START_TEST(one_file_alone_is_not_noted_here)
{
    struct xd_download *download;
    struct xd_manifest *m;
    const char *url = "http://127.0.0.1:1/f";

    xd_download_unref((struct xd_download *)engine);
    ck_assert_int_eq(xd_manifest_from_urls(&m, &url, 1, LONG, &error), 0);
    ck_assert_int_eq(
        xd_download_new(&download, m, 0, folder, "f", NULL, &error), 0);
    xd_manifest_unref(m);
    engine = (struct xd_engine *)download;
    written(0);
    dropped(0, 1);
    ck_assert_uint_eq(keep_at(), XD_NEVER);
    save();
}
END_TEST

START_TEST(a_download_that_fails_keeps_what_there_is)
{
    save(); /* nothing: it was not begun */
    open_set();
    put(first.begin);
    put(first.begin + 1);
    written(first.begin);
    dropped(first.begin, first.begin + 1);
    save();
    ck_assert_uint_eq(keep_at(), XD_NEVER);
    expect_found((struct xd_range){first.begin + 1, first.begin + 2});
}
END_TEST

/* Another program has removed it. */
START_TEST(a_journal_that_cannot_be_written_costs_its_own_file_alone)
{
    char part[100];

    open_set();
    put(first.begin);
    work();
    put(last.begin);
    work();
    put(middle.begin); /* which closes the others */
    snprintf(part, sizeof part, "%s/f0.part", folder);
    ck_assert_int_eq(unlink(part), 0);
    dropped(first.begin, last.begin + 1);
    work();
    ck_assert_int_eq(state(0), XD_SET_FAILED);
    ck_assert_int_eq(state(1), XD_SET_WANTED);
    ck_assert_int_eq(state(2), XD_SET_WANTED);
    ck_assert_int_eq(engine->error.code, XD_OK);
    expect_found((struct xd_range){0, 0});
}
END_TEST

START_TEST(where_no_journal_can_be_written_the_download_fails)
{
    const struct rlimit none = {0, 0};

    open_set();
    put(first.begin);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    dropped(first.begin, first.begin + 1);
    work();
    ck_assert_int_eq(engine->error.code, XD_E_IO);
    ck_assert_int_eq(engine->error.os_errno, EFBIG);
    ck_assert_int_eq(state(0), XD_SET_WANTED);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("engine.set_keep");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, long_files_have_journals);
    tcase_add_test(
        t, five_seconds_after_the_first_byte_of_a_long_file_it_is_synced);
    tcase_add_test(t, what_is_wrong_is_noted_at_once_and_before_a_sync);
    tcase_add_test(t, without_journals_nothing_is_noted);
    tcase_add_test(t, one_file_alone_is_not_noted_here);
    tcase_add_test(t, a_download_that_fails_keeps_what_there_is);
    tcase_add_test(t,
                   a_journal_that_cannot_be_written_costs_its_own_file_alone);
    tcase_add_test(t, where_no_journal_can_be_written_the_download_fails);
    return run_suite("engine.set_keep", t);
}
