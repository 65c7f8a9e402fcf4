/* SPDX-License-Identifier: MIT */
/* Many files behind one sink: which bytes each has, when it has its name, and
 * how many are open. */
#include "io/sinks/set_sink.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/thread.h"
#include "suite.h"

#define N_FILES 20
#define LENGTH 10 /* of each file */
#define ALL ((size_t)(N_FILES * LENGTH))
#define PATH_SIZE (SUITE_FOLDER + 40)

static char folder[SUITE_FOLDER];
static char paths[N_FILES][PATH_SIZE], parts[N_FILES][PATH_SIZE];
static struct xd_set_place places[N_FILES];
static const char *directory;
static struct xd_sink *sink;
static struct xd_set_sink *set;
static struct xd_error error;

static void name_file(size_t i, const char *name)
{
    snprintf(paths[i], PATH_SIZE, "%s/%s", folder, name);
    snprintf(parts[i], PATH_SIZE, "%s/%s.part", folder, name);
}

/* In the folder. */
static const char *name_of(size_t i)
{
    return paths[i] + strlen(folder) + 1;
}

static void setup(void)
{
    suite_folder(folder);
    for (size_t i = 0; i < N_FILES; i++) {
        char name[20];

        snprintf(name, sizeof name, "f%zu", i);
        name_file(i, name);
        places[i] = (struct xd_set_place){
            .range = {i * LENGTH, (i + 1) * LENGTH}, .path = name_of(i)};
    }
    directory = folder;
}

static void close_set(void)
{
    xd_sink_free(sink);
    sink = NULL;
}

/* Folders of files are removed by the test that has them. */
static void teardown(void)
{
    close_set();
    for (size_t i = 0; i < N_FILES; i++) {
        unlink(paths[i]);
        unlink(parts[i]);
    }
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was made in it */
}

static void open_set(size_t n, size_t most_open, bool replace)
{
    const struct xd_set_sink_options o = {
        .directory = directory, .replaces = replace, .most_open = most_open};

    ck_assert_int_eq(xd_set_sink_new(&sink, &set, places, n, &o, &error), 0);
}

/* Not the same in any two files. */
static unsigned char byte_at(uint64_t offset)
{
    return (unsigned char)('!' + offset % 89);
}

static int write_bytes(uint64_t offset, size_t len, struct xd_error *err)
{
    unsigned char data[ALL];

    for (size_t i = 0; i < len; i++)
        data[i] = byte_at(offset + i);
    return xd_sink_write(sink, offset, data, len, err);
}

static void put(uint64_t offset, size_t len)
{
    ck_assert_msg(write_bytes(offset, len, &error) == 0, "%s", error.msg);
}

static void put_file(size_t i)
{
    put(i * LENGTH, LENGTH);
}

struct ending {
    size_t file;
    unsigned n; /* how often it was said */
    int rc;
};

static void on_ended(void *user, const size_t *files, size_t n,
                     const struct xd_error *why)
{
    struct ending *e = user;

    e->n += (unsigned)n;
    e->file = files[0];
    e->rc = why ? why->code : 0;
    if (why)
        error = *why;
}

static int try_to_finish(size_t i)
{
    struct ending e = {0};

    xd_set_sink_finish_files(set, &i, 1, on_ended, &e);
    ck_assert_uint_eq(e.n, 1);
    ck_assert_uint_eq(e.file, i);
    return e.rc;
}

static void finish(size_t i)
{
    ck_assert_msg(try_to_finish(i) == 0, "%s", error.msg);
}

static void expect(uint64_t offset, size_t len)
{
    unsigned char got[ALL];

    ck_assert_int_eq(xd_sink_read(sink, offset, got, len, &error), 0);
    for (size_t i = 0; i < len; i++)
        ck_assert_uint_eq(got[i], byte_at(offset + i));
}

/* What is in a file, which is shorter than 100 bytes. */
static size_t read_whole(const char *path, char got[100])
{
    FILE *f = fopen(path, "rb");
    size_t len;

    ck_assert_msg(f != NULL, "%s is not there", path);
    len = fread(got, 1, 100, f);
    fclose(f);
    return len;
}

