/* SPDX-License-Identifier: MIT */
#include "engine/trust/sample_check.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/depots.h"
#include "engine/options.h"
#include "os/file.h"
#include "suite.h"
#include "transfer/batch.h"

/* Depots are files of this machine; what is there is in memory. */
#define MIB ((uint64_t)1 << 20)
#define SIZE (3 * MIB)
#define SAMPLE (64 * 1024)

static char folder[SUITE_FOLDER];
static unsigned char *file; /* that was meant */
static unsigned char *here; /* that is there */
static struct xd_rangeset held;
static struct xd_manifest *manifest;
static struct xd_depots depots;
static struct xd_batch *batch;
static struct xd_options options;
static uint64_t read_first, read_end; /* of what was read */
static size_t shortest;               /* of the reads */
static struct xd_error error;

static void setup(void)
{
    suite_folder(folder);
    xd_options_init(&options);
    options.allow_file = 1;
    options.retry = 1;
    file = xd_alloc(SIZE, 1);
    here = xd_alloc(SIZE, 1);
    for (size_t i = 0; i < SIZE; i++)
        file[i] = (unsigned char)(i * 2654435761u >> 13 | 1);
    memcpy(here, file, SIZE);
    xd_rangeset_init(&held);
    manifest = NULL;
    depots = (struct xd_depots){0};
    batch = NULL;
}

static void teardown(void)
{
    char path[SUITE_FOLDER + 10];

    xd_batch_free(batch);
    xd_depots_fini(&depots);
    xd_manifest_unref(manifest);
    xd_rangeset_fini(&held);
    xd_free(file);
    xd_free(here);
    snprintf(path, sizeof path, "%s/f", folder);
    remove(path);
    remove(folder);
}

static int read_here(void *user, uint64_t offset, void *data, size_t len,
                     struct xd_error *err)
{
    (void)user, (void)err;
    ck_assert(
        xd_rangeset_contains(&held, (struct xd_range){offset, offset + len}));
    if (offset < read_first)
        read_first = offset;
    if (offset + len > read_end)
        read_end = offset + len;
    if (len < shortest && offset > 200)
        shortest = len;
    memcpy(data, here + offset, len);
    return 0;
}

/* One depot has what `bytes` says. */
static void open_depot(const unsigned char *bytes)
{
    struct xd_batch_config config = xd_options_batch(&options);
    char path[SUITE_FOLDER + 10], url[SUITE_FOLDER + 20];
    FILE *f;

    snprintf(path, sizeof path, "%s/f", folder);
    snprintf(url, sizeof url, "file://%s", path);
    if (bytes) {
        f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(bytes, 1, SIZE, f), SIZE);
        fclose(f);
    }
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, url, strlen(url), folder, NULL), 0);
    ck_assert_int_eq(xd_depots_init(&depots, manifest, 0,
                                    &(struct xd_choice){.allow_file = true},
                                    NULL),
                     0);
    xd_depots_set_size(&depots, SIZE);
    ck_assert_int_eq(
        xd_batch_new(&batch, &config, xd_sample_check_slots(&depots), &error),
        0);
}

static void hold(uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(xd_rangeset_add(&held, (struct xd_range){begin, end}), 0);
}

static struct xd_sample_check check(const char *known,
                                    const struct xd_rangeset *holes)
{
    struct xd_sample_check c = {.batch = batch,
                                .depots = &depots,
                                .held = &held,
                                .read = read_here,
                                .holes = holes,
                                .known = known,
                                .until = XD_NEVER};

    read_first = UINT64_MAX;
    read_end = 0;
    shortest = SAMPLE;
    ck_assert_int_eq(xd_sample_check_run(&c, &error), 0);
    return c;
}

START_TEST(what_is_right_agrees)
{
    struct xd_sample_check c;

    open_depot(file);
    hold(0, SIZE);
    c = check(NULL, NULL);
    ck_assert_int_eq(c.verdict, XD_SAMPLES_AGREE);
    ck_assert_uint_eq(c.n_compared, 8);
    ck_assert_uint_eq(read_first, 0);
    ck_assert_uint_eq(read_end, SIZE);
}
END_TEST

START_TEST(only_what_is_held_is_compared)
{
    struct xd_sample_check c;

    open_depot(file);
    hold(100, 200);
    hold(MIB, 2 * MIB);
    memset(here + 2 * MIB, 7, MIB);
    c = check(NULL, NULL);
    ck_assert_int_eq(c.verdict, XD_SAMPLES_AGREE);
    ck_assert_uint_eq(read_first, 100);
    ck_assert_uint_eq(read_end, 2 * MIB);
    ck_assert_uint_eq(shortest, SAMPLE); /* but for the first run's 100 */
}
END_TEST

static const uint64_t flips[] = {0, SIZE - 1};

START_TEST(both_ends_are_looked_at)
{
    struct xd_sample_check c;

    open_depot(file);
    hold(0, SIZE);
    here[flips[_i]] ^= 1;
    c = check(NULL, NULL);
    ck_assert_int_eq(c.verdict, XD_SAMPLES_DIFFER);
    ck_assert_int_eq(c.error.code, XD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(c.error.msg, "differ from those of file://"));
}
END_TEST

