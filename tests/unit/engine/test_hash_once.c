/* SPDX-License-Identifier: MIT */
/*
 * How many bytes a download hashes: each one once.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <xdownload/download.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/manifests.h"
#include "io/hash.h"
#include "os/file_watch.h"
#include "suite.h"

#define SIZE ((size_t)3 << 20)
#define PIECE ((size_t)256 << 10)

static char folder[SUITE_FOLDER], path[64], to[64], name[64];
static unsigned char *bytes;
static struct xd_options *options;
static struct xd_error error;
static atomic_size_t hashed;

typedef int update_fn(EVP_MD_CTX *, const void *, size_t);

/* In place of libcrypto's. */
int EVP_DigestUpdate(EVP_MD_CTX *context, const void *data, size_t len)
{
    void *real = dlsym(RTLD_NEXT, "EVP_DigestUpdate");
    update_fn *update;

    memcpy(&update, &real, sizeof update);
    atomic_fetch_add(&hashed, len);
    return update(context, data, len);
}

static void write_file(const char *file, const void *data, size_t len)
{
    FILE *f = fopen(file, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

static void set(const char *option, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, option, value, &error), 0);
}

static void setup(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/copy", folder);
    snprintf(to, sizeof to, "%s/f", folder);
    snprintf(name, sizeof name, "%s/f.meta4", folder);
    bytes = malloc(SIZE);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 1000);
    write_file(path, bytes, SIZE);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("allow-file", "yes");
    set("threads-per-depot", "1"); /* a piece of two lanes is hashed anew */
}

static void teardown(void)
{
    char command[100];

    xd_options_free(options);
    free(bytes);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void add_hash(FILE *f, const char *algorithm, size_t begin, size_t len)
{
    struct xd_hasher *h;
    char hex[XD_HASH_HEX_MAX + 1];

    ck_assert_int_eq(xd_hasher_new(&h, algorithm, &error), 0);
    xd_hasher_add(h, bytes + begin, len);
    xd_hasher_end(h, hex);
    xd_hasher_free(h);
    fprintf(f, "<hash type=\"%s\">%s</hash>", algorithm, hex);
}

/* `whole` is the algorithm of the hash of the whole file, or NULL. */
static void write_manifest(const char *whole, bool has_pieces)
{
    FILE *f = fopen(name, "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
            "<file name=\"f\"><size>%zu</size>",
            SIZE);
    if (whole)
        add_hash(f, whole, 0, SIZE);
    if (has_pieces) {
        fprintf(f, "<pieces length=\"%zu\" type=\"sha-256\">", PIECE);
        for (size_t at = 0; at < SIZE; at += PIECE)
            add_hash(f, "sha-256", at, PIECE);
        fprintf(f, "</pieces>");
    }
    fprintf(f, "<url>file://%s</url></file></metalink>", path);
    ck_assert_int_eq(fclose(f), 0);
}

/* Whether this disk says who opens its files. */
static bool can_watch(void)
{
    const int fd = open(path, O_RDWR);
    const int watch = xd_file_watch(fd, false);

    close(fd);
    if (watch >= 0)
        close(watch);
    return watch >= 0;
}

static void expect_hashed(size_t n)
{
    int rc;

    atomic_store(&hashed, 0);
    rc = xd_fetch(name, to, options, &error);
    ck_assert_msg(rc == 0, "%s", error.msg);
    ck_assert_uint_eq(atomic_load(&hashed), n);
}

START_TEST(pieces_are_hashed_once)
{
    if (!can_watch())
        return;
    write_manifest(NULL, true);
    expect_hashed(SIZE);
}
END_TEST

START_TEST(pieces_prove_the_whole_of_the_same_manifest)
{
    if (!can_watch())
        return;
    write_manifest("sha-256", true);
    expect_hashed(SIZE);
}
END_TEST

START_TEST(pieces_prove_a_stronger_whole_of_the_same_manifest)
{
    if (!can_watch())
        return;
    write_manifest("sha-512", true);
    expect_hashed(SIZE);
}
END_TEST

/* Leaves a part of the file, as a run that is interrupted does. */
static void interrupt_fetch(void)
{
    struct xd_manifest *manifest;
    struct xd_download *download;
    struct xd_progress progress = {.struct_size = sizeof progress};

    ck_assert_int_eq(xd_manifest_read(&manifest, name, &error), 0);
    set("limit-rate", "4m");
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, to, options, &error), 0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    while (progress.bytes_done < SIZE / 3) {
        ck_assert_int_eq(xd_download_wait(download, 1, &error), XD_E_AGAIN);
        xd_download_progress(download, &progress);
    }
    xd_download_cancel(download);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_CANCELED);
    xd_download_unref(download);
    xd_manifest_unref(manifest);
    set("limit-rate", "10g");
}

/* A piece of which a part is there is hashed when it is complete, and no other piece
 * twice. */
START_TEST(pieces_of_a_resumed_file_are_hashed_once)
{
    if (!can_watch())
        return;
    write_manifest("sha-256", true);
    interrupt_fetch();
    expect_hashed(SIZE);
}
END_TEST

START_TEST(resumed_file_that_another_program_may_write_to_is_read_back)
{
    char part[80];
    int writer;

    write_manifest("sha-256", true);
    interrupt_fetch();
    snprintf(part, sizeof part, "%s.part", to);
    writer = open(part, O_WRONLY);
    ck_assert_int_ge(writer, 0);
    expect_hashed(2 * SIZE);
    close(writer);
}
END_TEST

START_TEST(the_whole_is_hashed_once)
{
    write_manifest("sha-256", false);
    expect_hashed(SIZE);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("hash_once");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, pieces_are_hashed_once);
    tcase_add_test(tcase, pieces_prove_the_whole_of_the_same_manifest);
    tcase_add_test(tcase, pieces_prove_a_stronger_whole_of_the_same_manifest);
    tcase_add_test(tcase, pieces_of_a_resumed_file_are_hashed_once);
    tcase_add_test(tcase,
                   resumed_file_that_another_program_may_write_to_is_read_back);
    tcase_add_test(tcase, the_whole_is_hashed_once);
    return run_suite("hash_once", tcase);
}
