/* SPDX-License-Identifier: MIT */
/* Whole downloads and inspections, when something runs out. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xdownload/download.h>
#include <xdownload/check.h>
#include <xdownload/manifest.h>
#include <xdownload/stream.h>

#include "command/downloads.h"
#include "command/inspect.h"
#include "command/manifests.h"
#include "command/records.h"
#include "command/settings.h"
#include "engine/depots.h"
#include "engine/layout.h"
#include "engine/options.h"
#include "engine/begun.h"
#include "engine/options.h"
#include "io/mock_server.h"
#include "lab/checksum.h"
#include "lab/playback.h"
#include "suite.h"
#include "torture.h"

#define SIZE 100
#define ALL                             \
    "HTTP/1.1 206 Partial Content\r\n"  \
    "Content-Range: bytes 0-99/100\r\n" \
    "Content-Length: 100\r\n\r\n"
#define FIRST_BYTE                     \
    "HTTP/1.1 206 Partial Content\r\n" \
    "Content-Range: bytes 0-0/100\r\n" \
    "Content-Length: 1\r\n\r\n"
#define WHOLE "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"

static const struct mock_step good[] = {SAY(ALL), BODY(0, SIZE), END};
static const struct mock_step asked_for_its_size[] = {
    SAY(FIRST_BYTE), BODY(0, 1), NEXT, SAY(ALL), BODY(0, SIZE), END};
static const struct mock_step object[] = {SAY(WHOLE), BODY(0, SIZE), END};
static const struct mock_step metalink[] = {
    SAY("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"f\">"
        "<url>rel/f</url></file></metalink>"),
    CLOSE, END};
static const struct mock_step missing[] = {
    SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), END};

static const struct mock_step sums[] = {
    SAY("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        "d41d8cd98f00b204e9800998ecf8427e  f\n"),
    CLOSE, END};

static char folder[SUITE_FOLDER];
static char path[64], part[80], journal[90];
static struct mock_server *servers[2];
static struct xd_options *options;
static struct xd_manifest *manifest;
static struct xd_error error;

static void ignore_line(void *user, enum xd_log_level level, const char *line)
{
    (void)user, (void)level, (void)line;
}

static void setup(void)
{
    setenv("NO_PROXY", "*", 1);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(journal, sizeof journal, "%s.journal", part);
    ck_assert_int_eq(xd_options_new(&options, NULL), 0);
    ck_assert_int_eq(xd_options_set(options, "force", "yes", NULL), 0);
    ck_assert_int_eq(xd_options_set(options, "records", "yes", NULL), 0);
    ck_assert_int_eq(xd_options_set(options, "exclude", "x.example", NULL), 0);
}

/* Nothing is left of an earlier run. */
static void start_afresh(void)
{
    unlink(part);
    unlink(journal);
}

static void teardown(void)
{
    xd_options_free(options);
    unlink(path);
    start_afresh();
    ck_assert_int_eq(rmdir(folder), 0);
}

/* A file of which two depots have a copy; `size` as a Metalink has it. */
static void open_depots(const struct mock_step *first,
                        const struct mock_step *second, const char *size)
{
    char text[1000];
    int n;

    servers[0] = mock_start(first);
    servers[1] = mock_start(second);
    n = snprintf(text, sizeof text,
                 "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                 "<file name=\"f\">%s<url priority=\"1\">%s</url>"
                 "<url priority=\"2\">%s</url></file></metalink>",
                 size, mock_url(servers[0]), mock_url(servers[1]));
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error), 0);
}

static void close_depots(void)
{
    xd_manifest_unref(manifest);
    manifest = NULL;
    mock_stop(servers[0]);
    mock_stop(servers[1]);
}

/* Start it and wait; it has ended, and says so again. */
static int run(struct xd_download *d)
{
    int rc = xd_download_start(d, &error);

    if (rc == 0)
        rc = xd_download_wait(d, -1, &error);
    torture_end();
    ck_assert_int_eq(xd_download_wait(d, 0, NULL), rc);
    ck_assert_int_eq(xd_download_start(d, NULL), XD_E_STATE);
    return rc;
}

