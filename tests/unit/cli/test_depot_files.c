/* SPDX-License-Identifier: MIT */
#include "depot/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/words.h"
#include "suite.h"

#define ACTIVE ((uint64_t)1 << 20)
#define FILES 300

static char folder[SUITE_FOLDER];
static struct depot_files *f;
static struct depot_file *entered[FILES];

/* Nothing is reported here. */
void words_error(const char *format, ...)
{
    (void)format;
}

static const char *name_of(unsigned i)
{
    static char name[30];

    snprintf(name, sizeof name, "f%u", i);
    return name;
}

static void make_file(unsigned i, uint64_t size)
{
    char path[SUITE_FOLDER + 30];

    snprintf(path, sizeof path, "%s/%s", folder, name_of(i));
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
    close(fd);
}

static void setup(void)
{
    suite_folder(folder);
    for (unsigned i = 0; i < FILES; i++)
        make_file(i, i + 1);
    f = calloc(1, sizeof *f);
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(files_init(f, folder, ACTIVE), 0);
}

static void teardown(void)
{
    disks_end(f->disks);
    files_fini(f);
    free(f);
    for (unsigned i = 0; i < FILES; i++) {
        char path[SUITE_FOLDER + 30];

        snprintf(path, sizeof path, "%s/%s", folder, name_of(i));
        unlink(path);
    }
    rmdir(folder);
}

/* False: there is no place for it. */
static bool enter(unsigned i, uint64_t host, uint64_t id)
{
    const struct depot_client c = {host, id};
    unsigned status = 0;

    entered[i] = files_enter(f, name_of(i), &c, &status);
    ck_assert_uint_eq(status, entered[i] != NULL ? 0 : 503);
    return entered[i] != NULL;
}

static void leave(unsigned i)
{
    pthread_mutex_lock(&f->lock);
    files_leave_locked(f, entered[i]);
    pthread_mutex_unlock(&f->lock);
}

static unsigned n_open(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < FILES_MOST; i++)
        n += f->files[i].name != NULL;
    return n;
}

START_TEST(what_is_not_there_is_not_found)
{
    unsigned status = 0;

    ck_assert_ptr_null(
        files_enter(f, "x", &(struct depot_client){1, 1}, &status));
    ck_assert_uint_eq(status, 404);
}
END_TEST

START_TEST(a_file_is_open_once_for_all_its_clients)
{
    ck_assert(enter(0, 1, 1));
    struct depot_file *first = entered[0];
    ck_assert(enter(0, 2, 2));
    ck_assert_ptr_eq(entered[0], first);
    ck_assert_uint_eq(n_open(), 1);
}
END_TEST

START_TEST(one_client_cannot_hold_all_places)
{
    for (unsigned i = 0; i < FILES_OF_CLIENT; i++)
        ck_assert(enter(i, 1, 1));
    ck_assert(!enter(FILES_OF_CLIENT, 1, 1));
    ck_assert(enter(0, 1, 1)); /* it is open */
    ck_assert(enter(FILES_OF_CLIENT, 1, 2));
    ck_assert(enter(FILES_OF_CLIENT, 1, 1));
    ck_assert(enter(FILES_OF_CLIENT + 1, 2, 1)); /* the same id elsewhere */
    leave(1);
    ck_assert(enter(FILES_OF_CLIENT + 2, 1, 1));
    ck_assert(!enter(FILES_OF_CLIENT + 3, 1, 1));
    ck_assert(!enter(1, 1, 1)); /* it is open, and nobody uses it */
}
END_TEST

START_TEST(nor_can_one_host_by_many_ids)
{
    for (unsigned i = 0; i < FILES_OF_HOST; i++)
        ck_assert(enter(i, 1, i));
    ck_assert(!enter(FILES_OF_HOST, 1, FILES_OF_HOST));
    ck_assert(enter(0, 1, FILES_OF_HOST));
    for (unsigned i = FILES_OF_HOST; i < FILES_MOST; i++)
        ck_assert(enter(i, 2, i));
    ck_assert(!enter(FILES_MOST, 3, 1));
    leave(7);
    ck_assert(enter(FILES_MOST, 3, 1));
    ck_assert_uint_eq(n_open(), FILES_MOST);
}
END_TEST

/* The one that is in front opens each file first, and those behind it use it on. */
START_TEST(what_others_use_as_well_counts_for_none)
{
    for (unsigned i = 0; i < FILES_OF_CLIENT; i++) {
        ck_assert(enter(i, 1, 1));
        ck_assert(enter(i, 1, 2));
    }
    ck_assert(enter(FILES_OF_CLIENT, 1, 1));
    for (unsigned i = FILES_OF_CLIENT; i < FILES_OF_HOST; i++) {
        ck_assert(enter(i, 1, i));
        ck_assert(enter(i, 2, 1));
    }
    ck_assert(enter(FILES_OF_HOST, 1, 3));
}
END_TEST