static void expect_text(const char *path, const char *text)
{
    char got[100];

    ck_assert_uint_eq(read_whole(path, got), strlen(text));
    ck_assert_mem_eq(got, text, strlen(text));
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void expect_finished(size_t file)
{
    char got[100];

    ck_assert_uint_eq(read_whole(paths[file], got), LENGTH);
    for (size_t i = 0; i < LENGTH; i++)
        ck_assert_uint_eq((unsigned char)got[i], byte_at(file * LENGTH + i));
    ck_assert(!is_there(parts[file]));
}

static void expect_nothing_of(size_t file)
{
    ck_assert(!is_there(paths[file]));
    ck_assert(!is_there(parts[file]));
}

static void expect_failed(int rc, const char *name, const char *words)
{
    ck_assert_int_eq(rc, XD_E_IO);
    ck_assert_int_eq(error.code, XD_E_IO);
    ck_assert_msg(strstr(error.msg, name) && strstr(error.msg, words),
                  "\"%s\" lacks \"%s\" or \"%s\"", error.msg, name, words);
}

static void make_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    ck_assert_int_eq(chmod(path, 0600), 0);
}

/* How many descriptors are of something of this set, with that in its path; 0
 * where the system does not say. */
static size_t count_open_with(const char *part)
{
    DIR *fds = opendir("/proc/self/fd");
    struct dirent *entry;
    size_t n = 0;

    while (fds && (entry = readdir(fds))) {
        char target[4 * PATH_SIZE];
        ssize_t len =
            readlinkat(dirfd(fds), entry->d_name, target, sizeof target - 1);

        target[len < 0 ? 0 : len] = '\0';
        n += strstr(target, folder) != NULL && strstr(target, part) != NULL;
    }
    if (fds)
        closedir(fds);
    return n;
}

static size_t count_open(void)
{
    return count_open_with(".part");
}

/* So that the tests below are not green because nothing is counted. */
START_TEST(open_files_are_counted_where_the_system_tells)
{
    if (!is_there("/proc/self/fd"))
        return;
    open_set(3, 3, false);
    ck_assert_uint_eq(count_open(), 0);
    put(0, 2 * LENGTH);
    ck_assert_uint_eq(count_open(), 2);
}
END_TEST

START_TEST(files_of_one_folder_have_one_descriptor_for_it)
{
    char p[PATH_SIZE];

    if (!is_there("/proc/self/fd"))
        return;
    snprintf(p, sizeof p, "%s/p", folder);
    name_file(3, "p/f");
    open_set(4, 4, false);
    put(0, 3 * LENGTH);
    ck_assert_uint_eq(count_open_with("") - count_open(), 1);
    put_file(3);
    ck_assert_uint_eq(count_open_with("") - count_open(), 2);
    for (size_t i = 0; i < 4; i++)
        finish(i);
    ck_assert_uint_eq(count_open_with(""), 0);
    close_set();
    ck_assert_int_eq(unlink(paths[3]), 0);
    ck_assert_int_eq(rmdir(p), 0);
}
END_TEST

/* Files that come next lie in what has its name by then, also while others are
 * open in the old one. */
START_TEST(a_folder_that_was_moved_is_left)
{
    static const char *const names[] = {"p/a", "p/b", "p/c"};
    char p[PATH_SIZE], aside[PATH_SIZE], part[PATH_SIZE + 10];

    snprintf(p, sizeof p, "%s/p", folder);
    snprintf(aside, sizeof aside, "%s/aside", folder);
    for (size_t i = 0; i < 3; i++)
        name_file(i, names[i]);
    open_set(3, 3, false);
    put(0, 2 * LENGTH);
    ck_assert_int_eq(rename(p, aside), 0);
    ck_assert_int_eq(mkdir(p, 0700), 0);
    expect_failed(try_to_finish(0), paths[0], "moved or replaced");
    put_file(2);
    finish(2);
    expect_finished(2);
    expect_failed(try_to_finish(1), paths[1], "moved or replaced");
    close_set();
    for (size_t i = 0; i < 2; i++) {
        snprintf(part, sizeof part, "%s%s.part", aside, names[i] + 1);
        ck_assert_int_eq(unlink(part), 0);
    }
    ck_assert_int_eq(unlink(paths[2]), 0);
    ck_assert_int_eq(rmdir(aside), 0);
    ck_assert_int_eq(rmdir(p), 0);
}
END_TEST

