/* SPDX-License-Identifier: MIT */
/*
 * What follows when the validators of one depot differ: whether samples are
 * compared, and what they decide.
 */
#include "engine/trust/validator_check.h"

#include <xdownload/download.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/hash.h"
#include "io/mock_server.h"
#include "suite.h"

#define BLOCK 4096
#define SIZE (2 * BLOCK) /* the second block is what samples are of */

#define RANGE(first, last, length, tag)                      \
    SAY("HTTP/1.1 206 Partial Content\r\nETag: " tag "\r\n"  \
        "Content-Range: bytes " #first "-" #last "/8192\r\n" \
        "Content-Length: " #length "\r\n\r\n")
#define FIRST(tag) RANGE(0, 4095, 4096, tag), BODY(0, BLOCK)
#define SECOND(tag) RANGE(4096, 8191, 4096, tag), BODY(BLOCK, BLOCK)
/* To a request of the download, which begins 16 bytes earlier; the others are to
 * requests for samples. */
#define REST(tag) RANGE(4080, 8191, 4112, tag), BODY(BLOCK - 16, BLOCK + 16)
#define OTHER(tag) RANGE(4096, 8191, 4096, tag), BODY(1, BLOCK)
#define CONDITION_FAILS \
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 8192\r\n\r\n"), BODY(0, SIZE)

/* Of an object of four blocks: then samples of four places are compared. */
#define WIDE_SIZE (4 * BLOCK)
#define WIDE(first, last, tag)                                \
    SAY("HTTP/1.1 206 Partial Content\r\nETag: " tag "\r\n"   \
        "Content-Range: bytes " #first "-" #last "/16384\r\n" \
        "Content-Length: 4096\r\n\r\n")
#define PLACE_1(tag) WIDE(0, 4095, tag), BODY(0, BLOCK)
#define OTHER_2(tag) WIDE(4096, 8191, tag), BODY(1, BLOCK)
#define EQUAL_PAIR PLACE_1("\"a\""), NEXT, PLACE_1("\"b\""), NEXT
#define OTHER_PAIR OTHER_2("\"c\""), NEXT, OTHER_2("\"d\""), NEXT
#define WHOLE \
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 16384\r\n\r\n"), BODY(0, WIDE_SIZE)

static char folder[SUITE_FOLDER];
static char path[64], part[80];
static unsigned size; /* of the object */
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_download *download;
static struct mock_server *server;
static struct xd_error error;
static atomic_uint n_warnings; /* that speak of validators */
static atomic_bool has_changed;

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, name, value, &error), 0);
}

static void on_log(void *user, enum xd_log_level level, const char *line)
{
    (void)user;
    if (level == XD_LOG_WARN && strstr(line, "validators") != NULL)
        n_warnings++;
    if (strstr(line, "has changed") != NULL)
        has_changed = true;
}

static void setup(void)
{
    size = SIZE;
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(part, sizeof part, "%s.part", path);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("algorithm", "basic");
    set("block-size", "4k");
    set("threads-per-depot", "1");
    xd_options_set_log(options, on_log, NULL);
    n_warnings = 0;
    has_changed = false;
}

static void teardown(void)
{
    xd_download_unref(download);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    mock_stop(server);
    unlink(path);
    unlink(part);
    rmdir(folder);
}

static void hash_of_file(char hex[XD_HASH_HEX_MAX + 1])
{
    unsigned char bytes[SIZE];
    struct xd_hasher *hasher;

    for (unsigned i = 0; i < SIZE; i++)
        bytes[i] = mock_byte(i);
    ck_assert_int_eq(xd_hasher_new(&hasher, "sha-256", &error), 0);
    xd_hasher_add(hasher, bytes, sizeof bytes);
    xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
}

static void describe(bool has_hash)
{
    char text[1000], hash[200] = "", hex[XD_HASH_HEX_MAX + 1];
    int n;

    hash_of_file(hex);
    if (has_hash)
        snprintf(hash, sizeof hash, "<hash type=\"sha-256\">%s</hash>", hex);
    n = snprintf(text, sizeof text,
                 "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                 "<file name=\"f\"><size>%u</size>%s<url>%s</url></file>"
                 "</metalink>",
                 size, hash, mock_url(server));
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error), 0);
}

