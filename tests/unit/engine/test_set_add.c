/* SPDX-License-Identifier: MIT */
/*
 * Files that are added to a download of many: before it starts, while it runs and
 * while it has nothing to do, on depots that there are and on new ones.
 */
#include <xdownload/xdownload.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/manifests.h"
#include "engine/set_add.h"
#include "io/hash.h"
#include "io/mock_server.h"
#include "os/clock.h"
#include "suite.h"

#define SIZE 100
#define WRONG "d41d8cd98f00b204e9800998ecf8427e" /* of nothing */

#define PART(range, length)                  \
    SAY("HTTP/1.1 206 Partial Content\r\n"   \
        "Content-Range: bytes " range "\r\n" \
        "Content-Length: " length "\r\n\r\n")
#define ALL PART("0-99/100", "100"), BODY(0, SIZE)

static const struct mock_step good[] = {ALL, END};
static const struct mock_step slow[] = {SLEEP(400), ALL, END};
static const struct mock_step silent[] = {HOLD, END};
static const struct mock_step whole[] = {
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"), BODY(0, SIZE), END};
static const struct mock_step gone[] = {
    SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), END};

#define MOST_SERVERS 3

static char folder[SUITE_FOLDER];
static struct mock_server *servers[MOST_SERVERS];
static unsigned n_servers;
static struct xd_options *options;
static struct xd_download *download;
static struct xd_error error;

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, name, value, &error), 0);
}

static void setup(void)
{
    suite_folder(folder);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("retry", "2");
    set("patience", "0s");
}

static void teardown(void)
{
    char command[100];

    xd_download_unref(download);
    xd_options_free(options);
    for (unsigned i = 0; i < n_servers; i++)
        mock_stop(servers[i]);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *serve(const struct mock_step *script)
{
    servers[n_servers] = mock_start(script);
    return mock_url(servers[n_servers++]);
}

/* Of one file at two URLs (`other` may be ""), with a hash that may be NULL. */
static struct xd_manifest *manifest_of(const char *name, const char *url,
                                       const char *other, const char *md5)
{
    struct xd_manifest *m;
    char text[900];
    int n =
        snprintf(text, sizeof text,
                 "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file "
                 "name=\"%s\"><size>%d</size>%s%s%s<url>%s</url>%s%s%s</file>"
                 "</metalink>",
                 name, SIZE, md5 ? "<hash type=\"md5\">" : "", md5 ? md5 : "",
                 md5 ? "</hash>" : "", url, *other ? "<url>" : "", other,
                 *other ? "</url>" : "");

    ck_assert_int_lt(n, (int)sizeof text);
    ck_assert_msg(xd_manifest_parse(&m, text, (size_t)n, "m.meta4", &error) ==
                      0,
                  "%s", error.msg);
    return m;
}

/* A download of the file "first", that expects so many. */
static void make(const char *url, size_t most)
{
    struct xd_manifest *m = manifest_of("first", url, "", NULL);
    const size_t file = 0;

    ck_assert_int_eq(xd_download_new_set(&download, m, &file, 1, most, folder,
                                         options, &error),
                     0);
    xd_manifest_unref(m);
}

static void start(void)
{
    ck_assert_int_eq(xd_download_start(download, &error), 0);
}

static int add(const char *name, const char *url, const char *md5)
{
    struct xd_manifest *m = manifest_of(name, url, "", md5);
    const int rc = xd_download_add_file(download, m, 0, &error);

    xd_manifest_unref(m);
    return rc;
}

static void add_well(const char *name, const char *url)
{
    ck_assert_msg(add(name, url, NULL) == 0, "%s", error.msg);
}

static struct xd_file_progress file(size_t i)
{
    struct xd_file_progress p = {.struct_size = sizeof p};

    ck_assert_int_eq(xd_download_file_progress(download, i, &p), 0);
    return p;
}

static void expect_content(const char *name)
{
    unsigned char bytes[SIZE + 1];
    char path[100];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is not there", path);
    ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, f), SIZE);
    fclose(f);
    for (size_t i = 0; i < SIZE; i++)
        ck_assert_uint_eq(bytes[i], mock_byte(i));
}

