/* SPDX-License-Identifier: MIT */
/*
 * A disk that says no: the download ends with a sentence that names the file
 * and the reason, what was good stays, and the next run goes on.
 *
 * The system's calls that change files are defined here, in front of the real
 * ones, and one of them fails.
 */
#define _DEFAULT_SOURCE /* syscall() */

#include <xdownload/download.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/file.h"
#include "suite.h"

#define SIZE ((size_t)8 << 20)
#define MOST_WAITS 10000 /* milliseconds, for a sync that has to come */

enum call { NO_CALL, MAKE, WRITE, SYNC, RENAME };

/* Which call fails, of the file whose name ends so, and how often it may
 * succeed before. */
struct fault {
    const char *ending;
    enum call call;
    int os_errno;
    unsigned after;
};

static char folder[SUITE_FOLDER], path[80], part[90], journal[100], source[80];
static int here; /* the folder, open */
static unsigned char right[SIZE];
static struct fault fault;
static atomic_uint calls;
static atomic_uint syncs;       /* of the file */
static atomic_size_t n_written; /* bytes of the file */
static bool waits_for_sync;     /* the write that completes the file does */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the offset */

static bool ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), end = strlen(ending);

    return len >= end && strcmp(text + len - end, ending) == 0;
}

/* The system tells of a failed sync once. */
static bool fails(enum call call, const char *name)
{
    unsigned before;

    if (fault.call != call || !ends_with(name, fault.ending))
        return false;
    before = atomic_fetch_add(&calls, 1);
    if (before < fault.after || (call == SYNC && before > fault.after))
        return false;
    errno = fault.os_errno;
    return true;
}

/* The name of an open file of ours. */
static const char *name_of(int fd)
{
    if (xd_file_has_name(fd, here, part))
        return part;
    return xd_file_has_name(fd, here, journal) ? journal : "";
}

int openat(int at, const char *name, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    if (flags & O_CREAT && fails(MAKE, name))
        return -1;
    return (int)syscall(SYS_openat, at, name, flags, mode);
}

static void wait_for_sync(void)
{
    for (int i = 0; i < MOST_WAITS && atomic_load(&syncs) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
    ssize_t n = -1;

    if (fails(WRITE, name_of(fd)))
        return -1;
    if (name_of(fd) == part &&
        atomic_fetch_add(&n_written, len) + len == SIZE && waits_for_sync)
        wait_for_sync();
    pthread_mutex_lock(&lock);
    if (lseek(fd, offset, SEEK_SET) >= 0)
        n = write(fd, data, len);
    pthread_mutex_unlock(&lock);
    return n;
}

int fdatasync(int fd)
{
    if (name_of(fd) == part)
        atomic_fetch_add(&syncs, 1);
    return fails(SYNC, name_of(fd)) ? -1 : 0;
}

/* So that names are given in two steps. */
int renameat2(int from_at, const char *from, int at, const char *to,
              unsigned flags);
int renameat2(int from_at, const char *from, int at, const char *to,
              unsigned flags)
{
    (void)from_at, (void)from, (void)at, (void)to, (void)flags;
    errno = ENOSYS;
    return -1;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to,
           int flags)
{
    if (fails(RENAME, from))
        return -1;
    return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

static void put(const char *name, const void *data, size_t len)
{
    FILE *f = fopen(name, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

static void set_up(void)
{
    for (size_t i = 0; i < SIZE; i++)
        right[i] = (unsigned char)(i * 7 + i / 251);
    fault = (struct fault){.call = NO_CALL};
    waits_for_sync = false;
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_int_eq(xd_folder_open(&here, path, NULL), 0);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(journal, sizeof journal, "%s.journal", part);
    snprintf(source, sizeof source, "%s/source", folder);
    put(source, right, SIZE);
}

static void tear_down(void)
{
    unlink(path);
    unlink(part);
    unlink(journal);
    unlink(source);
    xd_file_close(here);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* How a run ends, and how much of the file was there before it. */
static int run(uint64_t *out_resumed, struct xd_error *err)
{
    struct xd_progress progress = {.struct_size = sizeof progress};
    struct xd_manifest *manifest;
    struct xd_download *download;
    struct xd_options *options;
    char text[400];
    int n = snprintf(text, sizeof text,
                     "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                     "<file name=\"out\"><size>%zu</size>"
                     "<url>file://%s</url></file></metalink>",
                     SIZE, source);
    int rc;

    atomic_store(&calls, 0);
    atomic_store(&syncs, 0);
    atomic_store(&n_written, 0);
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, "a.meta4", err), 0);
    ck_assert_int_eq(xd_options_new(&options, err), 0);
    ck_assert_int_eq(xd_options_set(options, "allow-file", "yes", err), 0);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, err), 0);
    xd_options_free(options);
    rc = xd_download_start(download, err);
    if (rc == 0)
        rc = xd_download_wait(download, -1, err);
    xd_download_progress(download, &progress);
    *out_resumed = progress.bytes_resumed;
    xd_download_unref(download);
    xd_manifest_unref(manifest);
    return rc;
}

static void assert_file_is_right(void)
{
    static unsigned char data[SIZE + 1];
    FILE *f = fopen(path, "r");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(data, 1, sizeof data, f), SIZE);
    fclose(f);
    ck_assert_int_eq(memcmp(data, right, SIZE), 0);
}

