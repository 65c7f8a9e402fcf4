/* SPDX-License-Identifier: MIT */
/*
 * A set for which there is no room is not begun.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xdownload/download.h>
#include <xdownload/manifest.h>

#include "command/manifests.h"
#include "os/disk.h"
#include "suite.h"

#define N 4

static char folder[SUITE_FOLDER];
static struct xd_options *options;
static struct xd_download *download;
static struct xd_error error;

static void setup(void)
{
    suite_folder(folder);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    ck_assert_int_eq(xd_options_set(options, "retry", "1", &error), 0);
    ck_assert_int_eq(xd_options_set(options, "patience", "0s", &error), 0);
}

static void teardown(void)
{
    char command[100];

    xd_download_unref(download);
    xd_options_free(options);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Files of these sizes, which nobody has. */
static void open_set(const uint64_t sizes[N])
{
    static const char hash[] = "d41d8cd98f00b204e9800998ecf8427e";
    const size_t files[N] = {0, 1, 2, 3};
    struct xd_manifest *m;
    char path[100];
    FILE *f;

    snprintf(path, sizeof path, "%s/m.meta4", folder);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">", f);
    for (int i = 0; i < N; i++)
        fprintf(f,
                "<file name=\"%s/f%d\"><size>%llu</size><hash "
                "type=\"md5\">%s</hash><url>http://127.0.0.1:1/f</url></file>",
                i % 2 ? "a" : "b", i, (unsigned long long)sizes[i], hash);
    fputs("</metalink>", f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(xd_manifest_read(&m, path, &error), 0);
    ck_assert_int_eq(
        xd_download_new_set(&download, m, files, N, 0, folder, options, &error),
        0);
    xd_manifest_unref(m);
}

static uint64_t room(void)
{
    uint64_t disk, bytes;
    char path[100];

    snprintf(path, sizeof path, "%s/f", folder);
    ck_assert(xd_disk_room(path, &disk, &bytes));
    return bytes;
}

static void expect_refused(void)
{
    ck_assert_int_eq(xd_download_start(download, &error), XD_E_IO);
    ck_assert_msg(strstr(error.msg, "4 files needs ") &&
                      strstr(error.msg, "are free on its disk"),
                  "%s", error.msg);
}

static void expect_begun(void)
{
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_int_eq(xd_download_wait(download, 20000, &error), XD_E_NOREPLICA);
}

/* None by itself is too long. */
START_TEST(the_sum_is_what_counts)
{
    const uint64_t each = room() / 3;

    open_set((uint64_t[N]){each, each, each, each});
    expect_refused();
}
END_TEST

START_TEST(what_has_room_is_begun)
{
    const uint64_t each = room() / 8;

    open_set((uint64_t[N]){each, each, each, each});
    expect_begun();
}
END_TEST

START_TEST(what_is_there_already_needs_none)
{
    const uint64_t each = room() / 3;
    char path[100];
    FILE *f;

    open_set((uint64_t[N]){each, 4 * each, 1, 1});
    snprintf(path, sizeof path, "mkdir %s/a", folder);
    ck_assert_int_eq(system(path), 0);
    snprintf(path, sizeof path, "%s/a/f1", folder);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_int_lt(xd_download_wait(download, 20000, &error), 0);
    ck_assert_ptr_null(strstr(error.msg, "too many"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("set_space");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_sum_is_what_counts);
    tcase_add_test(t, what_has_room_is_begun);
    tcase_add_test(t, what_is_there_already_needs_none);
    return run_suite("set_space", t);
}