START_TEST(each_byte_lies_in_the_file_that_it_is_of)
{
    open_set(3, 3, false);
    put(LENGTH - 3, LENGTH + 6); /* all of file 1, and more at both ends */
    expect(LENGTH - 3, LENGTH + 6);
    expect(LENGTH - 1, 2);
    expect(2 * LENGTH, 1);
    put(0, LENGTH - 3);
    put(2 * LENGTH + 3, LENGTH - 3);
    expect(0, 3 * LENGTH);
    for (size_t i = 0; i < 3; i++) {
        finish(i);
        expect_finished(i);
    }
    ck_assert_int_eq(xd_sink_finish(sink, 3 * LENGTH, &error), 0);
}
END_TEST

START_TEST(a_file_has_its_name_only_when_it_is_finished)
{
    open_set(4, 4, false);
    put(LENGTH - 3, LENGTH + 3);
    put(2 * LENGTH, 1);
    ck_assert(!is_there(paths[1]));
    finish(1);
    expect_finished(1);
    ck_assert(!is_there(paths[0]));
    ck_assert(is_there(parts[0]));
    ck_assert(!is_there(paths[2]));
    ck_assert(is_there(parts[2]));
    expect_nothing_of(3);
}
END_TEST

START_TEST(a_file_that_lacks_its_end_gets_no_name)
{
    open_set(3, 2, false);
    put(0, LENGTH - 1);
    expect_failed(try_to_finish(0), parts[0], "");
    ck_assert(!is_there(paths[0]));
    put(LENGTH - 1, 1);
    finish(0);
    expect_finished(0);
    expect_failed(try_to_finish(1), parts[1], "");
    expect_nothing_of(1);
}
END_TEST

/* One byte of each in turn. */
START_TEST(more_files_than_may_be_open_are_written_in_turn)
{
    size_t most_open = (size_t)_i;

    open_set(N_FILES, most_open, false);
    for (size_t at = 0; at < LENGTH; at++)
        for (size_t i = 0; i < N_FILES; i++) {
            put(i * LENGTH + at, 1);
            ck_assert_uint_le(count_open(), most_open);
        }
    expect(0, ALL);
    for (size_t i = 0; i < N_FILES; i++) {
        finish(i);
        ck_assert_uint_le(count_open(), most_open);
        expect_finished(i);
    }
}
END_TEST

START_TEST(the_file_that_was_used_last_stays_open)
{
    char link_to[PATH_SIZE];

    if (!is_there("/proc/self/fd"))
        return;
    open_set(3, 2, false);
    put_file(0);
    put_file(1);
    expect(0, 1);
    put_file(2); /* in place of file 1 */
    /* A file that is not open is found only by its name. */
    snprintf(link_to, sizeof link_to, "%s/aside", folder);
    ck_assert_int_eq(rename(parts[0], link_to), 0);
    expect(0, 1);
    ck_assert_int_eq(rename(link_to, parts[0]), 0);
    ck_assert_int_eq(rename(parts[1], link_to), 0);
    ck_assert_int_eq(write_bytes(LENGTH, 1, &error), XD_E_IO);
    ck_assert_int_eq(rename(link_to, parts[1]), 0);
}
END_TEST

#define N_THREADS 2
#define N_ROUNDS 20
#define CHUNK 3               /* some lie across an edge */
#define N_CHUNKS ((size_t)67) /* a prime: steps of any length come to all */

struct writer {
    struct xd_thread thread;
    size_t first;
    size_t most_seen_open;
    int rc;
};