START_TEST(a_short_run_is_compared_as_a_whole)
{
    open_depot(file);
    hold(5, MIB);
    for (uint64_t at = 5; at < MIB; at += 100003) {
        here[at] ^= 1;
        ck_assert_int_eq(check(NULL, NULL).verdict, XD_SAMPLES_DIFFER);
        here[at] ^= 1;
    }
    ck_assert_uint_eq(check(NULL, NULL).n_compared, 16);
}
END_TEST

/* What was preallocated and never written: a twentieth of the file. */
START_TEST(of_many_places_a_blank_one_is_preferred)
{
    open_depot(file);
    hold(0, SIZE);
    memset(here + 2 * MIB, 0, 3 * SAMPLE);
    ck_assert_int_eq(check(NULL, NULL).verdict, XD_SAMPLES_DIFFER);
}
END_TEST

START_TEST(holes_are_looked_at)
{
    struct xd_rangeset holes;
    struct xd_sample_check c;

    open_depot(file);
    hold(0, SIZE);
    xd_rangeset_init(&holes);
    here[MIB + 4321] ^= 1;
    ck_assert_int_eq(check(NULL, NULL).verdict, XD_SAMPLES_AGREE);
    ck_assert_int_eq(
        xd_rangeset_add(&holes, (struct xd_range){MIB + 4000, MIB + 5000}), 0);
    c = check(NULL, &holes);
    ck_assert_int_eq(c.verdict, XD_SAMPLES_DIFFER);
    ck_assert_ptr_nonnull(strstr(c.error.msg, "1052576-1053575"));
    xd_rangeset_fini(&holes);
}
END_TEST

START_TEST(a_depot_that_is_gone_cannot_show_anything)
{
    struct xd_sample_check c;

    open_depot(NULL);
    hold(0, SIZE);
    c = check(NULL, NULL);
    ck_assert_int_eq(c.verdict, XD_SAMPLES_IMPOSSIBLE);
    ck_assert_int_lt(c.error.code, 0);
    ck_assert_ptr_nonnull(strstr(c.error.msg, folder));
}
END_TEST

START_TEST(a_canceled_batch_ends_the_check)
{
    open_depot(file);
    hold(0, SIZE);
    xd_batch_cancel(batch);
    ck_assert_int_eq(check(NULL, NULL).verdict, XD_SAMPLES_CANCELED);
}
END_TEST

START_TEST(a_validator_that_a_url_had_before_and_has_not_now_is_a_new_version)
{
    char known[SUITE_FOLDER + 60];
    struct xd_sample_check c;

    open_depot(file);
    hold(0, SIZE);
    snprintf(known, sizeof known, "file://%s/f another-stamp\n", folder);
    c = check(known, NULL);
    ck_assert_int_eq(c.verdict, XD_SAMPLES_OUTDATED);
    ck_assert_ptr_nonnull(strstr(c.error.msg, "new version"));
    /* Nothing is known of this URL. */
    ck_assert_int_eq(check("http://d.example/f another-stamp\n", NULL).verdict,
                     XD_SAMPLES_AGREE);
}
END_TEST

START_TEST(a_validator_that_a_url_had_before_spares_the_comparison)
{
    char known[SUITE_FOLDER + 60 + XD_FILE_STAMP_SIZE],
        stamp[XD_FILE_STAMP_SIZE];
    char path[SUITE_FOLDER + 10];
    struct xd_sample_check c;
    uint64_t size;
    int fd;

    open_depot(file);
    hold(0, SIZE);
    snprintf(path, sizeof path, "%s/f", folder);
    ck_assert_int_eq(xd_file_open(&fd, &size, path, NULL), 0);
    xd_file_stamp(fd, stamp);
    xd_file_close(fd);
    snprintf(known, sizeof known, "file://%s %s\n", path, stamp);
    c = check(known, NULL);
    ck_assert_int_eq(c.verdict, XD_SAMPLES_SPARED);
    ck_assert_uint_le(c.n_compared, 1);
    /* But one sample is compared, and bytes say more. */
    here[0] ^= 1;
    ck_assert_int_eq(check(known, NULL).verdict, XD_SAMPLES_DIFFER);
}
END_TEST

START_TEST(nothing_that_is_there_agrees_with_anything)
{
    open_depot(NULL);
    ck_assert_int_eq(check(NULL, NULL).verdict, XD_SAMPLES_AGREE);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("sample_check");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, what_is_right_agrees);
    tcase_add_test(tests, only_what_is_held_is_compared);
    tcase_add_loop_test(tests, both_ends_are_looked_at, 0, 2);
    tcase_add_test(tests, a_short_run_is_compared_as_a_whole);
    tcase_add_test(tests, of_many_places_a_blank_one_is_preferred);
    tcase_add_test(tests, holes_are_looked_at);
    tcase_add_test(tests, a_depot_that_is_gone_cannot_show_anything);
    tcase_add_test(tests, a_canceled_batch_ends_the_check);
    tcase_add_test(
        tests,
        a_validator_that_a_url_had_before_and_has_not_now_is_a_new_version);
    tcase_add_test(tests,
                   a_validator_that_a_url_had_before_spares_the_comparison);
    tcase_add_test(tests, nothing_that_is_there_agrees_with_anything);
    return run_suite("sample_check", tests);
}
