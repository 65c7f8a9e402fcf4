/* SPDX-License-Identifier: MIT */
/*
 * How far ahead of a reader is fetched, from where on, and until when it is
 * needed: a local copy brings at once all that is asked for, and no more.
 */
#include <xdownload/stream.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/downloads.h"
#include "command/manifests.h"
#include "engine/engine.h"
#include "engine/free_source.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define SIZE (40 * MIB)

static char folder[SUITE_FOLDER];
static struct xd_options *options;
static struct xd_source *source;
static struct xd_reader *reader;
static struct xd_error error;

static void set(const char *name, const char *value)
{
    ck_assert_msg(xd_options_set(options, name, value, &error) == 0, "%s",
                  error.msg);
}

static void setup(void)
{
    char path[100];
    FILE *f;

    suite_folder(folder);
    snprintf(path, sizeof path, "%s/copy", folder);
    f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(ftruncate(fileno(f), (off_t)SIZE), 0); /* a hole */
    fclose(f);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("allow-file", "yes");
    set("spool", folder);
    set("block-size", "64k");
    set("retry", "1");
    set("patience", "0s");
}

static void teardown(void)
{
    char command[100];

    free_source_and_readers(source);
    source = NULL;
    xd_options_free(options);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void open_source(void)
{
    struct xd_manifest *m;
    char path[100];
    FILE *f;

    snprintf(path, sizeof path, "%s/f.meta4", folder);
    f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
            "<file name=\"f\"><url>file://%s/copy</url></file></metalink>",
            folder);
    fclose(f);
    ck_assert_int_eq(xd_manifest_read(&m, path, &error), 0);
    ck_assert_msg(xd_source_new(&source, m, 0, options, &error) == 0, "%s",
                  error.msg);
    xd_manifest_unref(m);
    ck_assert_int_eq(xd_reader_new(&reader, source, &error), 0);
}

static void read_one(void)
{
    char byte;

    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 20000), 1);
}

static uint64_t window(void)
{
    return ((struct xd_engine *)source)->readers.window;
}

/* What is here from the first byte on. */
static uint64_t here(void)
{
    struct xd_buffered b = {.struct_size = sizeof b};

    return xd_source_buffered(source, &b, 1) > 0 && b.begin == 0 ? b.end : 0;
}

static void rest(void)
{
    const struct timespec t = {0, 10000000};

    nanosleep(&t, NULL);
}

/* Whether it still runs, or has all. */
static bool is_well(void)
{
    int rc = xd_download_wait(xd_source_download(source), 0, &error);

    return rc == 0 || rc == XD_E_AGAIN;
}

/* Of a window the last quarter may be left out. */
static void expect_window(uint64_t bytes)
{
    for (int i = 0; i < 3000 && is_well() && here() < bytes / 4 * 3; i++)
        rest();
    ck_assert_uint_ge(here(), bytes / 4 * 3);
    for (int i = 0; i < 5; i++)
        rest();
    ck_assert_uint_le(here(), bytes);
}

START_TEST(without_a_rate_the_lookahead_is_the_default)
{
    set("lookahead", "2s");
    open_source();
    read_one();
    expect_window(32 * MIB);
}
END_TEST

START_TEST(seconds_become_bytes_by_the_rate_that_the_player_tells)
{
    set("lookahead", "2s");
    open_source();
    xd_reader_playhead(reader, 0, 4.0 * (double)MIB, XD_PLAY_WAITING);
    read_one();
    expect_window(8 * MIB);
    xd_reader_playhead(reader, 0, 8.0 * (double)MIB, XD_PLAY_RUNNING);
    expect_window(16 * MIB);
    xd_reader_playhead(reader, 0, -1, XD_PLAY_PAUSED);
    expect_window(16 * MIB);
}
END_TEST

START_TEST(a_reader_that_only_tells_the_rate_tells_it_for_all)
{
    struct xd_reader *viewer;

    set("lookahead", "2s");
    open_source();
    ck_assert_int_eq(xd_reader_new(&viewer, source, &error), 0);
    xd_reader_playhead(viewer, 0, 4.0 * (double)MIB, XD_PLAY_WAITING);
    read_one();
    expect_window(8 * MIB);
    xd_reader_playhead(viewer, 0, 6.0 * (double)MIB, XD_PLAY_RUNNING);
    expect_window(12 * MIB);
    read_one();
    xd_reader_playhead(reader, 0, 0,
                       XD_PLAY_RUNNING); /* it tells none itself */
    ck_assert_uint_eq(reader->demand.bytes_per_s, 6 * MIB);
    xd_reader_free(viewer);
    expect_window(12 * MIB);
}
END_TEST

START_TEST(whatever_the_rate_a_window_is_not_tiny_and_not_huge)
{
    set("lookahead", "3600s");
    open_source();
    xd_reader_playhead(reader, 0, 1, XD_PLAY_RUNNING);
    read_one();
    expect_window(4 * MIB);
    xd_reader_playhead(reader, 0, 1e15, XD_PLAY_RUNNING);
    expect_window(SIZE);
    ck_assert_uint_eq(window(), 256 * MIB);
}
END_TEST