/* Each of the chunks that are this writer's, far from the one before. */
static void write_once(struct writer *w, bool counts)
{
    for (size_t k = w->first; k < N_CHUNKS && w->rc == 0; k += N_THREADS) {
        size_t at = k * 7 % N_CHUNKS * CHUNK;
        size_t n_open = counts ? count_open() : 0;

        w->rc = write_bytes(at, ALL - at < CHUNK ? ALL - at : CHUNK, NULL);
        if (w->most_seen_open < n_open)
            w->most_seen_open = n_open;
    }
}

static void *write_often(void *arg)
{
    for (unsigned i = 0; i < N_ROUNDS; i++)
        write_once(arg, i == 0);
    return NULL;
}

START_TEST(threads_write_to_all_files_at_once)
{
    struct writer writers[N_THREADS] = {{.first = 0}, {.first = 1}};
    size_t most_open = (size_t)_i;

    open_set(N_FILES, most_open, false);
    for (size_t i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(
            xd_thread_start(&writers[i].thread, write_often, &writers[i]), 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        xd_thread_join(&writers[i].thread);
        ck_assert_int_eq(writers[i].rc, 0);
        ck_assert_uint_le(writers[i].most_seen_open, most_open + N_THREADS);
    }
    ck_assert_uint_le(count_open(), most_open);
    expect(0, ALL);
    for (size_t i = 0; i < N_FILES; i++) {
        finish(i);
        expect_finished(i);
    }
}
END_TEST

START_TEST(what_an_earlier_run_left_does_not_shine_through)
{
    char got[100];
    unsigned char byte;

    make_file(parts[0], "left by an earlier run");
    make_file(parts[1], "left by an earlier run");
    open_set(3, 1, false);
    put(4, 3);
    put_file(2); /* file 0 is closed */
    put(8, 1);
    ck_assert_uint_eq(read_whole(parts[0], got), 9);
    ck_assert_mem_eq(got, "\0\0\0", 4);
    expect(4, 3);
    ck_assert_int_eq(got[7], '\0');
    ck_assert_int_eq(xd_sink_read(sink, LENGTH, &byte, 1, &error), XD_E_IO);
    put_file(2); /* file 1 is closed */
    put(LENGTH, 1);
    expect_failed(try_to_finish(1), parts[1], "");
}
END_TEST

/* Also of one that was closed meanwhile. */
START_TEST(of_a_removed_file_nothing_is_left)
{
    char mine[PATH_SIZE];
    size_t most_open = (size_t)_i;

    name_file(1, "p/q/f");
    snprintf(mine, sizeof mine, "%s/p", folder);
    make_file(parts[3], "another's");
    open_set(4, most_open, false);
    put_file(0);
    put_file(1);
    put_file(2);
    xd_set_sink_leave_file(set, 1);
    ck_assert(!is_there(mine));
    xd_set_sink_leave_file(set, 1);
    ck_assert(!is_there(mine));
    xd_set_sink_leave_file(set, 3);
    expect_text(parts[3], "another's"); /* never opened */

    /* What it had does not come back with it. */
    put(LENGTH + 5, 1);
    ck_assert_int_eq(xd_sink_read(sink, LENGTH + 6, mine, 1, &error), XD_E_IO);
    xd_set_sink_leave_file(set, 1);
    for (size_t i = 0; i < 3; i += 2) {
        finish(i);
        expect_finished(i);
    }
}
END_TEST

START_TEST(a_finished_file_stays_when_it_is_removed)
{
    open_set(2, 2, _i);
    put_file(0);
    finish(0);
    xd_set_sink_leave_file(set, 0);
    expect_finished(0);
}
END_TEST

START_TEST(a_file_that_exists_fails_alone)
{
    make_file(paths[1], "old");
    open_set(3, 2, false);
    expect_failed(write_bytes(0, 2 * LENGTH, &error), paths[1],
                  "already exists");
    expect(0, LENGTH);
    put_file(2);
    expect_failed(write_bytes(LENGTH, 1, &error), paths[1], "already exists");
    expect_failed(try_to_finish(1), paths[1], "already exists");
    xd_set_sink_leave_file(set, 1);
    finish(0);
    finish(2);
    expect_finished(0);
    expect_finished(2);
    expect_text(paths[1], "old");
    ck_assert(!is_there(parts[1]));
}
END_TEST

START_TEST(a_file_that_exists_is_replaced_when_the_new_one_is_finished)
{
    make_file(paths[1], "old");
    open_set(3, 1, true);
    put(0, 3 * LENGTH);
    expect_text(paths[1], "old");
    finish(1);
    expect_finished(1);
    /* What comes too late is not taken for a file's beginning. */
    ck_assert_int_eq(write_bytes(LENGTH, 1, &error), XD_E_IO);
    expect_finished(1);
}
END_TEST

/* Whether it is open, or closed by then. */
START_TEST(a_name_that_another_took_meanwhile_is_not_taken_from_it)
{
    open_set(2, (size_t)_i, false);
    put_file(0);
    put_file(1);
    make_file(paths[0], "other");
    expect_failed(try_to_finish(0), paths[0], "exists");
    expect_text(paths[0], "other");
    ck_assert(is_there(parts[0]));
    xd_set_sink_leave_file(set, 0);
    ck_assert(!is_there(parts[0]));
    expect_text(paths[0], "other");
    finish(1);
    expect_finished(1);
}
END_TEST

/* Else it would get its name with a hole where bytes have been. */
START_TEST(a_part_that_is_cut_or_removed_while_it_is_closed_fails)
{
    open_set(4, 1, false);
    put(0, LENGTH + 4);
    put(LENGTH + 4, 2 * LENGTH - 5);
    put_file(3);
    ck_assert_int_eq(unlink(parts[0]), 0);
    ck_assert_int_eq(truncate(parts[1], LENGTH - 1), 0);
    expect_failed(write_bytes(0, 1, &error), parts[0], "shortened or removed");
    expect_nothing_of(0);
    expect_failed(try_to_finish(1), parts[1], "shortened or removed");
    ck_assert(is_there(parts[1]));
    xd_set_sink_leave_file(set, 0);
    xd_set_sink_leave_file(set, 1);
    expect_nothing_of(1);
    put(3 * LENGTH - 1, 1);
    finish(2);
    expect_finished(2);
}
END_TEST

START_TEST(folders_of_a_manifest_are_made)
{
    char p[PATH_SIZE], q[PATH_SIZE];

    snprintf(p, sizeof p, "%s/p", folder);
    snprintf(q, sizeof q, "%s/p/q", folder);
    name_file(0, "p/q/f");
    name_file(1, "p/f");
    open_set(3, 1, false);
    put(0, 3 * LENGTH);
    for (size_t i = 0; i < 3; i++) {
        finish(i);
        expect_finished(i);
    }
    close_set();
    ck_assert_int_eq(unlink(paths[0]), 0);
    ck_assert_int_eq(unlink(paths[1]), 0);
    ck_assert_int_eq(rmdir(q), 0);
    ck_assert_int_eq(rmdir(p), 0);
}
END_TEST

START_TEST(a_folder_that_was_given_is_not_made)
{
    char missing[SUITE_FOLDER + 2];

    snprintf(missing, sizeof missing, "%s/p", folder);
    directory = missing;
    open_set(3, 3, false);
    ck_assert_int_eq(write_bytes(0, LENGTH, &error), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(error.msg, missing));
    ck_assert_int_lt(access(missing, F_OK), 0);
}
END_TEST

static int endings[N_FILES]; /* 1: never said */

static void on_each_ended(void *user, const size_t *files, size_t n,
                          const struct xd_error *why)
{
    (void)user;
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(endings[files[i]], 1);
        endings[files[i]] = why ? why->code : 0;
    }
}