/* Until file `i` has left the state WAITING. */
static enum xd_file_state settle(size_t i)
{
    for (unsigned k = 0; k < 800 && (file(i).state == XD_FILE_WAITING ||
                                     file(i).state == XD_FILE_COMPLETE);
         k++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return file(i).state;
}

static int wait_for_end(int ms)
{
    return xd_download_wait(download, ms, &error);
}

START_TEST(a_file_of_another_manifest_and_depot_comes_as_well)
{
    make(serve(good), 2);
    start();
    add_well("second", serve(good));
    add_well("folder/third", mock_url(servers[0]));
    xd_download_end_files(download);
    ck_assert_msg(wait_for_end(8000) == 0, "%s", error.msg);
    expect_content("first");
    expect_content("second");
    expect_content("folder/third");
    ck_assert_str_eq(file(2).path, "folder/third");
    ck_assert_uint_eq(file(2).begin, 2 * SIZE);
    ck_assert_uint_eq(file(2).bytes_done, SIZE);
    ck_assert_int_eq(file(1).state, XD_FILE_DONE);
}
END_TEST

START_TEST(it_does_not_end_while_more_may_come)
{
    const char *url = serve(good);

    make(url, 3);
    start();
    ck_assert_int_eq(settle(0), XD_FILE_DONE);
    ck_assert_int_eq(wait_for_end(300), XD_E_AGAIN);
    add_well("second", url);
    ck_assert_int_eq(settle(1), XD_FILE_DONE);
    ck_assert_int_eq(wait_for_end(100), XD_E_AGAIN);
    xd_download_end_files(download);
    xd_download_end_files(download);
    ck_assert_msg(wait_for_end(8000) == 0, "%s", error.msg);
}
END_TEST

START_TEST(files_are_added_before_it_starts)
{
    const char *url = serve(good);

    make(url, 2);
    add_well("second", url);
    xd_download_end_files(download);
    start();
    ck_assert_msg(wait_for_end(8000) == 0, "%s", error.msg);
    expect_content("first");
    expect_content("second");
}
END_TEST

START_TEST(one_that_fails_costs_the_others_nothing)
{
    const char *url = serve(good);

    make(url, 4);
    start();
    add_well("lost", serve(gone));
    ck_assert_int_eq(settle(1), XD_FILE_FAILED);
    ck_assert_int_eq(file(1).error.code, XD_E_NOREPLICA);
    ck_assert_int_eq(add("wrong", url, WRONG), 0);
    ck_assert_int_eq(settle(2), XD_FILE_FAILED);
    ck_assert_int_eq(file(2).error.code, XD_E_CORRUPT);
    add_well("last", serve(good));
    ck_assert_int_eq(settle(3), XD_FILE_DONE);
    xd_download_end_files(download);
    ck_assert_int_eq(wait_for_end(8000), XD_E_NOREPLICA);
    expect_content("first");
    expect_content("last");
}
END_TEST

START_TEST(the_first_may_have_failed_before_others_come)
{
    make(serve(gone), 1);
    start();
    ck_assert_int_eq(settle(0), XD_FILE_FAILED);
    ck_assert_int_eq(wait_for_end(100), XD_E_AGAIN);
    add_well("second", serve(good));
    ck_assert_int_eq(settle(1), XD_FILE_DONE);
    xd_download_end_files(download);
    ck_assert_int_eq(wait_for_end(8000), XD_E_NOREPLICA);
}
END_TEST

/* One of them lacks it. */
START_TEST(a_file_that_is_added_has_several_depots)
{
    char md5[XD_HASH_HEX_MAX + 1];
    struct xd_hasher *hasher;
    struct xd_manifest *m;
    unsigned char bytes[SIZE];

    make(serve(slow), 1);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = mock_byte(i);
    ck_assert_int_eq(xd_hasher_new(&hasher, "md5", &error), 0);
    xd_hasher_add(hasher, bytes, SIZE);
    xd_hasher_end(hasher, md5);
    xd_hasher_free(hasher);
    start();
    m = manifest_of("second", serve(gone), serve(good), md5);
    ck_assert_int_eq(xd_download_add_file(download, m, 0, &error), 0);
    xd_manifest_unref(m);
    xd_download_end_files(download);
    ck_assert_msg(wait_for_end(8000) == 0, "%s", error.msg);
    expect_content("second");
    ck_assert_str_eq(file(1).verified, "md5");
}
END_TEST

START_TEST(what_is_there_already_fails_its_file)
{
    const char *url = serve(good);
    char path[100];
    FILE *f;

    snprintf(path, sizeof path, "%s/second", folder);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fclose(f);
    make(url, 2);
    start();
    add_well("second", url);
    ck_assert_int_eq(settle(1), XD_FILE_FAILED);
    ck_assert_ptr_nonnull(strstr(file(1).error.msg, "already exists"));
    ck_assert_ptr_nonnull(strstr(file(1).error.msg, folder));
    add_well("third", url);
    xd_download_end_files(download);
    ck_assert_int_eq(wait_for_end(8000), XD_E_IO);
    expect_content("third");
}
END_TEST

START_TEST(no_more_come_than_were_expected_nor_twice_nor_too_late)
{
    const char *url = serve(good);

    make(url, 2);
    ck_assert_int_eq(add("first", url, NULL), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "another file"));
    start();
    add_well("second", url);
    ck_assert_int_eq(add("second", url, NULL), XD_E_INVAL);
    add_well("third", url);
    ck_assert_int_eq(add("fourth", url, NULL), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "no room"));
    xd_download_end_files(download);
    ck_assert_int_eq(add("fifth", url, NULL), XD_E_STATE);
    ck_assert_msg(wait_for_end(8000) == 0, "%s", error.msg);
    ck_assert_int_eq(add("sixth", url, NULL), XD_E_STATE);
    ck_assert_int_eq(xd_download_file_progress(
                         download, 3,
                         &(struct xd_file_progress){
                             .struct_size = sizeof(struct xd_file_progress)}),
                     XD_E_INVAL);
}
END_TEST

