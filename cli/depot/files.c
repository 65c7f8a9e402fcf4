/* SPDX-License-Identifier: MIT */
#include "depot/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

#include <microhttpd.h>

#include "common/http_words.h"
#include "common/moment.h"
#include "common/status.h"
#include "common/words.h"
#include "depot/tree.h"

/* Clients of all files together, each in 9 KiB at most. */
#define KNOWN_MOST 4096

/* Chunks that count as in memory beside an active region. */
#define RECENT_MORE 128

/* After a change a second one within the same second would have the same date. */
#define SETTLED_S 2

uint64_t files_now(void)
{
    return (uint64_t)(moment_s() * 1e6);
}

int files_init(struct depot_files *f, const char *folder, uint64_t active)
{
    *f = (struct depot_files){.folder = -1, .active = active};
    pthread_mutex_init(&f->lock, NULL);
    f->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->folder < 0) {
        words_error("%s: %s", folder, strerror(errno));
        return STATUS_LOCAL;
    }
    f->disks =
        disks_new(&f->lock, RECENT_MORE + (unsigned)(active / DISK_CHUNK));
    if (f->disks != NULL)
        return 0;
    words_error("out of memory");
    return STATUS_LOCAL;
}

static void close_file_locked(struct depot_files *f, struct depot_file *file)
{
    f->disk_bytes += file->io.bytes;
    f->sent += file->sent;
    disk_leave_locked(&file->io);
    xd_circus_free(file->circus);
    close(file->io.fd);
    free(file->name);
    *file = (struct depot_file){0};
}

void files_fini(struct depot_files *f)
{
    for (size_t i = 0; i < FILES_MOST; i++)
        if (f->files[i].name != NULL)
            close_file_locked(f, &f->files[i]);
    disks_free(f->disks);
    if (f->folder >= 0)
        close(f->folder);
    pthread_mutex_destroy(&f->lock);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool files_is_unchanged(const struct depot_file *file)
{
    struct stat now;

    return fstat(file->io.fd, &now) == 0 && is_same(&file->is, &now);
}

static struct depot_file *find_locked(struct depot_files *f,
                                      const struct stat *is)
{
    for (size_t i = 0; i < FILES_MOST; i++)
        if (f->files[i].name != NULL && is_same(&f->files[i].is, is))
            return &f->files[i];
    return NULL;
}

/* One that is free, or was not used for the longest time; NULL: all are in use. */
static struct depot_file *make_place_locked(struct depot_files *f)
{
    struct depot_file *found = NULL;

    for (size_t i = 0; i < FILES_MOST; i++) {
        struct depot_file *file = &f->files[i];
        if (file->name == NULL)
            return file;
        if (file->n_users == 0 && !file->io.is_being_read &&
            (found == NULL || file->used < found->used))
            found = file;
    }
    if (found != NULL)
        close_file_locked(f, found);
    return found;
}

static void describe(struct depot_file *file)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed",
                                   "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const struct timespec at = file->is.st_mtim;
    struct tm t;

    snprintf(file->etag, sizeof file->etag, "\"%llx-%llx-%llx.%lx\"",
             (unsigned long long)file->is.st_ino,
             (unsigned long long)file->is.st_size,
             (unsigned long long)at.tv_sec, (unsigned long)at.tv_nsec);
    if (gmtime_r(&at.tv_sec, &t) == NULL)
        return;
    snprintf(file->modified, sizeof file->modified,
             "%s, %02d %s %04d %02d:%02d:%02d GMT", days[t.tm_wday], t.tm_mday,
             months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
    file->is_settled = time(NULL) - at.tv_sec >= SETTLED_S;
}

/* A file that fits into the active region is in memory altogether. */
static bool begin_circus(const struct depot_files *f, struct depot_file *file)
{
    const struct xd_circus_rules rules = {.struct_size = sizeof rules,
                                          .active_bytes = f->active};

    return file->io.size <= f->active ||
           xd_circus_new(&file->circus, file->io.size, &rules, NULL) == 0;
}

/* Takes over `fd` if it succeeds. */
static bool open_locked(struct depot_files *f, struct depot_file *file, int fd,
                        const struct stat *is, const char *path)
{
    *file =
        (struct depot_file){.name = strdup(path),
                            .type = http_type(path),
                            .is = *is,
                            .io = {.fd = fd, .size = (uint64_t)is->st_size}};
    describe(file);
    if (file->name != NULL && begin_circus(f, file) &&
        disk_enter_locked(f->disks, &file->io, is->st_dev))
        return true;
    xd_circus_free(file->circus);
    free(file->name);
    *file = (struct depot_file){0};
    return false;
}

/* The file behind `fd`, which is taken over, entered; NULL: there is no place. */
static struct depot_file *enter_locked(struct depot_files *f, int fd,
                                       const struct stat *is, const char *path)
{
    struct depot_file *file = find_locked(f, is);

    if (file != NULL) {
        close(fd);
    } else {
        file = make_place_locked(f);
        if (file == NULL || !open_locked(f, file, fd, is, path)) {
            close(fd);
            return NULL;
        }
    }
    file->n_users++;
    file->used = ++f->n_uses;
    return file;
}

struct depot_file *files_enter(struct depot_files *f, const char *path,
                               unsigned *out_status)
{
    struct stat is;
    const int fd = tree_open(f->folder, path, &is);

    if (fd < 0) {
        *out_status = MHD_HTTP_NOT_FOUND;
        return NULL;
    }
    pthread_mutex_lock(&f->lock);
    struct depot_file *file = enter_locked(f, fd, &is, path);
    pthread_mutex_unlock(&f->lock);
    if (file == NULL)
        *out_status = MHD_HTTP_SERVICE_UNAVAILABLE;
    return file;
}

void files_leave_locked(struct depot_files *f, struct depot_file *file)
{
    file->n_users--;
    file->used = ++f->n_uses;
}

static void count_clients(struct depot_file *file, uint64_t now)
{
    struct xd_circus_state state = {.struct_size = sizeof state};

    xd_circus_get(file->circus, now, &state);
    file->n_known = state.n_clients;
}

/* Whether one more may be known, when those that have gone are forgotten. */
static bool has_room_locked(struct depot_files *f, uint64_t now)
{
    unsigned n = 0;

    for (size_t i = 0; i < FILES_MOST; i++)
        n += f->files[i].n_known;
    if (n < KNOWN_MOST)
        return true;
    n = 0;
    for (size_t i = 0; i < FILES_MOST; i++) {
        if (f->files[i].circus != NULL)
            count_clients(&f->files[i], now);
        n += f->files[i].n_known;
    }
    return n < KNOWN_MOST;
}

struct xd_circus_client *files_client_locked(struct depot_files *f,
                                             struct depot_file *file,
                                             uint64_t id)
{
    const uint64_t now = files_now();

    if (file->circus == NULL || !has_room_locked(f, now))
        return NULL;
    struct xd_circus_client *client = xd_circus_enter(file->circus, id, now);
    count_clients(file, now);
    return client;
}