START_TEST(a_place_that_is_needed_is_that_of_the_file_that_was_not_used_longest)
{
    for (unsigned i = 0; i < FILES_MOST; i++) {
        ck_assert(enter(i, i, 1));
        leave(i);
    }
    ck_assert(enter(0, 1, 1));
    leave(0);
    ck_assert_uint_eq(n_open(), FILES_MOST);
    ck_assert(enter(FILES_MOST, 1, 1));
    ck_assert_uint_eq(n_open(), FILES_MOST);
    ck_assert_str_eq(f->files[0].name, "f0");
    ck_assert_str_eq(f->files[1].name, name_of(FILES_MOST));
}
END_TEST

START_TEST(a_file_that_is_idle_is_closed_after_a_while)
{
    ck_assert(enter(0, 1, 1));
    ck_assert(enter(1, 1, 1));
    leave(0);
    const int fd = entered[0]->io.fd;
    const uint64_t left = entered[0]->left_at;

    files_close_idle(f, left - 1); /* the time was read before it was left */
    files_close_idle(f, left + FILES_IDLE_US - 1);
    ck_assert_uint_eq(n_open(), 2);
    ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
    files_close_idle(f, left + FILES_IDLE_US);
    ck_assert_uint_eq(n_open(), 1);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
    files_close_idle(f, left + 10 * (uint64_t)FILES_IDLE_US);
    ck_assert_uint_eq(n_open(), 1); /* it is used */
    entered[1]->io.is_being_read = true;
    leave(1);
    files_close_idle(f, left + 10 * (uint64_t)FILES_IDLE_US);
    ck_assert_uint_eq(n_open(), 1);
    entered[1]->io.is_being_read = false;
    files_close_idle(f, left + 10 * (uint64_t)FILES_IDLE_US);
    ck_assert_uint_eq(n_open(), 0);
}
END_TEST

