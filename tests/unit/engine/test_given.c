/* SPDX-License-Identifier: MIT */
/*
 * What a reader is told when bytes that it has turn out to be wrong.
 */
#include "engine/trust/unverified.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "command/manifests.h"
#include "command/readers.h"
#include "engine/engine.h"
#include "engine/free_source.h"
#include "engine/trust/blame.h"
#include "io/hash.h"
#include "suite.h"

#define SIZE ((size_t)3 << 20)
#define HALF (SIZE / 2)

static char folder[SUITE_FOLDER];
static char path[64];
static unsigned char *bytes;
static struct xd_options *options;
static struct xd_source *source;
static struct xd_reader *reader;
static struct xd_error error;

static void write_file(const char *name, const void *data, size_t len)
{
    FILE *f = fopen(name, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, name, value, &error), 0);
}

static void setup(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/copy", folder);
    bytes = malloc(SIZE);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 1000);
    write_file(path, bytes, SIZE);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("allow-file", "yes");
    set("spool", folder);
}

static void teardown(void)
{
    char command[100];

    free_source_and_readers(source);
    xd_options_free(options);
    free(bytes);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void open_with(const char *pieces)
{
    struct xd_manifest *m;
    char text[1000], name[64];
    int len = snprintf(
        text, sizeof text,
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"f\">"
        "<size>%zu</size>%s<url>file://%s</url></file></metalink>",
        SIZE, pieces, path);

    snprintf(name, sizeof name, "%s/f.meta4", folder);
    write_file(name, text, (size_t)len);
    ck_assert_int_eq(xd_manifest_read(&m, name, &error), 0);
    ck_assert_int_eq(xd_source_new(&source, m, 0, options, &error), 0);
    xd_manifest_unref(m);
    ck_assert_int_eq(xd_reader_new(&reader, source, &error), 0);
}

/* Two halves, each with its hash. */
static void open_with_pieces(void)
{
    char text[300];
    int n = snprintf(text, sizeof text, "<pieces length=\"%zu\" type=\"md5\">",
                     HALF);

    for (size_t at = 0; at < SIZE; at += HALF) {
        struct xd_hasher *h;
        char hex[XD_HASH_HEX_MAX + 1];

        ck_assert_int_eq(xd_hasher_new(&h, "md5", &error), 0);
        xd_hasher_add(h, bytes + at, HALF);
        xd_hasher_end(h, hex);
        xd_hasher_free(h);
        n +=
            snprintf(text + n, sizeof text - (size_t)n, "<hash>%s</hash>", hex);
    }
    snprintf(text + n, sizeof text - (size_t)n, "</pieces>");
    open_with(text);
}

static void expect_read(struct xd_reader *r, size_t len)
{
    static unsigned char buffer[100000];

    while (len > 0) {
        size_t most = len < sizeof buffer ? len : sizeof buffer;
        uint64_t at = xd_reader_position(r);
        int64_t n = xd_reader_read(r, buffer, most, 20000);

        ck_assert_int_gt(n, 0);
        ck_assert_int_eq(memcmp(buffer, bytes + at, (size_t)n), 0);
        len -= (size_t)n;
    }
}

/* The next read of it says that what was read from `byte` on is wrong. */
static void expect_told(struct xd_reader *r, unsigned byte)
{
    unsigned char one;
    struct xd_error why;
    char text[40];

    snprintf(text, sizeof text, "read from byte %u on", byte);
    ck_assert_int_eq(xd_reader_read(r, &one, 1, 20000), XD_E_CORRUPT);
    xd_reader_error(r, &why);
    ck_assert_int_eq(why.code, XD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(why.msg, text));
    ck_assert_ptr_nonnull(strstr(why.msg, "it has lied"));
}

/* As if the only depot, or another, were found to have lied within `range`. */
static void disown(unsigned depot, struct xd_range range)
{
    struct xd_engine *e = (struct xd_engine *)source;
    struct xd_error why = {0};

    xd_fail(&why, XD_E_CORRUPT, "it has lied");
    xd_engine_lock(e);
    xd_unverified_revoke_locked(e, depot, range, &why);
    xd_engine_unlock(e);
}

START_TEST(who_was_given_wrong_bytes_is_told_until_it_seeks)
{
    open_with("");
    expect_read(reader, 200000);
    disown(0, (struct xd_range){100000, SIZE});
    expect_told(reader, 100000);
    expect_told(reader, 100000);
    ck_assert_uint_eq(xd_reader_position(reader), 200000);
    ck_assert_int_eq(xd_reader_seek(reader, 200000), 200000);
    expect_read(reader, 1000);
}
END_TEST

START_TEST(who_has_other_bytes_is_not_told)
{
    struct xd_reader *other;

    open_with("");
    ck_assert_int_eq(xd_reader_new(&other, source, &error), 0);
    expect_read(reader, 100000);
    ck_assert_int_eq(xd_reader_seek(other, 300000), 300000);
    expect_read(other, 100000);
    disown(0, (struct xd_range){0, 100000});
    expect_told(reader, 0);
    expect_read(other, 100000);
    disown(1, (struct xd_range){0, SIZE});
    expect_read(other, 100000);
}
END_TEST

START_TEST(what_has_left_the_memory_is_not_forgotten)
{
    set("spool", "none");
    set("lookahead", "256k");
    open_with("");
    expect_read(reader, SIZE - 1000);
    disown(0, (struct xd_range){500000, 500001});
    expect_told(reader, 500000);
}
END_TEST

START_TEST(a_reader_at_the_end_is_told_too)
{
    unsigned char byte;

    open_with("");
    expect_read(reader, SIZE);
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 20000), 0);
    disown(0, (struct xd_range){0, SIZE});
    expect_told(reader, 0);
}
END_TEST

START_TEST(what_a_piece_proves_is_right_whoever_brought_it)
{
    open_with_pieces();
    expect_read(reader, HALF + 1000);
    disown(0, (struct xd_range){0, SIZE});
    expect_read(reader, HALF - 1000);
}
END_TEST

START_TEST(what_a_depot_brought_that_is_only_left_is_not_disowned)
{
    struct xd_engine *e;
    struct xd_error why = {0};
    unsigned char byte;

    open_with("");
    expect_read(reader, SIZE);
    e = (struct xd_engine *)source;
    xd_fail(&why, XD_E_CORRUPT, "it has lied");
    xd_engine_lock(e);
    xd_blame_ban_locked(e, 0, &why);
    xd_engine_unlock(e);
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 20000), 0);
    xd_engine_lock(e);
    xd_blame_confirm_bad_locked(e, 0, &why);
    xd_engine_unlock(e);
    expect_told(reader, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("given");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, who_was_given_wrong_bytes_is_told_until_it_seeks);
    tcase_add_test(t, who_has_other_bytes_is_not_told);
    tcase_add_test(t, what_has_left_the_memory_is_not_forgotten);
    tcase_add_test(t, a_reader_at_the_end_is_told_too);
    tcase_add_test(t, what_a_piece_proves_is_right_whoever_brought_it);
    tcase_add_test(t, what_a_depot_brought_that_is_only_left_is_not_disowned);
    return run_suite("given", t);
}
