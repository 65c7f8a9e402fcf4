/* SPDX-License-Identifier: MIT */
/*
 * Downloads that distrust somebody, when something runs out: depots that lie,
 * a file that is held against another depot's, what an earlier run has left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xdownload/check.h>
#include <xdownload/download.h>

#include "command/checks.h"
#include "engine/trust/sample_copies.h"
#include "io/hash.h"
#include "io/mock_server.h"
#include "suite.h"
#include "torture.h"

#define SMALL 100
#define LARGE (((size_t)1 << 20) + 100) /* has a journal, and a sample */

#define HEAD(last, size)                                                       \
    SAY("HTTP/1.1 206 Partial Content\r\nETag: \"x\"\r\n"                      \
        "Content-Range: bytes 0-" #last "/" #size "\r\nContent-Length: " #size \
        "\r\n\r\n")

static const struct mock_step liar[] = {HEAD(99, 100), BODY(1, SMALL), END};
static const struct mock_step large[] = {HEAD(1048675, 1048676), BODY(0, LARGE),
                                         END};
static const struct mock_step elsewhere[] = {
    SAY("HTTP/1.1 302 Found\r\nLocation: http://@/y\r\n"
        "Content-Length: 0\r\n\r\n"),
    NEXT, HEAD(99, 100), BODY(0, SMALL), END};

static char folder[SUITE_FOLDER];
static char path[64], part[80], journal[90], copy[64], cache[64];
static unsigned char bytes[LARGE];
static struct xd_options *options;
static struct xd_manifest *manifest;
static struct mock_server *servers[2];
static struct xd_error error;

static void put(const char *at, size_t size)
{
    FILE *f = fopen(at, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
}

/* With one wrong byte. */
static void put_wrong(const char *at, size_t size)
{
    bytes[0] ^= 1;
    put(at, size);
    bytes[0] ^= 1;
}

static void set(const char *option, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, option, value, &error), 0);
}

static void setup(void)
{
    setenv("NO_PROXY", "*", 1);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(journal, sizeof journal, "%s.journal", part);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = mock_byte(i);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("allow-file", "yes");
    set("algorithm", "basic");
    set("block-size", "2m");
}

static void teardown(void)
{
    xd_options_free(options);
    unlink(path);
    unlink(part);
    unlink(journal);
    unlink(copy);
    unlink(cache);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void hash(char hex[XD_HASH_HEX_MAX + 1], size_t size)
{
    struct xd_hasher *hasher;

    ck_assert_int_eq(xd_hasher_new(&hasher, "sha-256", &error), 0);
    xd_hasher_add(hasher, bytes, size);
    xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
}

enum proof { BY_PIECE, BY_WHOLE, BY_NONE };

static void prove(char *out, size_t room, size_t size, enum proof proof)
{
    char hex[XD_HASH_HEX_MAX + 1];

    hash(hex, size);
    *out = '\0';
    switch (proof) {
    case BY_PIECE:
        snprintf(out, room,
                 "<pieces type=\"sha-256\" length=\"%zu\"><hash>%s</hash>"
                 "</pieces>",
                 size, hex);
        break;
    case BY_WHOLE:
        snprintf(out, room, "<hash type=\"sha-256\">%s</hash>", hex);
        break;
    case BY_NONE:
        break;
    }
}

/* Of a file of which `first` is asked for all, and `second` by whoever doubts
 * it; without a script it lies on this machine. */
static void describe(const struct mock_step *first,
                     const struct mock_step *second, size_t size,
                     enum proof proof)
{
    const struct mock_step *scripts[] = {first, second};
    char text[1000], proved[200], urls[2][100];
    int n;

    put(copy, size);
    prove(proved, sizeof proved, size, proof);
    for (size_t i = 0; i < 2; i++) {
        servers[i] = scripts[i] ? mock_start(scripts[i]) : NULL;
        if (servers[i])
            snprintf(urls[i], sizeof urls[i], "%s", mock_url(servers[i]));
        else
            snprintf(urls[i], sizeof urls[i], "file://%s", copy);
    }
    n = snprintf(text, sizeof text,
                 "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                 "<file name=\"f\"><size>%zu</size>%s"
                 "<url priority=\"1\">%s</url>"
                 "<url priority=\"2\">%s</url></file></metalink>",
                 size, proved, urls[0], urls[1]);
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, copy, &error), 0);
}

static void forget(void)
{
    xd_manifest_unref(manifest);
    manifest = NULL;
    for (size_t i = 0; i < 2; i++) {
        if (servers[i])
            mock_stop(servers[i]);
        servers[i] = NULL;
    }
}

static int fetch(void)
{
    struct xd_download *d;
    int rc = xd_download_new(&d, manifest, 0, NULL, path, options, &error);

    if (rc < 0)
        return rc;
    rc = xd_download_start(d, &error);
    if (rc == 0)
        rc = xd_download_wait(d, -1, &error);
    xd_download_unref(d);
    return rc;
}

static void assert_file_is_right_or_none(int rc, size_t size)
{
    FILE *f = fopen(path, "rb");
    static unsigned char found[LARGE + 1];

    ck_assert((f != NULL) == (rc == 0));
    if (f == NULL)
        return;
    ck_assert_uint_eq(fread(found, 1, sizeof found, f), size);
    ck_assert_int_eq(memcmp(found, bytes, size), 0);
    fclose(f);
}

static int fetch_afresh(const struct mock_step *first,
                        const struct mock_step *second, size_t size,
                        enum proof proof)
{
    int rc;

