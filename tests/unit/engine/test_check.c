/* SPDX-License-Identifier: MIT */
/*
 * A file that is there, held against manifests that know more or less of it.
 */
#include <xdownload/check.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "command/checks.h"
#include "io/hash.h"
#include "io/journal/journal.h"
#include "os/file.h"
#include "suite.h"

#define SIZE 1000
#define PIECE 300 /* 0-300 300-600 600-900 900-1000 */

static char folder[SUITE_FOLDER], path[80], part[90], journal[100];
static unsigned char right[SIZE];
static struct xd_manifest *manifest;
static struct xd_check *check;
static struct xd_error err;

static void set_up(void)
{
    for (size_t i = 0; i < SIZE; i++)
        right[i] = (unsigned char)(i * 7 + i / 251);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/f", folder);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(journal, sizeof journal, "%s.journal", part);
    manifest = NULL;
    check = NULL;
}

static void tear_down(void)
{
    xd_check_free(check);
    xd_manifest_unref(manifest);
    unlink(path);
    unlink(part);
    unlink(journal);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const char *name, size_t len)
{
    FILE *f = fopen(name, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(right, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

static void add_hash(struct xd_text *text, const char *type, size_t begin,
                     size_t end)
{
    struct xd_hasher *hasher;
    char hex[XD_HASH_HEX_MAX + 1];

    ck_assert_int_eq(xd_hasher_new(&hasher, type, &err), 0);
    xd_hasher_add(hasher, right + begin, end - begin);
    xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
    xd_text_addf(text, "%s</hash>", hex);
}

/* Of the right bytes; each may be NULL: the manifest has no such hash. */
static void describe(const char *whole, const char *pieces, bool has_size)
{
    struct xd_text text = {0};

    xd_text_addf(&text, "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                        "<file name=\"f\">");
    if (has_size)
        xd_text_addf(&text, "<size>%d</size>", SIZE);
    if (whole) {
        xd_text_addf(&text, "<hash type=\"%s\">", whole);
        add_hash(&text, whole, 0, SIZE);
    }
    if (pieces) {
        xd_text_addf(&text, "<pieces type=\"%s\" length=\"%d\">", pieces,
                     PIECE);
        for (size_t at = 0; at < SIZE; at += PIECE) {
            xd_text_addf(&text, "<hash>");
            add_hash(&text, pieces, at, at + PIECE < SIZE ? at + PIECE : SIZE);
        }
        xd_text_addf(&text, "</pieces>");
    }
    xd_text_addf(&text, "<url>http://a.example/f</url></file></metalink>");
    ck_assert_msg(
        xd_manifest_parse(&manifest, text.s, text.len, "a.meta4", &err) == 0,
        "%s", err.msg);
    xd_text_fini(&text);
}

/* "right" or "wrong", by which hash, and what: "wrong sha-256 0-300 600-900" */
static const char *checked(void)
{
    static char text[200];
    struct xd_checked found = {.struct_size = sizeof found};
    uint64_t begin, end;

    ck_assert_msg(xd_check_new(&check, manifest, 0, path, NULL, &err) == 0,
                  "%s", err.msg);
    xd_check_get(check, &found);
    snprintf(text, sizeof text, "%s %s", found.is_right ? "right" : "wrong",
             found.algorithm ? found.algorithm : "nothing");
    for (size_t i = 0; xd_check_wrong(check, i, &begin, &end) == 0; i++)
        sprintf(text + strlen(text), " %llu-%llu", (unsigned long long)begin,
                (unsigned long long)end);
    return text;
}

/* The file is there, and its bytes at these places are wrong. */
static void put_wrong(size_t at, size_t other)
{
    right[at] ^= 1;
    right[other] ^= 2;
    put(path, SIZE);
    right[at] ^= 1;
    right[other] ^= 2;
}

START_TEST(a_right_file_is_right_by_its_pieces)
{
    put(path, SIZE);
    describe("sha-512", "sha-256", true);
    ck_assert_str_eq(checked(), "right sha-256");
}
END_TEST

START_TEST(pieces_as_strong_as_the_whole_hash_spare_it)
{
    put(path, SIZE);
    describe("sha-1", "sha-256", true);
    ck_assert_str_eq(checked(), "right sha-256");
}
END_TEST

START_TEST(wrong_pieces_are_named_and_neighbours_are_one_run)
{
    put_wrong(0, 650);
    describe("sha-256", "sha-256", true);
    ck_assert_str_eq(checked(), "wrong sha-256 0-300 600-900");
    xd_check_free(check);
    put_wrong(650, 950);
    ck_assert_str_eq(checked(), "wrong sha-256 600-1000");
}
END_TEST

START_TEST(by_the_whole_hash_alone_all_of_it_is_wrong)
{
    put_wrong(5, 6);
    describe("sha-256", NULL, true);
    ck_assert_str_eq(checked(), "wrong sha-256 0-1000");
}
END_TEST

START_TEST(what_a_short_file_lacks_is_wrong)
{
    put(path, 650);
    describe(NULL, "sha-256", true);
    ck_assert_str_eq(checked(), "wrong sha-256 600-1000");
    xd_check_free(check);
    xd_manifest_unref(manifest);
    describe(NULL, NULL, true);
    ck_assert_str_eq(checked(), "wrong nothing 650-1000");
}
END_TEST

START_TEST(what_a_long_file_has_too_much_is_wrong)
{
    put(path, SIZE);
    ck_assert_int_eq(truncate(path, SIZE + 10), 0);
    describe(NULL, "sha-256", true);
    ck_assert_str_eq(checked(), "wrong sha-256 1000-1010");
}
END_TEST

START_TEST(where_there_is_no_hash_the_size_decides)
{
    put_wrong(1, 2);
    describe(NULL, NULL, true);
    ck_assert_str_eq(checked(), "right nothing");
}
END_TEST

START_TEST(where_there_is_neither_hash_nor_size_nothing_is_right)
{
    put(path, SIZE);
    describe(NULL, NULL, false);
    ck_assert_str_eq(checked(), "wrong nothing");
    ck_assert_int_eq(xd_check_reopen(check, &err), XD_E_STATE);
    ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_file_that_is_not_there_or_is_none_is_an_error)
{
    describe("sha-256", NULL, true);
    ck_assert_int_eq(xd_check_new(&check, manifest, 0, path, NULL, &err),
                     XD_E_IO);
    ck_assert_ptr_null(check);
    ck_assert_ptr_nonnull(strstr(err.msg, path));
    ck_assert_int_eq(xd_check_new(&check, manifest, 0, folder, NULL, &err),
                     XD_E_IO);
    ck_assert_int_eq(xd_check_new(&check, manifest, 1, path, NULL, &err),
                     XD_E_INVAL);
}
END_TEST

START_TEST(a_check_that_is_canceled_fails)
{
    struct xd_options *o;
    struct xd_cancel *cancel;

    put(path, SIZE);
    describe("sha-256", "sha-256", true);
    ck_assert_int_eq(xd_options_new(&o, &err), 0);
    ck_assert_int_eq(xd_cancel_new(&cancel, &err), 0);
    xd_options_set_cancel(o, cancel);
    ck_assert_int_eq(xd_check_new(&check, manifest, 0, path, o, &err), 0);
    xd_check_free(check);
    xd_cancel_trigger(cancel);
    ck_assert_int_eq(xd_check_new(&check, manifest, 0, path, o, &err),
                     XD_E_CANCELED);
    ck_assert_ptr_null(check);
    xd_cancel_free(cancel);
    xd_options_free(o);
}
END_TEST

/* ---- made an unfinished one again ---- */

/* Returns the runs of bytes that the journal of the unfinished file names. */
static struct xd_rangeset believed_bytes(void)
{
    struct xd_journal_contents contents;
    struct xd_rangeset believed;
    struct xd_journal *j;
    int in;

    ck_assert_int_eq(xd_folder_open(&in, journal, &err), 0);
    ck_assert_int_eq(xd_journal_open(&j, &contents, in, journal, &err), 0);
    ck_assert_str_eq(contents.name, "f");
    ck_assert_uint_eq(contents.size, SIZE);
    ck_assert_int_eq(xd_journal_believed(&contents, "another", SIZE, &believed),
                     0);
    xd_journal_contents_fini(&contents);
    xd_journal_free(j);
    xd_file_close(in);
    return believed;
}

START_TEST(a_reopened_file_has_a_journal_of_its_right_bytes)
{
    struct xd_rangeset believed;

    put_wrong(0, 650);
    describe("sha-256", "sha-256", true);
    checked();
    ck_assert_msg(xd_check_reopen(check, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(access(part, F_OK), 0);
    believed = believed_bytes();
    ck_assert_uint_eq(believed.n, 2);
    ck_assert_uint_eq(believed.ranges[0].begin, 300);
    ck_assert_uint_eq(believed.ranges[0].end, 600);
    ck_assert_uint_eq(believed.ranges[1].begin, 900);
    xd_rangeset_fini(&believed);
}
END_TEST

START_TEST(an_unfinished_file_is_in_the_way_and_stays)
{
    const char *names[] = {part, journal};
    struct stat st;

    put_wrong(0, 650);
    describe("sha-256", "sha-256", true);
    checked();
    put(names[_i], 7);
    ck_assert_int_eq(xd_check_reopen(check, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, part));
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_eq(stat(names[_i], &st), 0);
    ck_assert_int_eq(st.st_size, 7);
    ck_assert_int_eq(access(names[1 - _i], F_OK), -1);
}
END_TEST

START_TEST(a_file_that_another_download_writes_to_is_not_reopened)
{
    uint64_t size;
    int fd, in;

    put_wrong(0, 650);
    describe("sha-256", "sha-256", true);
    checked();
    ck_assert_int_eq(xd_folder_open(&in, path, &err), 0);
    ck_assert_int_eq(xd_file_own(&fd, &size, in, path, &err), 0);
    xd_file_close(in);
    ck_assert_int_eq(xd_check_reopen(check, &err), XD_E_IO);
    xd_file_close(fd);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_eq(access(part, F_OK), -1);
    ck_assert_int_eq(access(journal, F_OK), -1);
}
END_TEST

/* ---- a copy to repair ---- */

static void assert_size(const char *name, off_t size)
{
    struct stat st;

    ck_assert_int_eq(stat(name, &st), 0);
    ck_assert_int_eq(st.st_size, size);
}

START_TEST(a_repair_begins_with_a_copy_of_the_right_bytes)
{
    struct xd_rangeset believed;

    put_wrong(0, 950);
    describe("sha-256", "sha-256", true);
    checked();
    ck_assert_msg(xd_check_begin_repair(check, NULL, &err) == 0, "%s", err.msg);
    assert_size(path, SIZE);
    assert_size(part, 900);
    believed = believed_bytes();
    ck_assert_uint_eq(believed.n, 1);
    ck_assert_uint_eq(believed.ranges[0].begin, 300);
    ck_assert_uint_eq(believed.ranges[0].end, 900);
    xd_rangeset_fini(&believed);
}
END_TEST

START_TEST(a_repair_completes_what_an_earlier_one_has_left)
{
    struct xd_rangeset believed;

    put_wrong(0, 350);
    describe("sha-256", "sha-256", true);
    checked();
    ck_assert_int_eq(xd_check_begin_repair(check, NULL, &err), 0);
    xd_check_free(check);
    put_wrong(0, 650); /* piece 300-600 is right now, 600-900 is not */
    checked();
    ck_assert_msg(xd_check_begin_repair(check, NULL, &err) == 0, "%s", err.msg);
    believed = believed_bytes();
    ck_assert_uint_eq(believed.n, 1);
    ck_assert_uint_eq(believed.ranges[0].begin, 300);
    ck_assert_uint_eq(believed.ranges[0].end, SIZE);
    xd_rangeset_fini(&believed);
}
END_TEST

START_TEST(a_repair_leaves_what_is_in_its_way)
{
    const char *names[] = {part, journal};

    put_wrong(0, 650);
    describe("sha-256", "sha-256", true);
    checked();
    put(names[_i], 7);
    ck_assert_int_eq(xd_check_begin_repair(check, NULL, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, part));
    assert_size(path, SIZE);
    assert_size(names[_i], 7);
    ck_assert_int_eq(access(names[1 - _i], F_OK), -1);
}
END_TEST

START_TEST(a_file_without_a_right_piece_is_repaired_by_force_only)
{
    struct xd_options *o;

    for (size_t at = 0; at < SIZE; at += PIECE)
        right[at] ^= 1;
    put(path, SIZE);
    for (size_t at = 0; at < SIZE; at += PIECE)
        right[at] ^= 1;
    describe("sha-256", "sha-256", true);
    checked();
    ck_assert_int_eq(xd_check_begin_repair(check, NULL, &err), XD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.msg, "--force"));
    ck_assert_int_eq(xd_options_new(&o, &err), 0);
    ck_assert_int_eq(xd_options_set(o, "force", "yes", &err), 0);
    ck_assert_int_eq(xd_check_begin_repair(check, o, &err), 0);
    xd_options_free(o);
    assert_size(path, SIZE);
    /* There is nothing to copy. */
    ck_assert_int_eq(access(part, F_OK), -1);
    ck_assert_int_eq(access(journal, F_OK), -1);
}
END_TEST

START_TEST(completing_without_an_unfinished_file_reports_not_right)
{
    struct xd_checked checked = {.is_right = true};

    describe("sha-256", NULL, true);
    ck_assert_int_eq(xd_check_complete(manifest, 0, path, NULL, &checked, &err),
                     0);
    ck_assert(!checked.is_right);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("check");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_right_file_is_right_by_its_pieces);
    tcase_add_test(tcase, a_check_that_is_canceled_fails);
    tcase_add_test(tcase, pieces_as_strong_as_the_whole_hash_spare_it);
    tcase_add_test(tcase, wrong_pieces_are_named_and_neighbours_are_one_run);
    tcase_add_test(tcase, by_the_whole_hash_alone_all_of_it_is_wrong);
    tcase_add_test(tcase, what_a_short_file_lacks_is_wrong);
    tcase_add_test(tcase, what_a_long_file_has_too_much_is_wrong);
    tcase_add_test(tcase, where_there_is_no_hash_the_size_decides);
    tcase_add_test(tcase,
                   where_there_is_neither_hash_nor_size_nothing_is_right);
    tcase_add_test(tcase, a_file_that_is_not_there_or_is_none_is_an_error);
    tcase_add_test(tcase, a_reopened_file_has_a_journal_of_its_right_bytes);
    tcase_add_loop_test(tcase, an_unfinished_file_is_in_the_way_and_stays, 0,
                        2);
    tcase_add_test(tcase,
                   a_file_that_another_download_writes_to_is_not_reopened);
    tcase_add_test(tcase, a_repair_begins_with_a_copy_of_the_right_bytes);
    tcase_add_test(tcase, a_repair_completes_what_an_earlier_one_has_left);
    tcase_add_loop_test(tcase, a_repair_leaves_what_is_in_its_way, 0, 2);
    tcase_add_test(tcase,
                   a_file_without_a_right_piece_is_repaired_by_force_only);
    tcase_add_test(tcase,
                   completing_without_an_unfinished_file_reports_not_right);
    return run_suite("check", tcase);
}
