/* SPDX-License-Identifier: MIT */
#include "depot/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

#include <microhttpd.h>

#include "common/moment.h"
#include "common/status.h"
#include "common/words.h"
#include "depot/tree.h"

/* Limit on the total number of clients of all files.  A client takes up to
 * 9 KiB. */
#define KNOWN_MOST 4096

_Static_assert(FILES_OF_CLIENT < FILES_OF_HOST && FILES_OF_HOST < FILES_MOST,
               "one client, or host, must not hold all places");

/* Number of chunks, in addition to the active region, that are thought to be in
 * memory. */
#define RECENT_MORE 128

/* A file that changed less than this many seconds ago gets no Last-Modified
 * date, because another change in the same second would have the same date. */
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
    if (f->disks != NULL && xd_circus_pool_new(&f->pool, KNOWN_MOST, NULL) == 0)
        return 0;
    words_error("out of memory");
    return STATUS_LOCAL;
}

/* Removes a file from the array.  Returns its descriptor.  The caller closes
 * it, because closing may block. */
static int remove_locked(struct depot_files *f, struct depot_file *file)
{
    const int fd = file->io.fd;

    f->disk_bytes += file->io.bytes;
    f->sent += file->sent;
    disk_leave_locked(&file->io);
    xd_circus_free(file->circus);
    free(file->name);
    *file = (struct depot_file){0};
    return fd;
}

void files_fini(struct depot_files *f)
{
    for (size_t i = 0; i < FILES_MOST; i++)
        if (f->files[i].name != NULL)
            close(remove_locked(f, &f->files[i]));
    xd_circus_pool_free(f->pool);
    disks_free(f->disks);
    if (f->folder >= 0)
        close(f->folder);
    pthread_mutex_destroy(&f->lock);
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Compares sizes and modification times.  A program can set back the
 * modification time. */
static bool looks_the_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && is_same_time(a->st_mtim, b->st_mtim);
}

/* Also compares the inodes and their change times, which cannot be set back. */
static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           looks_the_same(a, b) && is_same_time(a->st_ctim, b->st_ctim);
}

bool files_is_unchanged(const struct depot_file *file)
{
    struct stat now;

    if (fstat(file->io.fd, &now) != 0)
        return false;
    /* Unlinking or replacing a file changes the change time of the old inode,
     * but not its content, so running requests may continue. */
    return is_same(&file->is, &now) ||
           (now.st_nlink == 0 && looks_the_same(&file->is, &now));
}

static struct depot_file *find_locked(struct depot_files *f,
                                      const struct stat *is)
{
    for (size_t i = 0; i < FILES_MOST; i++)
        if (f->files[i].name != NULL && is_same(&f->files[i].is, is))
            return &f->files[i];
    return NULL;
}

static bool is_idle_locked(const struct depot_file *file)
{
    return file->name != NULL && file->n_users == 0 && !file->io.is_being_read;
}

/* Returns a free element, or the least recently used idle element.  In the
 * second case, the caller must close *out_fd.  Returns NULL if all elements are
 * in use. */
static struct depot_file *make_place_locked(struct depot_files *f, int *out_fd)
{
    struct depot_file *found = NULL;

    for (size_t i = 0; i < FILES_MOST; i++) {
        struct depot_file *file = &f->files[i];
        if (file->name == NULL)
            return file;
        if (is_idle_locked(file) && (found == NULL || file->used < found->used))
            found = file;
    }
    if (found != NULL)
        *out_fd = remove_locked(f, found);
    return found;
}

void files_close_idle(struct depot_files *f, uint64_t now_us)
{
    int closed[FILES_MOST];
    size_t n = 0;

    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < FILES_MOST; i++) {
        struct depot_file *file = &f->files[i];
        if (is_idle_locked(file) && now_us >= file->left_at + FILES_IDLE_US)
            closed[n++] = remove_locked(f, file);
    }
    pthread_mutex_unlock(&f->lock);
    while (n > 0)
        close(closed[--n]);
}

/* Returns whether the client may use one more file.  Without this limit, a
 * client could occupy all elements with requests that it never reads to their
 * end.  Files shared with other hosts do not count. */
static bool may_take_place_locked(const struct depot_files *f,
                                  const struct depot_client *c)
{
    unsigned of_host = 0, of_client = 0;

    for (size_t i = 0; i < FILES_MOST; i++) {
        const struct depot_file *file = &f->files[i];
        if (file->n_users == 0 || file->is_of_many ||
            file->opener.host != c->host)
            continue;
        of_host++;
        of_client += !file->is_shared && file->opener.id == c->id;
    }
    return of_host < FILES_OF_HOST && of_client < FILES_OF_CLIENT;
}