    unlink(path);
    unlink(part);
    unlink(journal);
    unlink(cache);
    describe(first, second, size, proof);
    torture_begin();
    rc = fetch();
    torture_end();
    assert_file_is_right_or_none(rc, size);
    forget();
    return rc;
}

static int find_liar_by_piece(void)
{
    return fetch_afresh(liar, NULL, SMALL, BY_PIECE);
}

static int find_liar_by_whole(void)
{
    return fetch_afresh(liar, NULL, SMALL, BY_WHOLE);
}

/* What is only of use for the next request need not be kept. */
START_TEST(a_liar_that_cannot_be_found_out_for_want_of_memory_ends_the_run)
{
    torture_survivor(_i == 0 ? find_liar_by_piece : find_liar_by_whole);
}
END_TEST

/* The second is asked for the sample: it has that `shift` bytes further on. */
static int compare(uint64_t shift)
{
    struct xd_range sample[XD_SAMPLES_MAX];
    char head[200];
    struct mock_step script[] = {SAY(head), BODY(0, 0), END};

    ck_assert_uint_eq(xd_sample_ranges((struct xd_range){0, LARGE}, sample), 1);
    script[1].first = sample->begin + shift;
    script[1].length = xd_range_length(*sample);
    snprintf(head, sizeof head,
             "HTTP/1.1 206 Partial Content\r\nETag: \"x\"\r\n"
             "Content-Range: bytes %d-%d/%d\r\nContent-Length: %d\r\n\r\n",
             (int)sample->begin, (int)sample->end - 1, (int)LARGE,
             (int)script[1].length);
    return fetch_afresh(large, script, LARGE, BY_NONE);
}

static int agree(void)
{
    return compare(0);
}

/* Nobody can tell which of the two is right, if it is seen that they differ:
 * the first, asked for the sample again, has no answer to that. */
static int differ(void)
{
    int rc = compare(1);

    return rc == XD_E_CORRUPT ? 0 : rc;
}

START_TEST(depots_that_cannot_be_compared_for_want_of_memory_end_the_run)
{
    torture_survivor(_i == 0 ? agree : differ);
}
END_TEST

static int follow(void)
{
    return fetch_afresh(elsewhere, NULL, SMALL, BY_NONE);
}

/* Also what is remembered of depots may be lost. */
START_TEST(a_redirect_is_followed_or_not)
{
    set("depot-cache", cache);
    torture_survivor(follow);
}
END_TEST

/* The file that is there becomes an unfinished one, or is as before. */
static int reopen(void)
{
    struct xd_check *check;
    int rc = xd_check_new(&check, manifest, 0, path, NULL, &error);

    if (rc < 0)
        return rc;
    rc = xd_check_reopen(check, &error);
    ck_assert_int_eq(access(path, F_OK), rc < 0 ? 0 : -1);
    ck_assert_int_eq(access(part, F_OK), rc < 0 ? -1 : 0);
    ck_assert_int_eq(access(journal, F_OK), rc < 0 ? -1 : 0);
    xd_check_free(check);
    return rc;
}

static int repair(void)
{
    int rc;

    unlink(part);
    unlink(journal);
    put_wrong(path, SMALL);
    describe(NULL, NULL, SMALL, BY_PIECE);
    torture_begin();
    rc = reopen();
    if (rc == 0) {
        rc = fetch();
        assert_file_is_right_or_none(rc, SMALL);
    }
    torture_end();
    forget();
    return rc;
}

START_TEST(a_repair_that_lacks_something_leaves_what_it_found)
{
    torture_survivor(repair);
}
END_TEST

/* A file that lacks its end is as before, or complete. */
static void assert_file_is_complete_or_kept(int rc)
{
    static unsigned char found[SMALL + 1];
    FILE *f = fopen(path, "rb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(found, 1, sizeof found, f),
                      rc == 0 ? SMALL : SMALL - 10);
    ck_assert_int_eq(memcmp(found, bytes, rc == 0 ? SMALL : SMALL - 10), 0);
    fclose(f);
}

static int begin_repair(void)
{
    struct xd_check *check;
    int rc = xd_check_new(&check, manifest, 0, path, NULL, &error);

    if (rc < 0)
        return rc;
    rc = xd_check_begin_repair(check, options, &error);
    xd_check_free(check);
    return rc;
}

static int repair_beside(void)
{
    int rc;

    unlink(part);
    unlink(journal);
    put(path, SMALL - 10);
    describe(NULL, NULL, SMALL, BY_WHOLE);
    torture_begin();
    rc = begin_repair();
    if (rc == 0)
        rc = fetch();
    torture_end();
    assert_file_is_complete_or_kept(rc);
    forget();
    return rc;
}

START_TEST(repair_beside_the_file_that_lacks_something_keeps_it)
{
    set("force", "yes");
    torture_survivor(repair_beside);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("distrust");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(
        t, a_liar_that_cannot_be_found_out_for_want_of_memory_ends_the_run, 0,
        2);
    tcase_add_loop_test(
        t, depots_that_cannot_be_compared_for_want_of_memory_end_the_run, 0, 2);
    tcase_add_test(t, a_redirect_is_followed_or_not);
    tcase_add_test(t, a_repair_that_lacks_something_leaves_what_it_found);
    tcase_add_test(t, repair_beside_the_file_that_lacks_something_keeps_it);
    return run_suite("torture.distrust", t);
}
