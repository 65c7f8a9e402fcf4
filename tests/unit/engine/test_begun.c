/* SPDX-License-Identifier: MIT */
/* An answer that inspection has begun, and a download goes on with or does not. */
#include "engine/begun.h"

#include <stdlib.h>
#include <unistd.h>

#include <xdownload/xdownload.h>

#include "command/settings.h"
#include "engine/options.h"
#include "io/mock_server.h"
#include "os/clock.h"
#include "suite.h"

#define SIZE 2000

#define PART                                                               \
    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1999/2000\r\n" \
    "Content-Length: 2000\r\n\r\n"

static const struct mock_step file[] = {SAY(PART), BODY(0, SIZE), END};
static const struct mock_step whole[] = {
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n"), BODY(0, SIZE), END};
static const struct mock_step encoded[] = {
    SAY("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes "
        "0-1999/2000\r\nContent-Encoding: gzip\r\nContent-Length: 2000\r\n"
        "\r\n"),
    BODY(0, SIZE),
    NEXT,
    SAY(PART),
    BODY(0, SIZE),
    END};

static char folder[SUITE_FOLDER];
static char path[64];
static struct mock_server *server, *other;
static struct xd_options *options, *others;
static struct xd_manifest *manifest;
static struct xd_error error;

static void setup(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    ck_assert_int_eq(xd_options_new(&others, &error), 0);
}

static void teardown(void)
{
    char command[100];

    xd_manifest_unref(manifest);
    xd_options_free(options);
    xd_options_free(others);
    if (server)
        mock_stop(server);
    if (other)
        mock_stop(other);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The only URL of `m`; with inspection's answer in the place of `options`. */
static void inspect(struct mock_server **m, const struct mock_step *script)
{
    const char *urls[1];

    *m = mock_start(script);
    urls[0] = mock_url(*m);
    xd_manifest_unref(manifest);
    ck_assert_int_eq(xd_manifest_open(&manifest, urls, 1, options, &error), 0);
}

static void download(const struct xd_options *o)
{
    struct xd_download *d;
    unsigned char byte;
    FILE *f;

    ck_assert_int_eq(xd_download_new(&d, manifest, 0, NULL, path, o, &error),
                     0);
    ck_assert_int_eq(xd_download_start(d, &error), 0);
    ck_assert_msg(xd_download_wait(d, 20000, &error) == 0, "%s", error.msg);
    xd_download_unref(d);
    f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    for (uint64_t i = 0; i < SIZE; i++) {
        ck_assert_uint_eq(fread(&byte, 1, 1, f), 1);
        ck_assert_uint_eq(byte, mock_byte(i));
    }
    fclose(f);
}

START_TEST(a_download_goes_on_with_it)
{
    inspect(&server, file);
    download(options);
    ck_assert_uint_eq(mock_requests(server), 1);
    ck_assert_ptr_null(xd_begun_take(options->begun));
}
END_TEST

START_TEST(copies_of_the_options_have_the_same)
{
    struct xd_options *copy;

    inspect(&server, file);
    ck_assert_int_eq(xd_options_dup(&copy, options, &error), 0);
    download(copy);
    xd_options_free(copy);
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

START_TEST(other_options_do_not)
{
    inspect(&server, file);
    download(others);
    ck_assert_uint_eq(mock_requests(server), 2);
}
END_TEST

START_TEST(nor_do_these_once_requests_would_be_others)
{
    static const char *const rows[][2] = {
        {"user-agent", "another"}, {"max-redirs", "3"}, {"header", "X-A: b"}};

    inspect(&server, file);
    ck_assert_int_eq(xd_options_set(options, rows[_i][0], rows[_i][1], &error),
                     0);
    download(options);
    ck_assert_uint_eq(mock_requests(server), 2);
}
END_TEST

START_TEST(what_has_nothing_to_do_with_requests_may_change)
{
    inspect(&server, file);
    ck_assert_int_eq(xd_options_set(options, "accept-html", "yes", &error), 0);
    download(options);
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

START_TEST(it_is_not_for_another_url)
{
    const char *urls[1];

    inspect(&server, file);
    other = mock_start(file);
    urls[0] = mock_url(other);
    xd_manifest_unref(manifest);
    ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 1, SIZE, &error),
                     0);
    download(options);
    ck_assert_uint_eq(mock_requests(other), 1);
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

START_TEST(nor_for_another_of_the_same_host)
{
    char url[100];
    const char *urls[] = {url};

    inspect(&server, file);
    snprintf(url, sizeof url, "%s/another", mock_url(server));
    xd_manifest_unref(manifest);
    ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 1, SIZE, &error),
                     0);
    download(options);
    ck_assert_uint_eq(mock_requests(server), 2);
}
END_TEST

START_TEST(the_next_one_takes_its_place)
{
    struct xd_begun *begun;

    inspect(&server, file);
    inspect(&other, file);
    begun = xd_begun_take(options->begun);
    ck_assert_ptr_nonnull(begun);
    ck_assert_str_eq(xd_url_secret_text(begun->url), mock_url(other));
    xd_begun_free(begun);
}
END_TEST

START_TEST(it_does_not_last_for_ever)
{
    struct xd_begun *begun;

    inspect(&server, file);
    begun = xd_begun_take(options->begun);
    ck_assert_ptr_nonnull(begun);
    begun->at -= XD_BEGUN_LASTS;
    xd_begun_put(options->begun, begun);
    download(options);
    ck_assert_uint_eq(mock_requests(server), 2);
}
END_TEST

START_TEST(with_fewer_lanes_than_it_has_it_is_of_use)
{
    inspect(&server, file);
    ck_assert_int_eq(
        xd_options_set(options, "threads-per-depot", _i ? "1" : "16", &error),
        0);
    download(options);
    ck_assert_uint_eq(mock_requests(server), _i ? 1 : 2);
}
END_TEST

START_TEST(an_answer_with_the_whole_is_the_file)
{
    inspect(&server, whole);
    download(options);
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

START_TEST(an_encoded_answer_is_not_kept)
{
    inspect(&server, encoded);
    ck_assert_ptr_null(xd_begun_take(options->begun));
}
END_TEST

START_TEST(it_need_not_be_taken)
{
    inspect(&server, file);
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("begun");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_download_goes_on_with_it);
    tcase_add_test(tcase, copies_of_the_options_have_the_same);
    tcase_add_test(tcase, other_options_do_not);
    tcase_add_loop_test(tcase, nor_do_these_once_requests_would_be_others, 0,
                        3);
    tcase_add_test(tcase, what_has_nothing_to_do_with_requests_may_change);
    tcase_add_test(tcase, it_is_not_for_another_url);
    tcase_add_test(tcase, nor_for_another_of_the_same_host);
    tcase_add_test(tcase, the_next_one_takes_its_place);
    tcase_add_test(tcase, it_does_not_last_for_ever);
    tcase_add_loop_test(tcase, with_fewer_lanes_than_it_has_it_is_of_use, 0, 2);
    tcase_add_test(tcase, an_answer_with_the_whole_is_the_file);
    tcase_add_test(tcase, an_encoded_answer_is_not_kept);
    tcase_add_test(tcase, it_need_not_be_taken);
    return run_suite("begun", tcase);
}
