/* SPDX-License-Identifier: MIT */
/* Bytes of which some are dropped, in memory and in a file. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sinks/sink.h"
#include "suite.h"

#define CHUNK XD_BOUNDED_CHUNK

static char folder[SUITE_FOLDER];
static struct xd_sink *sink;
static struct xd_bounded_sink *bounded;
static struct xd_error error;

static void setup(void)
{
    suite_folder(folder);
}

static void teardown(void)
{
    xd_sink_free(sink);
    sink = NULL;
    ck_assert_int_eq(rmdir(folder), 0); /* a store there has no name */
}

/* Each test of what it holds runs with both. */
enum { IN_MEMORY, IN_FILE, N_KINDS };

static void open_in(int kind)
{
    ck_assert_int_eq(xd_bounded_sink_new(&sink, &bounded,
                                         kind == IN_FILE ? folder : NULL,
                                         &error),
                     0);
}

static void put(uint64_t offset, const char *text)
{
    ck_assert_int_eq(xd_sink_write(sink, offset, text, strlen(text), &error),
                     0);
}

static void expect(uint64_t offset, const char *text)
{
    char got[100];

    ck_assert_int_eq(xd_sink_read(sink, offset, got, strlen(text), &error), 0);
    ck_assert_int_eq(memcmp(got, text, strlen(text)), 0);
}

START_TEST(what_was_written_is_read_also_across_chunks)
{
    open_in(_i);
    put(5, "begin");
    put(CHUNK - 3, "edge of it");
    put(CHUNK * 5000, "far");
    expect(5, "begin");
    expect(CHUNK - 3, "edge of it");
    expect(CHUNK - 1, "ge");
    expect(CHUNK * 5000, "far");
    ck_assert_int_eq(xd_sink_finish(sink, 1, &error), 0);
}
END_TEST

START_TEST(what_is_dropped_is_gone_and_the_rest_stays)
{
    char byte;

    open_in(_i);
    put(0, "first");
    put(CHUNK, "second");
    put(2 * CHUNK, "third");
    xd_bounded_sink_drop(bounded, CHUNK, 2 * CHUNK);
    expect(0, "first");
    expect(2 * CHUNK, "third");
    ck_assert_int_eq(xd_sink_read(sink, CHUNK, &byte, 1, &error), XD_E_BUG);
    ck_assert_int_eq(xd_sink_read(sink, 9 * CHUNK, &byte, 1, &error), XD_E_BUG);
    put(CHUNK, "again");
    expect(CHUNK, "again");
}
END_TEST

START_TEST(dropping_what_is_not_there_does_nothing)
{
    open_in(_i);
    xd_bounded_sink_drop(bounded, 0, CHUNK * 3000);
    put(1, "x");
    xd_bounded_sink_drop(bounded, CHUNK, CHUNK * 3000);
    expect(1, "x");
}
END_TEST

/* How large the largest file is that this process has open without a name. */
static long long largest_nameless(void)
{
    DIR *fds = opendir("/proc/self/fd");
    long long largest = 0;
    struct dirent *entry;

    ck_assert_ptr_nonnull(fds);
    while ((entry = readdir(fds))) {
        struct stat st;
        int fd;

        if (sscanf(entry->d_name, "%d", &fd) == 1 && fstat(fd, &st) == 0 &&
            S_ISREG(st.st_mode) && st.st_nlink == 0 && st.st_size > largest)
            largest = st.st_size;
    }
    closedir(fds);
    return largest;
}

START_TEST(a_file_stays_as_small_as_what_it_holds)
{
    if (access("/proc/self/fd", R_OK) != 0)
        return; /* only Linux tells */
    open_in(IN_FILE);
    for (uint64_t i = 0; i < 300; i++) {
        put(i * CHUNK, "window");
        put(i * CHUNK + CHUNK / 2, "moves on");
        if (i >= 4)
            xd_bounded_sink_drop(bounded, 0, (i - 3) * CHUNK);
    }
    expect(299 * CHUNK + CHUNK / 2, "moves on");
    ck_assert_int_gt(largest_nameless(), 0);
    ck_assert_int_le(largest_nameless(), 6 * (long long)CHUNK);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_named)
{
    struct xd_bounded_sink *none;
    struct xd_sink *unmade;

    ck_assert_int_eq(
        xd_bounded_sink_new(&unmade, &none, "/nowhere/at/all", &error),
        XD_E_IO);
    ck_assert_ptr_nonnull(strstr(error.msg, "/nowhere/at/all"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("bounded_sink");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, what_was_written_is_read_also_across_chunks, 0,
                        N_KINDS);
    tcase_add_loop_test(t, what_is_dropped_is_gone_and_the_rest_stays, 0,
                        N_KINDS);
    tcase_add_loop_test(t, dropping_what_is_not_there_does_nothing, 0, N_KINDS);
    tcase_add_test(t, a_file_stays_as_small_as_what_it_holds);
    tcase_add_test(t, a_folder_that_is_not_there_is_named);
    return run_suite("io.bounded_sink", t);
}