START_TEST(in_memory_a_slower_rate_lets_go_of_what_lies_beyond)
{
    set("lookahead", "4s");
    set("spool", "none");
    open_source();
    xd_reader_playhead(reader, 0, 4.0 * (double)MIB, XD_PLAY_RUNNING);
    read_one();
    expect_window(16 * MIB);
    xd_reader_playhead(reader, 0, 2.0 * (double)MIB, XD_PLAY_RUNNING);
    expect_window(8 * MIB);
}
END_TEST

START_TEST(a_rate_that_wavers_changes_nothing)
{
    set("lookahead", "2s");
    open_source();
    xd_reader_playhead(reader, 0, 8.0 * (double)MIB, XD_PLAY_RUNNING);
    read_one();
    expect_window(16 * MIB);
    xd_reader_playhead(reader, 0, 8.8 * (double)MIB, XD_PLAY_RUNNING);
    ck_assert_uint_eq(window(), 16 * MIB);
    xd_reader_playhead(reader, 0, 7.2 * (double)MIB, XD_PLAY_RUNNING);
    ck_assert_uint_eq(window(), 16 * MIB);
    xd_reader_playhead(reader, 0, 10.0 * (double)MIB, XD_PLAY_RUNNING);
    ck_assert_uint_eq(window(), 20 * MIB);
}
END_TEST

/* ---- from where on ---- */

static void go_to(uint64_t to)
{
    ck_assert_int_eq(xd_reader_seek(reader, to), (int64_t)to);
}

static void read_on(uint64_t bytes)
{
    static char some[64 << 10];

    while (bytes > 0) {
        size_t most = bytes < sizeof some ? (size_t)bytes : sizeof some;
        int64_t n = xd_reader_read(reader, some, most, 20000);

        ck_assert_int_gt(n, 0);
        bytes -= (uint64_t)n;
    }
}

static bool is_here(uint64_t begin, uint64_t end)
{
    struct xd_buffered b[50] = {{.struct_size = sizeof *b}};
    size_t n = xd_source_buffered(source, b, 50);

    for (size_t i = 0; i < n && i < 50; i++)
        if (b[i].begin <= begin && end <= b[i].end)
            return true;
    return false;
}

static void expect_here(uint64_t begin, uint64_t end)
{
    for (int i = 0; i < 3000 && is_well() && !is_here(begin, end); i++)
        rest();
    ck_assert(is_here(begin, end));
}

/* As players do before they begin. */
START_TEST(a_look_at_the_tail_leaves_the_window_where_it_is)
{
    set("lookahead", "8m");
    open_source();
    read_on(100000);
    expect_here(SIZE - MIB, SIZE);
    go_to(SIZE - MIB);
    read_on(200000);
    ck_assert_uint_le(reader->demand.range.begin, 100000);
    go_to(SIZE - 1000);
    read_on(1000);
    ck_assert_uint_le(reader->demand.range.begin, 100000);
    go_to(100000);
    read_on(MIB);
    ck_assert_uint_gt(reader->demand.range.begin, MIB / 2);
}
END_TEST

START_TEST(who_reads_on_at_the_tail_has_its_window_there)
{
    set("lookahead", "8m");
    open_source();
    read_on(100000);
    expect_here(SIZE - MIB, SIZE);
    go_to(SIZE - MIB);
    read_on(400000);
    ck_assert_uint_ge(reader->demand.range.begin, SIZE - MIB);
}
END_TEST

START_TEST(who_finds_nothing_has_its_window_there)
{
    set("lookahead", "8m");
    open_source();
    read_on(100000);
    go_to(SIZE / 2);
    ck_assert_uint_eq(reader->demand.range.begin, SIZE / 2);
    read_one();
}
END_TEST

START_TEST(in_memory_who_looks_elsewhere_finds_all_where_it_was)
{
    set("lookahead", "4m");
    set("spool", "none");
    open_source();
    go_to(SIZE / 2);
    read_on(MIB);
    expect_here(SIZE / 2 + MIB, SIZE / 2 + 3 * MIB);
    go_to(8 * MIB);
    read_on(100000);
    ck_assert(is_here(SIZE / 2 + MIB, SIZE / 2 + 3 * MIB));
    read_on(MIB); /* it stays */
    ck_assert(!is_here(SIZE / 2 + MIB, SIZE / 2 + 3 * MIB));
}
END_TEST

/* ---- until when ---- */