/* With all of its bytes, or not there. */
static void check_file(bool is_there)
{
    unsigned char got[SIZE + 1];
    FILE *file = fopen(path, "rb");

    ck_assert_int_eq(file != NULL, is_there);
    if (!file)
        return;
    ck_assert_uint_eq(fread(got, 1, sizeof got, file), SIZE);
    for (size_t i = 0; i < SIZE; i++)
        ck_assert_uint_eq(got[i], mock_byte(i));
    fclose(file);
}

/* The first depot alone can deliver the file when the second lacks memory. */
static int download_to_file(const struct mock_step *first,
                            const struct mock_step *second, const char *size)
{
    struct xd_download *d;
    int rc;

    unlink(path);
    open_depots(first, second, size);
    torture_begin();
    rc = xd_download_new(&d, manifest, 0, NULL, path, options, &error);
    ck_assert((rc == 0) == (d != NULL));
    if (rc == 0)
        rc = run(d);
    check_file(rc == 0);
    xd_download_unref(d);
    close_depots();
    return rc;
}

static int download_known(void)
{
    start_afresh();
    return download_to_file(good, good, "<size>100</size>");
}

START_TEST(a_download_that_lacks_something_ends_and_says_so)
{
    torture_survivor(download_known);
}
END_TEST

/* A line of the log may be lost. */
START_TEST(a_download_that_cannot_say_something_goes_on)
{
    xd_options_set_log(options, ignore_line, NULL);
    torture_survivor(download_known);
}
END_TEST

static int go_on(void)
{
    return download_to_file(good, good, "<size>100</size>");
}

START_TEST(a_download_goes_on_from_whatever_an_earlier_one_has_left)
{
    torture_survivor(go_on);
}
END_TEST

static int download_unknown(void)
{
    start_afresh();
    return download_to_file(missing, asked_for_its_size, "");
}

START_TEST(a_download_of_unknown_size_that_lacks_something_ends)
{
    torture_survivor(download_unknown);
}
END_TEST

/* Printed by sha256sum of the bytes that mock_byte() gives. */
#define SHA256                         \
    "537cf60b8442701a8dfb64c43bb16826" \
    "442a7d4ada97cecf2c6fc9b8c9423770"

static int download_verified(void)
{
    start_afresh();
    return download_to_file(
        good, good,
        "<size>100</size><hash type=\"sha-256\">" SHA256 "</hash>"
        "<pieces length=\"100\" type=\"sha-256\"><hash>" SHA256
        "</hash></pieces>");
}

START_TEST(a_download_that_cannot_verify_for_want_of_memory_ends)
{
    torture_survivor(download_verified);
}
END_TEST

/* A depot more, and another URL on it; nobody listens there. */
static int download_joined(void)
{
    struct xd_replica replica = {.struct_size = sizeof replica};
    struct xd_download *d;
    int rc;

    start_afresh();
    unlink(path);
    open_depots(good, good, "<size>100</size>");
    torture_begin();
    rc = xd_download_new(&d, manifest, 0, NULL, path, options, &error);
    replica.url = "http://127.0.0.1:1/f";
    if (rc == 0)
        rc = xd_download_add_replica(d, &replica, NULL, &error);
    replica.url = "http://127.0.0.1:1/g";
    if (rc == 0)
        rc = xd_download_add_replica(d, &replica, NULL, &error);
    if (rc == 0)
        rc = run(d);
    check_file(rc == 0);
    xd_download_unref(d);
    close_depots();
    return rc;
}

START_TEST(a_replica_that_lacks_memory_to_join_says_so)
{
    torture_survivor(download_joined);
}
END_TEST

static int download_to_pipe(void)
{
    struct xd_download *d;
    unsigned char got[SIZE];
    int fds[2], rc;

    ck_assert_int_eq(pipe(fds), 0);
    open_depots(good, good, "<size>100</size>");
    torture_begin();
    rc = xd_download_new_fd(&d, manifest, 0, fds[1], options, &error);
    ck_assert((rc == 0) == (d != NULL));
    if (rc == 0)
        rc = run(d);
    ck_assert(rc < 0 || read(fds[0], got, SIZE) == SIZE);
    xd_download_unref(d);
    close(fds[0]);
    close(fds[1]);
    close_depots();
    return rc;
}

START_TEST(a_download_to_a_pipe_that_lacks_something_ends)
{
    torture_survivor(download_to_pipe);
}
END_TEST