/* A run with the fault fails and says why; one without it goes on where that
 * ended, which is returned. */
static uint64_t fail_and_go_on(struct fault f)
{
    struct xd_error err;
    uint64_t resumed;

    fault = f;
    ck_assert_int_eq(run(&resumed, &err), XD_E_IO);
    ck_assert_uint_eq(resumed, 0);
    ck_assert_msg(strstr(err.msg, f.ending) != NULL, "%s", err.msg);
    ck_assert_msg(strstr(err.msg, strerror(f.os_errno)) != NULL, "%s", err.msg);
    ck_assert_int_eq(access(path, F_OK), -1);
    fault.call = NO_CALL;
    ck_assert_msg(run(&resumed, &err) == 0, "%s", err.msg);
    assert_file_is_right();
    ck_assert_int_eq(access(part, F_OK), -1);
    ck_assert_int_eq(access(journal, F_OK), -1);
    return resumed;
}

/* A full disk, a quota, a broken one. */
static const int reasons[] = {ENOSPC, EDQUOT, EIO};
#define N_REASONS (int)(sizeof reasons / sizeof *reasons)

START_TEST(what_was_written_before_the_disk_was_full_is_kept)
{
    struct fault f = {"out.part", WRITE, reasons[_i], 3};

    ck_assert_uint_eq(fail_and_go_on(f), 3 * 256 * 1024);
}
END_TEST

START_TEST(a_full_disk_at_the_first_byte_is_no_more_than_that)
{
    struct fault f = {"out.part", WRITE, reasons[_i], 0};

    ck_assert_uint_eq(fail_and_go_on(f), 0);
}
END_TEST

/* Header, session and the depot's validator are there. */
START_TEST(what_was_noted_before_the_journal_was_full_is_kept)
{
    struct fault f = {"out.part.journal", WRITE, reasons[_i], 5};

    ck_assert_uint_eq(fail_and_go_on(f), 2 * 256 * 1024);
}
END_TEST

START_TEST(a_journal_that_cannot_be_begun_is_said)
{
    struct fault f = {"out.part.journal", WRITE, reasons[_i], 0};

    ck_assert_uint_eq(fail_and_go_on(f), 0);
}
END_TEST

/* Nobody knows what is on the disk then, and the next sync would succeed. */
START_TEST(what_could_not_be_synced_is_not_believed)
{
    struct fault f = {"out.part", SYNC, reasons[_i], 0};

    ck_assert_uint_eq(fail_and_go_on(f), 0);
}
END_TEST

/* So that the end has to wait for few bytes. */
START_TEST(most_bytes_are_synced_before_the_last_one_comes)
{
    struct xd_error err;
    uint64_t resumed;

    waits_for_sync = true;
    ck_assert_msg(run(&resumed, &err) == 0, "%s", err.msg);
    ck_assert_uint_ge(atomic_load(&syncs), 2);
    assert_file_is_right();
}
END_TEST

START_TEST(a_complete_file_that_cannot_have_its_name_is_not_fetched_again)
{
    struct fault f = {"out.part", RENAME, reasons[_i], 0};

    ck_assert_uint_eq(fail_and_go_on(f), SIZE);
}
END_TEST

static const struct fault refusals[] = {
    {"out.part", MAKE, EROFS, 0},         {"out.part", MAKE, EDQUOT, 0},
    {"out.part", MAKE, ENOENT, 0},        {"out.part", MAKE, EISDIR, 0},
    {"out.part", MAKE, EACCES, 0},        {"out.part.journal", MAKE, EROFS, 0},
    {"out.part.journal", MAKE, ENOSPC, 0}};
#define N_REFUSALS (int)(sizeof refusals / sizeof *refusals)

START_TEST(a_folder_in_which_nothing_can_be_made_is_said)
{
    ck_assert_uint_eq(fail_and_go_on(refusals[_i]), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("disk");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(
        tcase, what_was_written_before_the_disk_was_full_is_kept, 0, N_REASONS);
    tcase_add_loop_test(tcase,
                        a_full_disk_at_the_first_byte_is_no_more_than_that, 0,
                        N_REASONS);
    tcase_add_loop_test(tcase,
                        what_was_noted_before_the_journal_was_full_is_kept, 0,
                        N_REASONS);
    tcase_add_loop_test(tcase, a_journal_that_cannot_be_begun_is_said, 0,
                        N_REASONS);
    tcase_add_loop_test(tcase, what_could_not_be_synced_is_not_believed, 0,
                        N_REASONS);
    tcase_add_test(tcase, most_bytes_are_synced_before_the_last_one_comes);
    tcase_add_loop_test(
        tcase, a_complete_file_that_cannot_have_its_name_is_not_fetched_again,
        0, N_REASONS);
    tcase_add_loop_test(tcase, a_folder_in_which_nothing_can_be_made_is_said, 0,
                        N_REFUSALS);
    return run_suite("disk", tcase);
}