/* Of a file that is complete nothing is needed. */
START_TEST(what_lies_ahead_of_the_picture_is_needed_later)
{
    xd_usec now = xd_now();
    struct xd_reader *viewer;

    set("lookahead", "8m");
    open_source();
    xd_reader_playhead(reader, 0, (double)MIB, XD_PLAY_RUNNING);
    read_on(20 * MIB);
    xd_reader_playhead(reader, 0, (double)MIB, XD_PLAY_PAUSED);
    ck_assert_uint_ge(reader->demand.due, now + 20 * XD_SECOND);
    ck_assert_uint_le(reader->demand.due, xd_now() + 20 * XD_SECOND);
    xd_reader_playhead(reader, 15 * MIB, (double)MIB, XD_PLAY_RUNNING);
    ck_assert_uint_le(reader->demand.due, xd_now() + 5 * XD_SECOND);
    /* Of one of whom no picture is known, the next byte is needed now. */
    ck_assert_int_eq(xd_reader_new(&viewer, source, &error), 0);
    (void)!xd_reader_read(viewer, &(char){0}, 1, 0);
    ck_assert_uint_le(viewer->demand.due, xd_now());
}
END_TEST

/* ---- whether anything is to come ---- */

static void expect_rest(void)
{
    for (int i = 0; i < 3000 && is_well() && xd_source_needs_network(source);
         i++)
        rest();
    ck_assert(!xd_source_needs_network(source));
}

START_TEST(a_source_has_the_rest_when_its_window_has_come_to_the_end)
{
    set("lookahead", "8m");
    open_source();
    ck_assert(xd_source_needs_network(source));
    read_on(SIZE - 12 * MIB);
    expect_here(SIZE - 12 * MIB, SIZE - 6 * MIB); /* but not the last */
    ck_assert(xd_source_needs_network(source));
    read_on(6 * MIB);
    expect_rest();
    read_on(6 * MIB);
    expect_rest();
}
END_TEST

START_TEST(who_has_looked_at_the_tail_has_no_rest)
{
    set("lookahead", "8m");
    set("spool", "none");
    open_source();
    go_to(SIZE - 200000);
    read_on(200000);
    ck_assert(xd_source_needs_network(source));
    go_to(SIZE - MIB);
    read_on(MIB / 2);
    expect_rest();
}
END_TEST

START_TEST(what_another_reader_waits_for_is_still_to_come)
{
    struct xd_reader *other;

    set("lookahead", "4m");
    open_source();
    go_to(SIZE - 2 * MIB);
    read_on(MIB);
    expect_rest();
    xd_download_pause(xd_source_download(source), true);
    ck_assert_int_eq(xd_reader_new(&other, source, &error), 0);
    ck_assert_int_eq(xd_reader_seek(other, SIZE / 2), (int64_t)SIZE / 2);
    (void)!xd_reader_read(other, &(char){0}, 1, 0);
    ck_assert(xd_source_needs_network(source));
    xd_download_pause(xd_source_download(source), false);
    expect_rest(); /* once its window is full, too */
}
END_TEST

START_TEST(a_file_that_is_complete_has_its_rest_though_nobody_reads)
{
    open_source();
    read_on(SIZE);
    ck_assert_int_eq(
        xd_download_wait(xd_source_download(source), 20000, &error), 0);
    xd_reader_free(reader);
    ck_assert(!xd_source_needs_network(source));
}
END_TEST

START_TEST(a_download_takes_no_seconds)
{
    struct xd_manifest *m;
    struct xd_download *d;

    set("lookahead", "2s");
    ck_assert_int_eq(
        xd_manifest_parse(&m, "http://a.example/f\n", 19, NULL, &error), 0);
    ck_assert_int_eq(xd_download_new_fd(&d, m, 0, 1, options, &error),
                     XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "must be a size"));
    set("lookahead", "1m");
    ck_assert_int_eq(xd_download_new_fd(&d, m, 0, 1, options, &error), 0);
    xd_download_unref(d);
    xd_manifest_unref(m);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("lookahead");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, without_a_rate_the_lookahead_is_the_default);
    tcase_add_test(t, seconds_become_bytes_by_the_rate_that_the_player_tells);
    tcase_add_test(t, a_reader_that_only_tells_the_rate_tells_it_for_all);
    tcase_add_test(t, whatever_the_rate_a_window_is_not_tiny_and_not_huge);
    tcase_add_test(t, in_memory_a_slower_rate_lets_go_of_what_lies_beyond);
    tcase_add_test(t, a_rate_that_wavers_changes_nothing);
    tcase_add_test(t, a_look_at_the_tail_leaves_the_window_where_it_is);
    tcase_add_test(t, who_reads_on_at_the_tail_has_its_window_there);
    tcase_add_test(t, who_finds_nothing_has_its_window_there);
    tcase_add_test(t, in_memory_who_looks_elsewhere_finds_all_where_it_was);
    tcase_add_test(t, what_lies_ahead_of_the_picture_is_needed_later);
    tcase_add_test(t,
                   a_source_has_the_rest_when_its_window_has_come_to_the_end);
    tcase_add_test(t, who_has_looked_at_the_tail_has_no_rest);
    tcase_add_test(t, what_another_reader_waits_for_is_still_to_come);
    tcase_add_test(t, a_file_that_is_complete_has_its_rest_though_nobody_reads);
    tcase_add_test(t, a_download_takes_no_seconds);
    return run_suite("engine.lookahead", t);
}