static int read_all(struct xd_reader *r)
{
    unsigned char got[SIZE];
    int64_t n = 1;

    for (size_t done = 0; done < SIZE && n > 0; done += (size_t)n) {
        n = xd_reader_read(r, got + done, SIZE - done, 20000);
        ck_assert_int_ne(n, 0);
        if (n > 0)
            ck_assert_uint_eq(got[done], mock_byte(done));
        else
            return (int)n;
    }
    return (int)xd_reader_read(r, got, 1, 20000);
}

static int read_source(void)
{
    struct xd_source *s;
    struct xd_reader *r = NULL;
    int rc;

    open_depots(good, good, "<size>100</size>");
    torture_begin();
    rc = xd_source_new(&s, manifest, 0, options, &error);
    ck_assert((rc == 0) == (s != NULL));
    if (rc == 0)
        rc = xd_reader_new(&r, s, &error);
    if (rc == 0)
        rc = read_all(r);
    xd_source_unref(s);
    xd_reader_free(r);
    torture_end();
    close_depots();
    return rc;
}

START_TEST(a_source_that_lacks_something_fails_or_goes_on)
{
    ck_assert_int_eq(xd_options_set(options, "spool", folder, NULL), 0);
    torture_survivor(read_source);
}
END_TEST

START_TEST(a_source_in_memory_that_lacks_something_fails_or_goes_on)
{
    ck_assert_int_eq(xd_options_set(options, "spool", "none", NULL), 0);
    torture_survivor(read_source);
}
END_TEST

static int lay_out(void)
{
    struct xd_range wanted = {0, SIZE};
    struct xd_layout layout;
    struct xd_depots d;
    int rc;

    open_depots(good, good, "<size>100</size>");
    torture_begin();
    rc = xd_depots_init(&d, manifest, 0,
                        &(struct xd_choice){.exclude = "x.example"}, &error);
    if (rc == 0) {
        rc = xd_depots_layout(&d, wanted, &layout, &error);
        if (rc == 0)
            xd_layout_fini(&layout);
        xd_depots_fini(&d);
    }
    torture_end();
    close_depots();
    return rc;
}

START_TEST(depots_without_memory_are_none)
{
    torture(lay_out);
}
END_TEST

/* What one URL lacks stands with it. */
static int inspect(void)
{
    struct xd_inspection *in;
    struct xd_inspected it = {.struct_size = sizeof it};
    const char *urls[2];
    int rc;

    servers[0] = mock_start(metalink);
    servers[1] = mock_start(object);
    urls[0] = mock_url(servers[0]);
    urls[1] = mock_url(servers[1]);
    torture_begin();
    rc = xd_inspect(&in, urls, 2, 0, options, &error);
    torture_end();
    ck_assert((rc == 0) == (in != NULL));
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        ck_assert_int_eq(xd_inspection_get(in, i, &it), 0);
        rc = it.error.code;
        ck_assert(rc < 0 || (it.manifest != NULL) == (i == 0));
    }
    xd_inspection_free(in);
    /* What is for a comparison of copies. */
    xd_begun_samples_free(xd_begun_take_samples(options->begun));
    mock_stop(servers[0]);
    mock_stop(servers[1]);
    return rc;
}

START_TEST(an_inspection_that_lacks_something_ends_and_says_so)
{
    torture_survivor(inspect); /* samples may be taken again */
}
END_TEST

/* What cannot be kept of the answer is asked for again. */
static int inspect_and_download(void)
{
    struct xd_manifest *found = NULL;
    struct xd_download *d = NULL;
    const char *urls[1];
    int rc;

    servers[0] = mock_start(good);
    urls[0] = mock_url(servers[0]);
    torture_begin();
    rc = xd_manifest_open(&found, urls, 1, options, &error);
    if (rc == 0)
        rc = xd_download_new(&d, found, 0, NULL, path, options, &error);
    if (rc == 0)
        rc = xd_download_start(d, &error);
    if (rc == 0)
        rc = xd_download_wait(d, 20000, &error);
    torture_end();
    xd_download_unref(d);
    xd_manifest_unref(found);
    xd_begun_free(xd_begun_take(options->begun));
    mock_stop(servers[0]);
    unlink(path);
    unlink(part);
    unlink(journal);
    return rc;
}

START_TEST(a_download_that_goes_on_with_an_inspection_may_lack_something)
{
    torture_survivor(inspect_and_download);
}
END_TEST