static int fetch(const struct mock_step *script, bool has_hash)
{
    server = mock_start(script);
    describe(has_hash);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    return xd_download_wait(download, -1, &error);
}

static bool is_conditional(unsigned i)
{
    return strstr(mock_request(server, i), "\r\nIf-Range: ") != NULL;
}

static void check_file(void)
{
    unsigned char bytes[WIDE_SIZE + 1];
    int fd = open(path, O_RDONLY);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(read(fd, bytes, sizeof bytes), size);
    close(fd);
    for (unsigned i = 0; i < size; i++)
        ck_assert_uint_eq(bytes[i], mock_byte(i));
}

START_TEST(equal_bytes_under_two_validators_are_one_file)
{
    static const struct mock_step script[] = {
        FIRST("\"a\""),  NEXT, CONDITION_FAILS, NEXT, SECOND("\"b\""), NEXT,
        SECOND("\"a\""), NEXT, SECOND("\"b\""), NEXT, SECOND("\"b\""), NEXT,
        REST("\"b\""),   END};

    ck_assert_msg(fetch(script, false) == 0, "%s", error.msg);
    check_file();
    ck_assert_uint_eq(mock_requests(server), 7);
    ck_assert(is_conditional(1) && !is_conditional(2) && !is_conditional(6));
    ck_assert_uint_eq(n_warnings, 1);
}
END_TEST

START_TEST(one_new_validator_is_a_file_that_has_changed)
{
    static const struct mock_step script[] = {
        FIRST("\"a\""), NEXT, CONDITION_FAILS, NEXT, SECOND("\"b\""), END};

    ck_assert_int_lt(fetch(script, false), 0);
    ck_assert(has_changed);
    ck_assert_uint_gt(mock_requests(server), 14); /* all of it in vain */
    ck_assert_uint_eq(n_warnings, 0);
}
END_TEST

START_TEST(of_another_file_under_another_validator_all_is_asked_for_at_once)
{
    static const struct mock_step script[] = {
        FIRST("\"a\""), NEXT, CONDITION_FAILS, NEXT, SECOND("\"a\""), NEXT,
        OTHER("\"b\""), NEXT, CONDITION_FAILS, END};

    ck_assert_msg(fetch(script, false) == 0, "%s", error.msg);
    check_file();
    ck_assert(has_changed);
    ck_assert_uint_eq(mock_requests(server), 5);
    ck_assert_ptr_null(strstr(mock_request(server, 4), "\r\nRange: "));
}
END_TEST

/* Two files under one validator: chance gives the same one twice. */
START_TEST(two_equal_answers_prove_nothing)
{
    static const struct mock_step script[] = {
        FIRST("\"a\""),  NEXT, CONDITION_FAILS, NEXT, SECOND("\"a\""), NEXT,
        SECOND("\"b\""), NEXT, SECOND("\"b\""), NEXT, OTHER("\"a\""),  NEXT,
        CONDITION_FAILS, END};

    ck_assert_msg(fetch(script, false) == 0, "%s", error.msg);
    check_file();
    ck_assert(has_changed);
    ck_assert_uint_eq(mock_requests(server), 7);
}
END_TEST

/* At the second place only the other file is met, under two validators. */
START_TEST(answers_of_another_file_are_not_compared_among_themselves)
{
    static const struct mock_step script[] = {PLACE_1("\"a\""),
                                              NEXT,
                                              WHOLE,
                                              NEXT, /* of another validator */
                                              EQUAL_PAIR,
                                              EQUAL_PAIR,
                                              OTHER_PAIR,
                                              OTHER_PAIR,
                                              OTHER_PAIR,
                                              OTHER_PAIR,
                                              OTHER_PAIR,
                                              OTHER_PAIR,
                                              WHOLE,
                                              END};

    size = WIDE_SIZE;
    ck_assert_msg(fetch(script, false) == 0, "%s", error.msg);
    check_file();
    ck_assert(has_changed);
    ck_assert_uint_eq(mock_requests(server), 19);
}
END_TEST

