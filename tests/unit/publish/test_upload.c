/* SPDX-License-Identifier: MIT */
/* The life of an upload, as a program that calls the library sees it. */
#include <xdpublish/upload.h>

#include <stdio.h>
#include <unistd.h>
#include <xdownload/options.h>

#include "suite.h"

static char folder[SUITE_FOLDER], path[SUITE_FOLDER + 8],
    manifest[SUITE_FOLDER + 8];
static const char *stores[] = {"http://127.0.0.1:1/"}; /* nobody answers */
static struct xd_options *options;
static struct xd_upload *upload;
static struct xd_error err;

static void setup(void)
{
    const struct xd_upload_wish wish = {.struct_size = sizeof wish,
                                        .stores = stores,
                                        .n_stores = 1,
                                        .manifest = manifest};
    FILE *f;

    suite_folder(folder);
    snprintf(path, sizeof path, "%s/f", folder);
    snprintf(manifest, sizeof manifest, "%s/f.xnd", folder);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("a few bytes", f);
    fclose(f);
    ck_assert_int_eq(xd_options_new(&options, &err), 0);
    ck_assert_int_eq(xd_options_set(options, "retry", "1", &err), 0);
    ck_assert_msg(xd_upload_new(&upload, path, &wish, options, &err) == 0, "%s",
                  err.msg);
}

static void teardown(void)
{
    char left[SUITE_FOLDER + 16]; /* it names what an upload has begun */

    snprintf(left, sizeof left, "%s/f.private.xnd", folder);
    xd_upload_free(upload);
    xd_options_free(options);
    (void)unlink(left);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(a_second_start_fails_and_changes_nothing)
{
    int rc;

    ck_assert_int_eq(xd_upload_wait(upload, 0, &err), XD_E_STATE);
    ck_assert_msg(xd_upload_start(upload, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_upload_start(upload, &err), XD_E_STATE);
    rc = xd_upload_wait(upload, -1, &err);
    ck_assert_msg(rc == XD_E_NET, "%d %s", rc, err.msg); /* not CANCELED */
    ck_assert_int_eq(xd_upload_start(upload, &err), XD_E_STATE);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("upload");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_second_start_fails_and_changes_nothing);
    return run_suite("upload", tcase);
}