/* With the whole disk, or each by itself. */
START_TEST(files_that_are_finished_together_end_each_for_itself)
{
    static const size_t files[] = {7, 0, 3, 2, 5, 1, 4};
    const size_t n = (size_t)_i;
    char p[PATH_SIZE];

    name_file(2, "p/f");
    name_file(5, "p/g");
    make_file(paths[3], "old");
    snprintf(p, sizeof p, "%s/p", folder);
    open_set(8, 2, false);
    for (size_t i = 0; i < 8; i++) {
        endings[i] = 1;
        if (i != 3)
            put_file(i);
    }
    xd_set_sink_finish_files(set, files, n, on_each_ended, NULL);
    for (size_t i = 0; i < n; i++) {
        size_t file = files[i];

        ck_assert_int_eq(endings[file], file == 3 ? XD_E_IO : 0);
        if (file != 3)
            expect_finished(file);
        unlink(paths[file]);
    }
    ck_assert_int_eq(endings[6], 1);
    ck_assert(is_there(parts[6]));
    ck_assert_uint_le(count_open(), 2);
    close_set();
    unlink(parts[2]);
    unlink(parts[5]);
    ck_assert_int_eq(rmdir(p), 0);
}
END_TEST

START_TEST(files_of_one_folder_are_finished_together)
{
    static const size_t files[] = {0, 1, 2, 3, 4, 5};

    make_file(paths[4], "old");
    open_set(6, 2, false);
    put(0, 4 * LENGTH);
    put_file(5);
    for (size_t i = 0; i < 6; i++)
        endings[i] = 1;
    xd_set_sink_finish_files(set, files, 6, on_each_ended, NULL);
    for (size_t i = 0; i < 6; i++)
        ck_assert_int_eq(endings[i], i == 4 ? XD_E_IO : 0);
    for (size_t i = 0; i < 4; i++)
        expect_finished(i);
    expect_text(paths[4], "old");
    ck_assert_uint_le(count_open(), 2);
}
END_TEST