#define BUSY                                         \
    SAY("HTTP/1.1 503 Busy\r\nConnection: close\r\n" \
        "Content-Length: 0\r\n\r\n")

START_TEST(a_depot_that_gives_no_sample_is_asked_again_later)
{
    static const struct mock_step script[] = {
        FIRST("\"a\""), NEXT, CONDITION_FAILS, NEXT, BUSY, NEXT,
        BUSY,           NEXT, REST("\"a\""),   END};

    ck_assert_msg(fetch(script, false) == 0, "%s", error.msg);
    check_file();
    ck_assert_uint_eq(mock_requests(server), 5);
    ck_assert(is_conditional(1) && is_conditional(4));
    ck_assert_uint_eq(n_warnings, 0);
}
END_TEST

#define FOUR_SAMPLES                                                     \
    SECOND("\"a\""), NEXT, SECOND("\"a\""), NEXT, SECOND("\"a\""), NEXT, \
        SECOND("\"a\""), NEXT

START_TEST(a_depot_that_heeds_no_condition_is_asked_without)
{
    static const struct mock_step script[] = {
        FIRST("\"a\""), NEXT,         CONDITION_FAILS, NEXT, FOUR_SAMPLES,
        FOUR_SAMPLES,   FOUR_SAMPLES, REST("\"a\""),   END};

    ck_assert_msg(fetch(script, false) == 0, "%s", error.msg);
    check_file();
    ck_assert(is_conditional(1) && !is_conditional(14));
    ck_assert_uint_eq(n_warnings, 0);
}
END_TEST

START_TEST(a_depot_that_refuses_a_condition_is_asked_without)
{
    static const struct mock_step script[] = {
        FIRST("\"a\""),
        NEXT,
        SAY("HTTP/1.1 412 No\r\nContent-Length: 0\r\n\r\n"),
        NEXT,
        REST("\"a\""),
        END};

    ck_assert_msg(fetch(script, false) == 0, "%s", error.msg);
    check_file();
    ck_assert_uint_eq(mock_requests(server), 3);
    ck_assert(is_conditional(1) && !is_conditional(2));
}
END_TEST

START_TEST(where_a_hash_decides_nothing_is_compared)
{
    static const struct mock_step script[] = {FIRST("\"a\""), NEXT,
                                              SECOND("\"b\""), END};

    ck_assert_msg(fetch(script, true) == 0, "%s", error.msg);
    check_file();
    ck_assert_uint_eq(mock_requests(server), 2);
    ck_assert(!is_conditional(1));
    ck_assert_uint_eq(n_warnings, 1);
}
END_TEST

START_TEST(what_is_cut_is_continued)
{
    static const struct mock_step script[] = {RANGE(0, 99, 100, "\"a\""),
                                              BODY(0, 100),
                                              NEXT,
                                              RANGE(84, 4095, 4012, "\"a\""),
                                              BODY(84, 4012),
                                              NEXT,
                                              REST("\"a\""),
                                              END};

    ck_assert_msg(fetch(script, false) == 0, "%s", error.msg);
    check_file();
    ck_assert_uint_eq(mock_requests(server), 3);
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 1), "Range: bytes=84-4095\r\n"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("doubt");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, equal_bytes_under_two_validators_are_one_file);
    tcase_add_test(t, one_new_validator_is_a_file_that_has_changed);
    tcase_add_test(
        t, of_another_file_under_another_validator_all_is_asked_for_at_once);
    tcase_add_test(t, two_equal_answers_prove_nothing);
    tcase_add_test(t,
                   answers_of_another_file_are_not_compared_among_themselves);
    tcase_add_test(t, a_depot_that_gives_no_sample_is_asked_again_later);
    tcase_add_test(t, a_depot_that_heeds_no_condition_is_asked_without);
    tcase_add_test(t, a_depot_that_refuses_a_condition_is_asked_without);
    tcase_add_test(t, where_a_hash_decides_nothing_is_compared);
    tcase_add_test(t, what_is_cut_is_continued);
    return run_suite("engine.doubt", t);
}
