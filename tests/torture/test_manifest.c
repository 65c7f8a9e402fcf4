/* SPDX-License-Identifier: MIT */
/* Manifests of all formats, read and written when something runs out. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xdownload/check.h>
#include <xdownload/manifest.h>

#include "command/lists.h"
#include "command/manifests.h"
#include "manifest/join.h"
#include "suite.h"
#include "torture.h"

static const char *const samples[] = {
    "copies.xnd",    "stripes.xnd",   "film.meta4",   "odd.meta4",
    "several.meta4", "film.metalink", "odd.metalink", "mirrors.metalink",
    "mirrors.urls",  "odd_parity.xnd"};

#define N_SAMPLES (sizeof samples / sizeof *samples)

static const char *sample;
static const char *format; /* to write in */

static void path_of_sample(char *out, size_t size)
{
    snprintf(out, size, XD_TEST_DATA "/%s", sample);
}

/* The out parameter is set or NULL, and the sentence is there. */
static int judge(int rc, const struct xd_manifest *m, const struct xd_error *e)
{
    ck_assert((rc == 0) == (m != NULL));
    ck_assert_int_eq(rc, e->code);
    ck_assert(rc == 0 || e->msg[0] != '\0');
    return rc;
}

static int parse_sample(void)
{
    struct xd_manifest *m = NULL;
    struct xd_error error = {.code = XD_OK};
    static char text[65536];
    char path[500];
    ssize_t len;
    int fd, rc;

    path_of_sample(path, sizeof path);
    fd = open(path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    len = read(fd, text, sizeof text);
    ck_assert(len > 0 && len < (ssize_t)sizeof text);
    close(fd);
    torture_begin();
    rc = xd_manifest_parse(&m, text, (size_t)len, "http://o.example/m", &error);
    torture_end();
    rc = judge(rc, m, &error);
    xd_manifest_unref(m);
    return rc;
}

START_TEST(a_manifest_is_parsed_whole_or_not_at_all)
{
    sample = samples[_i];
    torture(parse_sample);
}
END_TEST

static int read_sample(void)
{
    struct xd_manifest *m = NULL;
    struct xd_error error = {.code = XD_OK};
    char path[500];
    int rc;

    path_of_sample(path, sizeof path);
    torture_begin();
    rc = xd_manifest_read(&m, path, &error);
    torture_end();
    rc = judge(rc, m, &error);
    xd_manifest_unref(m);
    return rc;
}

START_TEST(a_manifest_is_read_whole_or_not_at_all)
{
    sample = "film.meta4";
    torture(read_sample);
}
END_TEST

static int take_urls(void)
{
    static const char *const urls[] = {"http://a.example/f", "ftp://b.example",
                                       "gopher://c.example/f"};
    struct xd_manifest *m = NULL;
    struct xd_error error = {.code = XD_OK};
    int rc;

    torture_begin();
    rc = xd_manifest_from_urls(&m, urls, 3, 1000, &error);
    torture_end();
    rc = judge(rc, m, &error);
    xd_manifest_unref(m);
    return rc;
}

START_TEST(urls_become_a_manifest_or_none)
{
    torture(take_urls);
}
END_TEST

static int write_sample(void)
{
    struct xd_manifest *m = NULL;
    struct xd_error error = {.code = XD_OK};
    char path[500], *text = NULL;
    int rc;

    path_of_sample(path, sizeof path);
    ck_assert_int_eq(xd_manifest_read(&m, path, NULL), 0);
    torture_begin();
    rc = xd_manifest_write(&text, m, 0, format, NULL, &error);
    torture_end();
    ck_assert((rc == 0) == (text != NULL));
    ck_assert_int_eq(rc, error.code);
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
    return rc;
}

START_TEST(a_manifest_is_written_whole_or_not_at_all)
{
    sample = "stripes.xnd";
    format = "exnode";
    torture(write_sample);
    sample = "odd_parity.xnd";
    torture(write_sample);
    sample = "film.meta4";
    format = "metalink";
    torture(write_sample);
}
END_TEST

static int take_checksums(void)
{
    static const char text[] =
        "d41d8cd98f00b204e9800998ecf8427e  old/film.mkv\n"
        "SHA1 (film.mkv) = da39a3ee5e6b4b0d3255bfef95601890afd80709\n";
    static const char *const urls[] = {"http://a.example/film.mkv"};
    struct xd_manifest *m = NULL, *made = NULL;
    struct xd_checksums *c = NULL;
    struct xd_error error = {.code = XD_OK};
    int rc;

    ck_assert_int_eq(xd_manifest_from_urls(&m, urls, 1, 1000, NULL), 0);
    torture_begin();
    rc = xd_checksums_new(&c, &error);
    if (rc == 0)
        rc =
            xd_checksums_add(c, "md5=d41d8cd98f00b204e9800998ecf8427e", &error);
    if (rc == 0)
        rc = xd_checksums_parse(c, text, strlen(text), "dir/SUMS", &error);
    if (rc == 0)
        rc = xd_checksums_apply(&made, c, m, 0, &error);
    torture_end();
    ck_assert((rc == 0) == (made != NULL));
    ck_assert_int_eq(rc, error.code);
    xd_manifest_unref(made);
    xd_checksums_free(c);
    xd_manifest_unref(m);
    return rc;
}

START_TEST(checksums_are_applied_whole_or_not_at_all)
{
    torture(take_checksums);
}
END_TEST

static int join_files(void)
{
#define HASH                                                \
    "<hash type='sha-256'>0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef</hash>"
    static const char text[] =
        "<metalink xmlns='urn:ietf:params:xml:ns:metalink'>"
        "<file name='f'><size>5</size>" HASH "<url>http://a/f</url></file>"
        "<file name='g'><size>7</size>" HASH "<url>http://a/g</url></file>"
        "</metalink>";
    static const size_t files[] = {1, 0};
    struct xd_manifest *m = NULL, *joined = NULL;
    struct xd_error error = {.code = XD_OK};
    int rc;

    ck_assert_int_eq(xd_manifest_parse(&m, text, strlen(text), NULL, NULL), 0);
    torture_begin();
    rc = xd_manifest_join(&joined, m, files, 2, &error);
    torture_end();
    rc = judge(rc, joined, &error);
    xd_manifest_unref(m);
    xd_manifest_unref(joined);
    return rc;
}

START_TEST(files_are_joined_or_stay_as_they_are)
{
    torture(join_files);
}
END_TEST

/* A text that could not be taken leaves the others. */
static int take_another_text(void)
{
    static const char one[] = "d41d8cd98f00b204e9800998ecf8427e  f\n";
    static const char other[] = "00000000000000000000000000000000  f\n"
                                "11111111111111111111111111111111  g\n";
    static const char *const urls[] = {"http://a.example/f"};
    struct xd_hash hash = {.struct_size = sizeof hash};
    struct xd_manifest *m = NULL, *made = NULL;
    struct xd_checksums *c = NULL;
    struct xd_error error = {.code = XD_OK};
    int rc;

    ck_assert_int_eq(xd_manifest_from_urls(&m, urls, 1, 1000, NULL), 0);
    ck_assert_int_eq(xd_checksums_new(&c, NULL), 0);
    ck_assert_int_eq(xd_checksums_parse(c, one, strlen(one), "A", NULL), 0);
    torture_begin();
    rc = xd_checksums_parse(c, other, strlen(other), "B", &error);
    torture_end();
    ck_assert_int_eq(rc, error.code);
    if (rc < 0) {
        ck_assert_int_eq(xd_checksums_apply(&made, c, m, 0, NULL), 0);
        ck_assert_int_eq(xd_manifest_hash(made, 0, 0, &hash), 0);
        ck_assert_str_eq(hash.hex, "d41d8cd98f00b204e9800998ecf8427e");
    }
    xd_manifest_unref(made);
    xd_checksums_free(c);
    xd_manifest_unref(m);
    return rc;
}

START_TEST(checksums_stay_as_they_were_when_others_cannot_be_taken)
{
    torture(take_another_text);
}
END_TEST

static int parse_list(void)
{
    static const char text[] =
        "http://a/x y\thttp://b/x\n out=.y\n dir=d\n"
        " checksum=md5=d41d8cd98f00b204e9800998ecf8427e\n"
        " split=5\nhttp://a/z\n";
    struct xd_list *l = NULL;
    struct xd_manifest *m = NULL;
    struct xd_error error = {.code = XD_OK};
    int rc;

    torture_begin();
    rc = xd_list_parse(&l, text, strlen(text), "l", false, &error);
    if (rc == 0)
        rc = xd_list_manifest(&m, l, &error);
    torture_end();
    ck_assert((rc == 0) == (m != NULL));
    ck_assert_int_eq(rc, error.code);
    xd_list_free(l);
    xd_manifest_unref(m);
    return rc;
}

START_TEST(a_list_is_parsed_whole_or_not_at_all)
{
    torture(parse_list);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("manifest");

    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, a_manifest_is_parsed_whole_or_not_at_all, 0,
                        N_SAMPLES);
    tcase_add_test(t, a_manifest_is_read_whole_or_not_at_all);
    tcase_add_test(t, urls_become_a_manifest_or_none);
    tcase_add_test(t, a_list_is_parsed_whole_or_not_at_all);
    tcase_add_test(t, a_manifest_is_written_whole_or_not_at_all);
    tcase_add_test(t, checksums_are_applied_whole_or_not_at_all);
    tcase_add_test(t, files_are_joined_or_stay_as_they_are);
    tcase_add_test(t, checksums_stay_as_they_were_when_others_cannot_be_taken);
    return run_suite("torture.manifest", t);
}
