/* SPDX-License-Identifier: MIT */
/* Transports, sinks and hashes, when something runs out. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/hash.h"
#include "io/mock_server.h"
#include "io/sinks/set_sink.h"
#include "io/sinks/sink.h"
#include "io/transport.h"
#include "suite.h"
#include "torture.h"

#define SIZE 100

static const struct mock_step good[] = {
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-99/100\r\nETag: \"x\"\r\n"
        "Content-Length: 100\r\n\r\n"),
    BODY(0, SIZE), END};

static char folder[SUITE_FOLDER];
static char path[64], part[80], url[200];
static struct xd_error error;

static void setup(void)
{
    FILE *f;

    setenv("NO_PROXY", "*", 1);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(url, sizeof url, "file://%s/in", folder);
    f = fopen(url + strlen("file://"), "wb");
    ck_assert_ptr_nonnull(f);
    for (unsigned i = 0; i < SIZE; i++)
        fputc(mock_byte(i), f);
    fclose(f);
}

static void teardown(void)
{
    unlink(url + strlen("file://"));
    unlink(path);
    unlink(part);
    rmdir(folder);
}

/* A handler that counts. */
static struct caught {
    unsigned ends;
    size_t bytes;
    struct xd_outcome outcome;
} caught;

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    (void)user, (void)slot, (void)head;
    return 0;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    (void)user, (void)slot, (void)data;
    caught.bytes += len;
    return 0;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    (void)user, (void)slot;
    caught.ends++;
    caught.outcome = *outcome;
}

static const struct xd_transport_handler handler = {
    .head = on_head, .bytes = on_bytes, .end = on_end};
static const struct xd_transport_config config = {.n_slots = 2,
                                                  .silence = 10 * XD_SECOND};

/* Start a request and see it through; NOMEM if it could not begin, or if that
 * is how it ended. */
static int fetch(struct xd_transport *t, const char *from)
{
    struct xd_url parsed;
    struct xd_request r = {
        .url = &parsed, .length = SIZE, .object_size = XD_SIZE_UNKNOWN};
    int rc;

    xd_url_parse(&parsed, from);
    memset(&caught, 0, sizeof caught);
    rc = xd_transport_start(t, 0, &r, &error);
    if (rc < 0)
        return rc;
    while (caught.ends == 0)
        xd_transport_poll(t, XD_SECOND);
    return caught.outcome.error.code;
}

/* What was asked of it before does not spoil the next request. */
static int use_transport(struct xd_transport *t, const char *from)
{
    int rc;

    torture_begin();
    rc = fetch(t, from);
    torture_end();
    if (rc < 0) {
        ck_assert_uint_eq(caught.bytes, 0);
        ck_assert_int_eq(fetch(t, from), 0);
    }
    ck_assert_uint_eq(caught.ends, 1);
    ck_assert_uint_eq(caught.bytes, SIZE);
    return rc;
}

static int fetch_by_http(void)
{
    struct mock_server *server = mock_start(good);
    struct xd_transport *t = NULL;
    int rc;

    torture_begin();
    rc = xd_http_new(&t, &config, &handler, &error);
    torture_end();
    if (rc == 0)
        rc = use_transport(t, mock_url(server));
    xd_transport_free(t);
    mock_stop(server);
    return rc;
}

START_TEST(http_that_had_no_memory_works_again)
{
    torture(fetch_by_http);
}
END_TEST

static int fetch_locally(void)
{
    struct xd_transport *t = NULL;
    int rc;

    torture_begin();
    rc = xd_local_new(&t, &config, &handler, &error);
    torture_end();
    if (rc == 0)
        rc = use_transport(t, url);
    xd_transport_free(t);
    return rc;
}

START_TEST(a_local_file_that_found_no_memory_is_read_again)
{
    torture(fetch_locally);
}
END_TEST

static int write_file(void)
{
    struct xd_sink *s = NULL;
    int rc;

    torture_begin();
    rc = xd_file_sink_new(&s, path, SIZE_MAX, true, &error);
    if (rc == 0)
        rc = xd_sink_write(s, 0, "bytes", 5, &error);
    if (rc == 0)
        rc = xd_sink_finish(s, 5, &error);
    torture_end();
    xd_sink_free(s);
    return rc;
}

START_TEST(a_file_is_made_or_not)
{
    torture(write_file);
}
END_TEST