static void note_user_locked(struct depot_file *file,
                             const struct depot_client *c)
{
    if (file->n_users++ == 0) {
        file->opener = *c;
        file->is_shared = file->is_of_many = false;
        return;
    }
    file->is_of_many |= file->opener.host != c->host;
    file->is_shared |= file->is_of_many || file->opener.id != c->id;
}

static void describe(struct depot_file *file)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed",
                                   "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const struct timespec at = file->is.st_mtim, changed = file->is.st_ctim;
    struct tm t;

    snprintf(file->etag, sizeof file->etag, "\"%llx-%llx-%llx.%lx-%llx.%lx\"",
             (unsigned long long)file->is.st_ino,
             (unsigned long long)file->is.st_size,
             (unsigned long long)at.tv_sec, (unsigned long)at.tv_nsec,
             (unsigned long long)changed.tv_sec,
             (unsigned long)changed.tv_nsec);
    if (gmtime_r(&at.tv_sec, &t) == NULL)
        return;
    snprintf(file->modified, sizeof file->modified,
             "%s, %02d %s %04d %02d:%02d:%02d GMT", days[t.tm_wday], t.tm_mday,
             months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

const char *files_modified(const struct depot_file *file)
{
    return file->modified[0] != '\0' &&
                   time(NULL) - file->is.st_mtim.tv_sec >= SETTLED_S
               ? file->modified
               : NULL;
}

/* Creates the circus of a file (circus/circus.h), unless the whole file
 * fits into the active region. */
static bool begin_circus(const struct depot_files *f, struct depot_file *file)
{
    const struct xd_circus_rules rules = {.active_bytes = f->active,
                                          .pool = f->pool};

    return file->io.size <= f->active ||
           xd_circus_new(&file->circus, file->io.size, &rules, NULL) == 0;
}

/* Fills in a new element.  On success, takes ownership of `fd`. */
static bool open_locked(struct depot_files *f, struct depot_file *file, int fd,
                        const struct stat *is, const char *path)
{
    *file =
        (struct depot_file){.name = strdup(path),
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

/* Finds or opens the file of *fd.  Returns NULL if there is no room.  *fd
 * becomes the descriptor that the caller must close, or -1. */
static struct depot_file *enter_locked(struct depot_files *f, int *fd,
                                       const struct stat *is, const char *path,
                                       const struct depot_client *c)
{
    struct depot_file *file = find_locked(f, is);
    int closed = -1;

    if ((file == NULL || file->n_users == 0) && !may_take_place_locked(f, c))
        return NULL;
    if (file == NULL) {
        file = make_place_locked(f, &closed);
        if (file == NULL)
            return NULL;
        if (!open_locked(f, file, *fd, is, path)) {
            if (closed >= 0)
                /* memory ran out, so do not care that close() may block
                 * others */
                close(closed);
            return NULL;
        }
        *fd = closed;
    }
    note_user_locked(file, c);
    file->used = ++f->n_uses;
    return file;
}

/* Returns the HTTP status for an error.  It is 503 for temporary errors,
 * because clients give up after 404. */
static unsigned status_without(int os_errno)
{
    return os_errno == EMFILE || os_errno == ENFILE || os_errno == ENOMEM
               ? MHD_HTTP_SERVICE_UNAVAILABLE
               : MHD_HTTP_NOT_FOUND;
}

struct depot_file *files_enter(struct depot_files *f, const char *path,
                               const struct depot_client *c,
                               unsigned *out_status)
{
    struct stat is;
    int fd = tree_open(f->folder, path, &is);

    if (fd < 0) {
        *out_status = status_without(errno);
        return NULL;
    }
    pthread_mutex_lock(&f->lock);
    struct depot_file *file = enter_locked(f, &fd, &is, path, c);
    pthread_mutex_unlock(&f->lock);
    if (fd >= 0)
        close(fd);
    if (file == NULL)
        *out_status = MHD_HTTP_SERVICE_UNAVAILABLE;
    return file;
}

void files_leave_locked(struct depot_files *f, struct depot_file *file)
{
    file->n_users--;
    file->used = ++f->n_uses;
    file->left_at = files_now();
}

uint64_t files_row_locked(const struct depot_file *file, uint64_t begin)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < FILES_ROWS; i++)
        if (file->rows[i].end == begin && file->rows[i].bytes > most)
            most = file->rows[i].bytes;
    return most;
}

void files_end_row_locked(struct depot_file *file, uint64_t end, uint64_t bytes)
{
    file->rows[file->n_rows++ % FILES_ROWS] = (struct depot_row){end, bytes};
}

struct xd_circus_client *files_client_locked(struct depot_file *file,
                                             uint64_t id)
{
    return file->circus != NULL ? xd_circus_enter(file->circus, id, files_now())
                                : NULL;
}