START_TEST(what_cannot_be_added_is_refused)
{
    const char *url = serve(good);
    struct xd_manifest *m;

    make(url, 0);
    ck_assert_int_eq(add("second", url, NULL), XD_E_INVAL);
    ck_assert_int_eq(xd_set_expect((struct xd_engine *)download, 0, &error),
                     XD_E_INVAL);
    ck_assert_int_eq(
        xd_set_expect((struct xd_engine *)download, 1000001, &error),
        XD_E_INVAL);
    ck_assert_int_eq(
        xd_set_expect((struct xd_engine *)download, 1000000, &error), 0);
    ck_assert_int_eq(xd_set_expect((struct xd_engine *)download, 1, &error),
                     XD_E_INVAL);
    m = manifest_of("second", url, url, NULL);
    ck_assert_int_eq(xd_download_add_file(download, m, 1, &error), XD_E_INVAL);
    xd_manifest_unref(m);
    m = manifest_of("second", "http://127.0.0.1:1/a", "http://127.0.0.2:1/a",
                    NULL); /* copies that no hash proves */
    ck_assert_int_eq(xd_download_add_file(download, m, 0, &error), XD_E_INVAL);
    xd_manifest_unref(m);
    ck_assert_int_eq(add("second", "ibp://127.0.0.1:1/k/1/READ", NULL), 0);
}
END_TEST

START_TEST(a_policy_of_blocks_takes_none)
{
    set("algorithm", "basic");
    make(serve(good), 0);
    ck_assert_int_eq(xd_set_expect((struct xd_engine *)download, 1, &error),
                     XD_E_INVAL);
    start();
    ck_assert_int_eq(xd_set_expect((struct xd_engine *)download, 1, &error),
                     XD_E_INVAL);
}
END_TEST

START_TEST(a_cancel_ends_one_that_waits_for_more)
{
    make(serve(silent), 3);
    start();
    ck_assert_int_eq(wait_for_end(50), XD_E_AGAIN);
    xd_download_cancel(download);
    ck_assert_int_eq(wait_for_end(8000), XD_E_CANCELED);
    ck_assert_int_eq(add("second", mock_url(servers[0]), NULL), XD_E_STATE);
}
END_TEST

/* Each has a place of 1 MiB, and there are more of them than are begun at a time. */
START_TEST(files_of_unknown_size_are_added)
{
    const char *url = serve(whole);

    set("max-files", "2");
    make(url, 40);
    start();
    for (unsigned i = 0; i < 40; i++) {
        struct xd_manifest *m, *named;
        char name[20];
        const char *names[] = {name};
        const size_t first = 0;

        snprintf(name, sizeof name, "f%u", i);
        ck_assert_int_eq(
            xd_manifest_from_urls(&m, &url, 1, XD_SIZE_UNKNOWN, &error), 0);
        ck_assert_int_eq(
            xd_manifest_gather(&named, &m, &first, names, 1, &error), 0);
        ck_assert_msg(xd_download_add_file(download, named, 0, &error) == 0,
                      "%s", error.msg);
        xd_manifest_unref(named);
        xd_manifest_unref(m);
        if (i == 20)
            ck_assert_msg(settle(10) == XD_FILE_DONE, "%s", file(10).error.msg);
    }
    xd_download_end_files(download);
    ck_assert_msg(wait_for_end(8000) == 0, "%s", error.msg);
    expect_content("f0");
    expect_content("f39");
    ck_assert_uint_eq(file(40).bytes_total, SIZE);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("engine.set_add");

    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_file_of_another_manifest_and_depot_comes_as_well);
    tcase_add_test(t, it_does_not_end_while_more_may_come);
    tcase_add_test(t, files_are_added_before_it_starts);
    tcase_add_test(t, one_that_fails_costs_the_others_nothing);
    tcase_add_test(t, the_first_may_have_failed_before_others_come);
    tcase_add_test(t, a_file_that_is_added_has_several_depots);
    tcase_add_test(t, what_is_there_already_fails_its_file);
    tcase_add_test(t, no_more_come_than_were_expected_nor_twice_nor_too_late);
    tcase_add_test(t, what_cannot_be_added_is_refused);
    tcase_add_test(t, a_policy_of_blocks_takes_none);
    tcase_add_test(t, a_cancel_ends_one_that_waits_for_more);
    tcase_add_test(t, files_of_unknown_size_are_added);
    return run_suite("engine.set_add", t);
}