static int write_bounded(const char *in)
{
    struct xd_bounded_sink *b = NULL;
    struct xd_sink *s = NULL;
    char got[5];
    int rc;

    torture_begin();
    rc = xd_bounded_sink_new(&s, &b, in, &error);
    if (rc == 0)
        rc = xd_sink_write(s, XD_BOUNDED_CHUNK - 2, "bytes", 5, &error);
    torture_end();
    if (rc == 0) {
        ck_assert_int_eq(xd_sink_read(s, XD_BOUNDED_CHUNK - 2, got, 5, &error),
                         0);
        ck_assert_mem_eq(got, "bytes", 5);
    }
    xd_sink_free(s);
    return rc;
}

static int write_to_memory(void)
{
    return write_bounded(NULL);
}

static int write_to_folder(void)
{
    return write_bounded(folder);
}

START_TEST(a_bounded_store_is_made_or_not)
{
    torture(write_to_memory);
    torture(write_to_folder);
}
END_TEST

static void on_finished(void *user, const size_t *files, size_t n,
                        const struct xd_error *why)
{
    (void)files, (void)n;
    *(int *)user = why ? why->code : 0;
}

/* Files are opened when they are written to; what could not be is written by
 * the next try.  With `hashes` they have journals, and stay for the next run. */
static int write_set(char *hashes)
{
    char journal[96], other[64], other_part[80], other_journal[96];
    char got[6] = "";
    const struct xd_set_place places[] = {
        {.range = {0, 3}, .path = strrchr(path, '/') + 1, .hashes = hashes},
        {.range = {3, 6}, .path = "other", .hashes = hashes}};
    const struct xd_set_sink_options o = {
        .directory = folder, .replaces = true, .most_open = 1};
    const size_t first = 0;
    struct xd_set_sink *set;
    struct xd_sink *s = NULL;
    int rc;

    snprintf(journal, sizeof journal, "%s.journal", part);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(other_part, sizeof other_part, "%s.part", other);
    snprintf(other_journal, sizeof other_journal, "%s.journal", other_part);
    torture_begin();
    rc = xd_set_sink_new(&s, &set, places, 2, &o, &error);
    if (rc == 0)
        rc = xd_sink_write(s, 0, "abcdef", 6, &error);
    if (rc == 0)
        xd_set_sink_drop(set, (struct xd_range){2, 4}, on_finished, &rc);
    if (rc == 0)
        xd_set_sink_sync(set, on_finished, &rc);
    if (rc == 0)
        xd_set_sink_finish_files(set, &first, 1, on_finished, &rc);
    torture_end();
    if (s) {
        if (access(path, F_OK) != 0)
            ck_assert_int_eq(xd_sink_write(s, 0, "abc", 3, &error), 0);
        ck_assert_int_eq(xd_sink_write(s, 3, "def", 3, &error), 0);
        ck_assert_int_eq(xd_sink_read(s, 3, got, 3, &error), 0);
        ck_assert_str_eq(got, "def");
        xd_set_sink_leave_file(set, 1);
        ck_assert_int_eq(access(other_part, F_OK) == 0, hashes != NULL);
        ck_assert_int_eq(access(other_journal, F_OK) == 0, hashes != NULL);
    }
    xd_sink_free(s);
    unlink(path);
    unlink(part);
    unlink(journal);
    unlink(other_part);
    unlink(other_journal);
    return rc;
}

static int write_short(void)
{
    return write_set(NULL);
}

static int write_long(void)
{
    char none[] = "";

    return write_set(none);
}

START_TEST(files_of_a_set_are_opened_or_not)
{
    torture(write_short);
    torture_survivor(write_long); /* a journal that is of no use may stay */
}
END_TEST

static int hash(void)
{
    static const char *const algorithms[] = {"sha-512", "sha-256", "md5"};
    char hex[XD_HASH_HEX_MAX + 1];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < 3; i++) {
        struct xd_hasher *h = NULL;

        torture_begin();
        rc = xd_hasher_new(&h, algorithms[i], &error);
        torture_end();
        ck_assert((rc == 0) == (h != NULL));
        if (rc == 0)
            xd_hasher_end(h, hex);
        xd_hasher_free(h);
    }
    return rc;
}

START_TEST(a_hash_needs_memory)
{
    torture(hash);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("io");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, http_that_had_no_memory_works_again);
    tcase_add_test(t, a_local_file_that_found_no_memory_is_read_again);
    tcase_add_test(t, a_file_is_made_or_not);
    tcase_add_test(t, a_bounded_store_is_made_or_not);
    tcase_add_test(t, files_of_a_set_are_opened_or_not);
    tcase_add_test(t, a_hash_needs_memory);
    return run_suite("torture.io", t);
}
