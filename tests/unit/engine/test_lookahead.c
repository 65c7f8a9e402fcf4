/*
 * How far ahead of a reader is fetched when the lookahead is a time: a local
 * copy brings at once all that is asked for, and no more.
 */
#include <xdownload/stream.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
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
    set("spool", folder);
    set("block-size", "64k");
    set("retry", "1");
    set("patience", "0s");
}

static void teardown(void)
{
    char command[100];

    xd_source_free(source);
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
    return ((struct xd_engine *)source)->window;
}

/* What is here from the first byte on. */
static uint64_t here(void)
{
    struct xd_buffered b;

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
    xd_reader_playhead(reader, 0, 4.0 * (double)MIB, XD_WAITING);
    read_one();
    expect_window(8 * MIB);
    xd_reader_playhead(reader, 0, 8.0 * (double)MIB, XD_PLAYING);
    expect_window(16 * MIB);
    xd_reader_playhead(reader, 0, -1, XD_PAUSED);
    expect_window(16 * MIB);
}
END_TEST

START_TEST(a_reader_that_only_tells_the_rate_tells_it_for_all)
{
    struct xd_reader *viewer;

    set("lookahead", "2s");
    open_source();
    ck_assert_int_eq(xd_reader_new(&viewer, source, &error), 0);
    xd_reader_playhead(viewer, 0, 4.0 * (double)MIB, XD_WAITING);
    read_one();
    expect_window(8 * MIB);
    xd_reader_playhead(viewer, 0, 6.0 * (double)MIB, XD_PLAYING);
    expect_window(12 * MIB);
    xd_reader_free(viewer);
    expect_window(12 * MIB);
}
END_TEST

START_TEST(whatever_the_rate_a_window_is_not_tiny_and_not_huge)
{
    set("lookahead", "3600s");
    open_source();
    xd_reader_playhead(reader, 0, 1, XD_PLAYING);
    read_one();
    expect_window(4 * MIB);
    xd_reader_playhead(reader, 0, 1e15, XD_PLAYING);
    expect_window(SIZE);
    ck_assert_uint_eq(window(), 256 * MIB);
}
END_TEST

START_TEST(in_memory_a_slower_rate_lets_go_of_what_lies_beyond)
{
    set("lookahead", "4s");
    set("spool", "none");
    open_source();
    xd_reader_playhead(reader, 0, 4.0 * (double)MIB, XD_PLAYING);
    read_one();
    expect_window(16 * MIB);
    xd_reader_playhead(reader, 0, 2.0 * (double)MIB, XD_PLAYING);
    expect_window(8 * MIB);
}
END_TEST

START_TEST(a_rate_that_wavers_changes_nothing)
{
    set("lookahead", "2s");
    open_source();
    xd_reader_playhead(reader, 0, 8.0 * (double)MIB, XD_PLAYING);
    read_one();
    expect_window(16 * MIB);
    xd_reader_playhead(reader, 0, 8.8 * (double)MIB, XD_PLAYING);
    ck_assert_uint_eq(window(), 16 * MIB);
    xd_reader_playhead(reader, 0, 7.2 * (double)MIB, XD_PLAYING);
    ck_assert_uint_eq(window(), 16 * MIB);
    xd_reader_playhead(reader, 0, 10.0 * (double)MIB, XD_PLAYING);
    ck_assert_uint_eq(window(), 20 * MIB);
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
    xd_download_free(d);
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
    tcase_add_test(t, a_download_takes_no_seconds);
    return run_suite("engine.lookahead", t);
}