static void modify(unsigned i, time_t at)
{
    char path[SUITE_FOLDER + 30];
    const struct timespec times[2] = {{.tv_sec = at}, {.tv_sec = at}};

    snprintf(path, sizeof path, "%s/%s", folder, name_of(i));
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(a_date_is_there_as_soon_as_no_change_can_be_hidden)
{
    modify(0, time(NULL) + 1);
    ck_assert(enter(0, 1, 1));
    ck_assert_ptr_null(files_modified(entered[0]));
    while (time(NULL) < entered[0]->is.st_mtim.tv_sec + 2) {
        ck_assert_ptr_null(files_modified(entered[0]));
        suite_rest_ms(50);
    }
    ck_assert_str_eq(files_modified(entered[0]), entered[0]->modified);
    ck_assert_uint_eq(strlen(entered[0]->modified), 29);
}
END_TEST

START_TEST(a_file_that_has_changed_is_another_one)
{
    modify(0, 1000000000);
    ck_assert(enter(0, 1, 1));
    struct depot_file *first = entered[0];
    ck_assert_str_eq(files_modified(first), "Sun, 09 Sep 2001 01:46:40 GMT");
    ck_assert(files_is_unchanged(first));
    modify(0, 1000000001);
    ck_assert(!files_is_unchanged(first));
    ck_assert(enter(0, 1, 1));
    ck_assert_ptr_ne(entered[0], first);
    ck_assert_str_ne(entered[0]->etag, first->etag);
    ck_assert_str_eq(files_modified(entered[0]),
                     "Sun, 09 Sep 2001 01:46:41 GMT");
}
END_TEST

/* Writes to a file in place and sets its time back, until the clock of the disk has
 * moved on since `was`. */
static void overwrite_in_secret(unsigned i, const struct stat *was)
{
    char path[SUITE_FOLDER + 30];
    struct stat now;

    snprintf(path, sizeof path, "%s/%s", folder, name_of(i));
    const int fd = open(path, O_WRONLY);
    ck_assert_int_ge(fd, 0);
    do {
        ck_assert_int_eq(pwrite(fd, "x", 1, 0), 1);
        modify(i, was->st_mtim.tv_sec);
        ck_assert_int_eq(fstat(fd, &now), 0);
    } while (now.st_ctim.tv_sec == was->st_ctim.tv_sec &&
             now.st_ctim.tv_nsec == was->st_ctim.tv_nsec);
    close(fd);
    ck_assert_int_eq(now.st_mtim.tv_sec, was->st_mtim.tv_sec);
    ck_assert_int_eq(now.st_mtim.tv_nsec, was->st_mtim.tv_nsec);
    ck_assert_int_eq(now.st_size, was->st_size);
}

START_TEST(version_whose_time_was_set_back_is_another_file)
{
    modify(0, 1000000000);
    ck_assert(enter(0, 1, 1));
    struct depot_file *first = entered[0];

    overwrite_in_secret(0, &first->is);
    ck_assert(!files_is_unchanged(first));
    ck_assert(enter(0, 1, 1));
    ck_assert_ptr_ne(entered[0], first);
    ck_assert_str_ne(entered[0]->etag, first->etag);
}
END_TEST

START_TEST(replaced_file_is_sent_to_its_end)
{
    char from[SUITE_FOLDER + 30], to[SUITE_FOLDER + 30];

    modify(0, 1000000000);
    ck_assert(enter(0, 1, 1));
    struct depot_file *old = entered[0];
    make_file(FILES, 1);
    modify(FILES, 1000000000);
    snprintf(from, sizeof from, "%s/%s", folder, name_of(FILES));
    snprintf(to, sizeof to, "%s/%s", folder, name_of(0));
    ck_assert_int_eq(rename(from, to), 0);
    ck_assert(files_is_unchanged(old));
    ck_assert(enter(0, 1, 1));
    ck_assert_ptr_ne(entered[0], old);
    ck_assert_str_ne(entered[0]->etag, old->etag);
}
END_TEST

START_TEST(requests_that_follow_each_other_are_one_row)
{
    ck_assert(enter(0, 1, 1));
    struct depot_file *file = entered[0];

    ck_assert_uint_eq(files_row_locked(file, 0), 0);
    ck_assert_uint_eq(files_row_locked(file, 100), 0);
    files_end_row_locked(file, 100, 60);
    files_end_row_locked(file, 100, 40);
    ck_assert_uint_eq(files_row_locked(file, 100), 60);
    ck_assert_uint_eq(files_row_locked(file, 99), 0);
    for (unsigned i = 0; i < FILES_ROWS - 2; i++)
        files_end_row_locked(file, 1000 + i, i);
    ck_assert_uint_eq(files_row_locked(file, 100), 60);
    files_end_row_locked(file, 5000, 7);
    ck_assert_uint_eq(files_row_locked(file, 100), 40);
    files_end_row_locked(file, 5000, 7);
    ck_assert_uint_eq(files_row_locked(file, 100), 0);
}
END_TEST

/* Of two files, with ids that nobody has used before. */
START_TEST(made_up_ids_do_not_push_out_clients_of_any_file)
{
    make_file(0, ACTIVE + 1);
    make_file(1, ACTIVE + 2);
    make_file(2, ACTIVE + 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(enter(i, 1, 1));
    pthread_mutex_lock(&f->lock);
    struct xd_circus *circus = entered[2]->circus;
    struct xd_circus_client *c = files_client_locked(entered[2], 1);
    xd_circus_send(circus, c, 0, 1000, files_now());
    xd_circus_leave(circus, c, files_now());
    for (uint64_t id = 10; id < 10010; id++) {
        struct depot_file *file = entered[id % 2];
        struct xd_circus_client *made_up = files_client_locked(file, id);
        ck_assert_ptr_nonnull(made_up);
        xd_circus_leave(file->circus, made_up, files_now());
    }
    uint64_t begin, end;
    c = files_client_locked(entered[2], 1);
    ck_assert(xd_circus_next(circus, c, files_now(), &begin, &end));
    ck_assert_uint_eq(begin, 1000);
    ck_assert_ptr_nonnull(files_client_locked(entered[0], 2));
    pthread_mutex_unlock(&f->lock);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("depot_files");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_is_not_there_is_not_found);
    tcase_add_test(t, a_file_is_open_once_for_all_its_clients);
    tcase_add_test(t, one_client_cannot_hold_all_places);
    tcase_add_test(t, nor_can_one_host_by_many_ids);
    tcase_add_test(t, what_others_use_as_well_counts_for_none);
    tcase_add_test(
        t,
        a_place_that_is_needed_is_that_of_the_file_that_was_not_used_longest);
    tcase_add_test(t, a_file_that_is_idle_is_closed_after_a_while);
    tcase_add_test(t, a_date_is_there_as_soon_as_no_change_can_be_hidden);
    tcase_add_test(t, a_file_that_has_changed_is_another_one);
    tcase_add_test(t, version_whose_time_was_set_back_is_another_file);
    tcase_add_test(t, replaced_file_is_sent_to_its_end);
    tcase_add_test(t, requests_that_follow_each_other_are_one_row);
    tcase_add_test(t, made_up_ids_do_not_push_out_clients_of_any_file);
    return run_suite("depot_files", t);
}