/* A file that is there, of these bytes, and the end of it. */
static int compare_with(const void *there, size_t len)
{
    FILE *f = fopen(paths[1], "wb");
    struct stat st;
    int rc;

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(there, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
    places[1].is_compared = true;
    open_set(3, 3, false);
    put(0, 3 * LENGTH);
    rc = try_to_finish(1);
    finish(2);
    expect_finished(2);
    ck_assert_int_eq(stat(paths[1], &st), 0);
    ck_assert_uint_eq((size_t)st.st_size, len);
    ck_assert(rc < 0 || !is_there(parts[1]));
    return rc;
}

START_TEST(a_file_that_is_the_same_stays)
{
    unsigned char there[LENGTH];

    for (size_t i = 0; i < LENGTH; i++)
        there[i] = byte_at(LENGTH + i);
    ck_assert_msg(compare_with(there, LENGTH) == 0, "%s", error.msg);
    expect_finished(1);
}
END_TEST

/* In its first byte, or its last, or its length. */
START_TEST(a_file_that_differs_fails_and_stays)
{
    unsigned char there[LENGTH + 1];
    size_t len = LENGTH - 1 + (size_t)_i % 3;

    for (size_t i = 0; i < sizeof there; i++)
        there[i] = byte_at(LENGTH + i);
    if (len == LENGTH)
        there[_i < 3 ? 0 : LENGTH - 1] ^= 1;
    ck_assert_int_eq(compare_with(there, len), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(error.msg, "exists already"));
    xd_set_sink_leave_file(set, 1);
    ck_assert(!is_there(parts[1]));
    ck_assert(is_there(paths[1]));
}
END_TEST

START_TEST(free_leaves_what_is_unfinished_and_nothing_that_is_empty)
{
    char p[PATH_SIZE];
    unsigned char byte;

    name_file(2, "p/f");
    snprintf(p, sizeof p, "%s/p", folder);
    open_set(4, 3, false);
    put(0, LENGTH + 2);
    put_file(3);
    finish(3);
    ck_assert_int_eq(xd_sink_read(sink, 2 * LENGTH, &byte, 1, &error), XD_E_IO);
    ck_assert(is_there(parts[2]));
    close_set();
    ck_assert(!is_there(p));
    ck_assert(!is_there(paths[0]));
    ck_assert(!is_there(paths[1]));
    expect_finished(3);
    open_set(4, 3, false);
    close_set(); /* what it did not open stays */
    ck_assert(is_there(parts[0]));
    ck_assert(is_there(parts[1]));
    ck_assert_uint_eq(count_open(), 0);
}
END_TEST

/* ---- files with journals ---- */

static char hashes[] = "md5:d41d8cd98f00b204e9800998ecf8427e\n";

/* Files 1 and 2 of four have one.  A new run: the last one has ended. */
static void open_kept(size_t most_open, bool begins_anew)
{
    const struct xd_set_sink_options o = {.directory = directory,
                                          .begins_anew = begins_anew,
                                          .most_open = most_open};

    close_set();
    places[1].hashes = places[2].hashes = hashes;
    ck_assert_int_eq(xd_set_sink_new(&sink, &set, places, 4, &o, &error), 0);
}

static void expect_none_ended(void *user, const size_t *files, size_t n,
                              const struct xd_error *why)
{
    (void)user, (void)files, (void)n;
    ck_abort_msg("%s", why ? why->msg : "a file has ended");
}

static void sync_all(void)
{
    xd_set_sink_sync(set, expect_none_ended, NULL);
}

static void drop(uint64_t begin, uint64_t end)
{
    xd_set_sink_drop(set, (struct xd_range){begin, end}, expect_none_ended,
                     NULL);
}

/* An earlier run has left these bytes of it, and no others; `end` 0: none. */
static void expect_found(size_t i, uint64_t begin, uint64_t end)
{
    struct xd_rangeset held = {0};

    ck_assert_msg(xd_set_sink_find(set, i, &held, &error) == 0, "%s",
                  error.msg);
    ck_assert_uint_eq(held.n, end > 0);
    if (end > 0) {
        ck_assert_uint_eq(held.ranges[0].begin, begin);
        ck_assert_uint_eq(held.ranges[0].end, end);
    }
    xd_rangeset_fini(&held);
}

static char *journal_of(size_t i)
{
    static char path[PATH_SIZE + 20];

    snprintf(path, sizeof path, "%s.journal", parts[i]);
    return path;
}

static void remove_kept(void)
{
    close_set();
    for (size_t i = 1; i < 3; i++) {
        unlink(journal_of(i));
        unlink(parts[i]);
    }
}

START_TEST(what_was_synced_is_found_by_the_next_run)
{
    open_kept(4, false);
    put(LENGTH, 4);
    put(2 * LENGTH + 3, 5);
    put(3 * LENGTH, 2); /* has no journal */
    sync_all();
    open_kept(4, false);
    expect_found(1, 0, 4);
    expect_found(2, 3, 8);
    expect_found(3, 0, 0);
    expect(LENGTH, 4);
    remove_kept();
}
END_TEST

START_TEST(what_was_dropped_is_not_found)
{
    open_kept(4, false);
    put(LENGTH, 2 * LENGTH);
    put(3 * LENGTH, 2);
    drop(LENGTH + 6, 2 * LENGTH + 4); /* of both */
    drop(3 * LENGTH, 3 * LENGTH + 2); /* of one that has no journal */
    sync_all();
    open_kept(4, false);
    expect_found(1, 0, 6);
    expect_found(2, 4, LENGTH);
    drop(LENGTH, LENGTH + 1);
    sync_all();
    open_kept(4, false);
    expect_found(1, 1, 6);
    remove_kept();
}
END_TEST

START_TEST(nothing_is_found_by_a_run_that_begins_anew)
{
    open_kept(4, false);
    put(LENGTH, 4);
    sync_all();
    open_kept(4, true);
    expect_found(1, 0, 0);
    remove_kept();
}
END_TEST

START_TEST(where_nothing_was_written_no_journal_stays)
{
    open_kept(4, false);
    expect_found(1, 0, 0);
    close_set();
    ck_assert(!is_there(journal_of(1)));
    ck_assert(!is_there(parts[1]));
}
END_TEST

/* Its last bytes are not on the disk: it is not one of those that may be. */
START_TEST(what_is_not_synced_is_not_closed)
{
    open_kept(1, false);
    put(LENGTH, 1);
    put(2 * LENGTH, 1);
    put(3 * LENGTH, 1);
    put(0, 1);
    if (count_open() > 0) {
        ck_assert_uint_ge(count_open_with(".journal"), 2);
        sync_all();
        put(0, 1);
        put(3 * LENGTH, 1);
        put(0, 1);
        ck_assert_uint_eq(count_open_with(".journal"), 0);
    }
    put(LENGTH + 1, 1); /* it goes on where it was */
    sync_all();
    open_kept(4, false);
    expect_found(1, 0, 2);
    remove_kept();
}
END_TEST

START_TEST(a_file_that_has_its_name_has_no_journal)
{
    open_kept(4, false);
    put_file(1);
    put_file(2);
    sync_all();
    ck_assert(is_there(journal_of(1)));
    finish(1);
    expect_finished(1);
    ck_assert(!is_there(journal_of(1)));
    ck_assert(is_there(journal_of(2)));
    xd_set_sink_leave_file(set, 2);
    ck_assert(is_there(journal_of(2)));
    ck_assert_int_eq(write_bytes(LENGTH, 1, &error), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(error.msg, "its name already"));
    remove_kept();
}
END_TEST

/* More places come, up to as many as were said. */
START_TEST(a_set_is_extended)
{
    const struct xd_set_sink_options o = {
        .directory = directory, .most = 4, .most_open = 4};

    ck_assert_int_eq(xd_set_sink_new(&sink, &set, places, 1, &o, &error), 0);
    put_file(0);
    xd_set_sink_extend(set, 3);
    put_file(2);
    xd_set_sink_extend(set, 4);
    put_file(3);
    finish(0);
    finish(2);
    finish(3);
    expect_finished(2);
    expect_finished(3);
    xd_set_sink_leave_file(set, 1);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("set_sink");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, open_files_are_counted_where_the_system_tells);
    tcase_add_test(t, files_of_one_folder_have_one_descriptor_for_it);
    tcase_add_test(t, a_folder_that_was_moved_is_left);
    tcase_add_test(t, each_byte_lies_in_the_file_that_it_is_of);
    tcase_add_test(t, a_file_has_its_name_only_when_it_is_finished);
    tcase_add_test(t, a_file_that_lacks_its_end_gets_no_name);
    tcase_add_loop_test(t, more_files_than_may_be_open_are_written_in_turn, 0,
                        4);
    tcase_add_test(t, the_file_that_was_used_last_stays_open);
    tcase_add_loop_test(t, threads_write_to_all_files_at_once, 0, 3);
    tcase_add_test(t, what_an_earlier_run_left_does_not_shine_through);
    tcase_add_loop_test(t, of_a_removed_file_nothing_is_left, 1, 4);
    tcase_add_loop_test(t, a_finished_file_stays_when_it_is_removed, 0, 2);
    tcase_add_test(t, a_file_that_exists_fails_alone);
    tcase_add_test(t,
                   a_file_that_exists_is_replaced_when_the_new_one_is_finished);
    tcase_add_loop_test(
        t, a_name_that_another_took_meanwhile_is_not_taken_from_it, 1, 3);
    tcase_add_test(t, a_part_that_is_cut_or_removed_while_it_is_closed_fails);
    tcase_add_test(t, folders_of_a_manifest_are_made);
    tcase_add_test(t, a_folder_that_was_given_is_not_made);
    tcase_add_loop_test(t, files_that_are_finished_together_end_each_for_itself,
                        1, 8);
    tcase_add_test(t, files_of_one_folder_are_finished_together);
    tcase_add_test(t, a_file_that_is_the_same_stays);
    tcase_add_loop_test(t, a_file_that_differs_fails_and_stays, 0, 6);
    tcase_add_test(t, free_leaves_what_is_unfinished_and_nothing_that_is_empty);
    tcase_add_test(t, what_was_synced_is_found_by_the_next_run);
    tcase_add_test(t, what_was_dropped_is_not_found);
    tcase_add_test(t, nothing_is_found_by_a_run_that_begins_anew);
    tcase_add_test(t, where_nothing_was_written_no_journal_stays);
    tcase_add_test(t, what_is_not_synced_is_not_closed);
    tcase_add_test(t, a_file_that_has_its_name_has_no_journal);
    tcase_add_test(t, a_set_is_extended);
    return run_suite("set_sink", t);
}