static int check_copies(void)
{
    struct xd_manifest *list, *checked;
    const char *urls[2];
    int rc;

    for (size_t i = 0; i < 2; i++) {
        servers[i] = mock_start(good);
        urls[i] = mock_url(servers[i]);
    }
    ck_assert_int_eq(
        xd_manifest_from_urls(&list, urls, 2, XD_SIZE_UNKNOWN, NULL), 0);
    torture_begin();
    rc = xd_copies_find(&checked, list, options, &error);
    torture_end();
    ck_assert((rc == 0) == (checked != NULL));
    if (rc == 0) {
        struct xd_file file = {.struct_size = sizeof file};
        struct xd_extent extent = {.struct_size = sizeof extent};

        ck_assert_int_eq(xd_manifest_file(checked, 0, &file), 0);
        ck_assert_int_eq(xd_manifest_extent(checked, 0, 0, &extent), 0);
        ck_assert_uint_eq(file.size, SIZE);
        ck_assert_uint_eq(extent.n_replicas, 2);
    }
    xd_manifest_unref(checked);
    xd_manifest_unref(list);
    mock_stop(servers[0]);
    mock_stop(servers[1]);
    return rc;
}

START_TEST(copies_that_cannot_be_compared_for_want_of_memory_are_no_copies)
{
    torture(check_copies);
}
END_TEST

static int fetch_checksums(void)
{
    struct xd_checksums *c;
    int rc;

    ck_assert_int_eq(xd_checksums_new(&c, NULL), 0);
    servers[0] = mock_start(sums);
    error = (struct xd_error){.code = XD_OK};
    torture_begin();
    rc = xd_checksums_read(c, mock_url(servers[0]), options, &error);
    torture_end();
    ck_assert_int_eq(rc, error.code);
    mock_stop(servers[0]);
    xd_checksums_free(c);
    return rc;
}

START_TEST(checksums_that_lack_something_are_not_had_and_it_is_said)
{
    torture(fetch_checksums);
}
END_TEST

/* What a sweep calls beside the downloads. */
static int copy_and_compute(void)
{
    const struct xd_fetch_record record = {
        .struct_size = sizeof record, .end = 100, .received = 100, .end_s = 1};
    char hex[XD_CHECKSUM_HEX_SIZE];
    struct xd_options *copy;
    double delay;
    int rc;

    error = (struct xd_error){.code = XD_OK};
    torture_begin();
    rc = xd_options_dup(&copy, options, &error);
    if (rc == 0)
        rc = xd_checksum_compute(hex, "sha-256", "abc", 3, &error);
    if (rc == 0)
        rc = xd_playback_delay(&delay, &record, 1, 100, 10, 50, 0, &error);
    torture_end();
    ck_assert_int_eq(rc, error.code);
    xd_options_free(copy);
    return rc;
}

START_TEST(a_sweep_that_lacks_memory_is_told)
{
    torture(copy_and_compute);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("engine");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_download_that_lacks_something_ends_and_says_so);
    tcase_add_test(t, a_download_that_cannot_say_something_goes_on);
    tcase_add_test(t, a_download_goes_on_from_whatever_an_earlier_one_has_left);
    tcase_add_test(t, a_download_of_unknown_size_that_lacks_something_ends);
    tcase_add_test(t, a_download_that_cannot_verify_for_want_of_memory_ends);
    tcase_add_test(t, a_replica_that_lacks_memory_to_join_says_so);
    tcase_add_test(t, a_download_to_a_pipe_that_lacks_something_ends);
    tcase_add_test(t, a_source_that_lacks_something_fails_or_goes_on);
    tcase_add_test(t, a_source_in_memory_that_lacks_something_fails_or_goes_on);
    tcase_add_test(t, depots_without_memory_are_none);
    tcase_add_test(t, an_inspection_that_lacks_something_ends_and_says_so);
    tcase_add_test(
        t, a_download_that_goes_on_with_an_inspection_may_lack_something);
    tcase_add_test(
        t, copies_that_cannot_be_compared_for_want_of_memory_are_no_copies);
    tcase_add_test(t, checksums_that_lack_something_are_not_had_and_it_is_said);
    tcase_add_test(t, a_sweep_that_lacks_memory_is_told);
    return run_suite("torture.engine", t);
}
