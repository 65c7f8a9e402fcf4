/* SPDX-License-Identifier: MIT */
/*
 * A sink for a file that has the name PATH.part until it is complete.
 */
#include "io/sinks/sink.h"

#include <stdatomic.h>
#include <string.h>

#include <poll.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/number.h"
#include "io/part.h"
#include "os/file.h"
#include "os/file_note.h"
#include "os/file_watch.h"

/* bytes compared at a time */
#define COMPARED_BYTES ((size_t)16 << 10)

/* A folder, open as long as one of its files is. */
struct folder {
    /* constant after new() */
    int fd;
    unsigned made; /* number of folders that were created, including this one */
    char *path;    /* path of a file in the folder */
    /* Accessed atomically. */
    atomic_uint n_users;
    atomic_bool is_elsewhere; /* the folder was moved or replaced */
    /* owned by the thread that calls finish() */
    /* rights of new files; unknown at first */
    struct xd_file_rights new_rights;
};

struct file_sink {
    struct xd_sink base;
    /* constant after new() */
    char *path, *part;
    bool replace;
    /* folder of both files; NULL: the file has no name */
    struct folder *folder;
    int fd;
    uint64_t found;
    atomic_uint_least64_t reached; /* end of the bytes written so far */
    /* odd while the file is closed for renaming */
    atomic_uint n_moves;
    bool stays_private;
    int watch; /* watches PATH.part; -1: not watched */
    /* owned by the thread that calls sync() and finish() */
    bool is_lost;    /* a sync failed; a later one might wrongly succeed */
    bool was_opened; /* another program opened PATH.part */
};

static int file_write(struct xd_sink *s, uint64_t offset, const void *data,
                      size_t len, struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;
    uint_least64_t reached = atomic_load(&f->reached);
    int rc = 0;

    if (reached > 0)
        rc = xd_file_check_size(f->fd, f->part, reached, err);
    if (rc == 0)
        rc = xd_file_write(f->fd, f->part, offset, data, len, err);
    if (rc < 0)
        return rc;
    while (offset + len > reached &&
           !atomic_compare_exchange_weak(&f->reached, &reached, offset + len))
        ;
    return 0;
}

/* Repeats a read that failed because rename_closed() was running. */
static int64_t read_some(struct file_sink *f, uint64_t offset, void *data,
                         size_t len, struct xd_error *err)
{
    for (;;) {
        const unsigned before = atomic_load(&f->n_moves);
        const int64_t n = xd_file_read(f->fd, f->part, offset, data, len, err);

        if (n >= 0 || (before % 2 == 0 && atomic_load(&f->n_moves) == before))
            return n;
        poll(NULL, 0, 1); /* wait for the renaming */
    }
}

static int file_read(struct xd_sink *s, uint64_t offset, void *data, size_t len,
                     struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;
    unsigned char *to = data;

    while (len > 0) {
        int64_t n = read_some(f, offset, to, len, err);

        if (n < 0)
            return (int)n;
        if (n == 0)
            return xd_fail(err, XD_E_IO, "%s: it was cut at %llu meanwhile",
                           f->part, (unsigned long long)offset);
        offset += (uint64_t)n;
        to += n;
        len -= (size_t)n;
    }
    return 0;
}

static int sync_file(struct file_sink *f, struct xd_error *err)
{
    int rc;

    if (f->is_lost)
        return xd_fail(err, XD_E_IO, "%s: could not be synced to the disk",
                       f->part);
    rc = xd_file_sync(f->fd, f->part, err);
    f->is_lost = rc < 0;
    return rc;
}

/* Checks that the folder is still at its path.  If the folder was moved, the
 * user would not find the file there, and a new folder in its place is not
 * ours. */
static int check_folder(struct file_sink *f, struct xd_error *err)
{
    if (xd_folder_is_of(f->folder->fd, f->path))
        return 0;
    atomic_store(&f->folder->is_elsewhere, true);
    return xd_fail(
        err, XD_E_IO,
        "%s: its folder was moved or replaced meanwhile, and has all "
        "of it, as .part",
        f->path);
}

/* Returns the rights of the file that is replaced, or else of a new file. */
static struct xd_file_rights choose_rights(const struct file_sink *f)
{
    struct folder *in = f->folder;
    struct xd_file_rights old = {0};

    if (f->replace)
        old = xd_file_rights_of(in->fd, f->path);
    if (old.is_known)
        return old;
    if (!in->new_rights.is_known)
        in->new_rights = xd_folder_new_rights(in->fd);
    return in->new_rights;
}

static int rename_closed(struct file_sink *f, struct xd_error *err)
{
    int rc;

    atomic_fetch_add(&f->n_moves, 1);
    rc = xd_file_rename_closed(f->fd, f->folder->fd, f->part, f->path,
                               f->replace, err);
    atomic_fetch_add(&f->n_moves, 1);
    return rc;
}

/* Renames the .part.  SMB and shared folders of virtual machines cannot rename
 * open files.  They report that by different errno values, so every failure
 * leads to a second attempt with the file closed. */
static int rename_part(struct file_sink *f, struct xd_error *err)
{
    struct xd_error refusal = {0};
    const int rc =
        xd_file_rename(f->folder->fd, f->part, f->path, f->replace, &refusal);

    if (rc < 0 && refusal.os_errno != 0)
        return rename_closed(f, err);
    if (rc < 0 && err)
        *err = refusal;
    return rc;
}

/* Renames the complete file, whose `size` bytes are on the disk. */
static int give_name(struct file_sink *f, uint64_t size, struct xd_error *err)
{
    struct xd_file_rights rights = {0};
    int rc = xd_file_check_whole(f->fd, f->folder->fd, f->part, size, err);

    if (rc == 0)
        rc = xd_file_flush(f->fd, f->part, err);
    if (rc == 0)
        rc = check_folder(f, err);
    if (rc == 0 && !f->stays_private)
        rights = choose_rights(f);
    if (rc == 0)
        rc = rename_part(f, err);
    if (rc == 0)
        xd_file_set_rights(f->fd, &rights);
    return rc;
}

static int file_finish(struct xd_sink *s, uint64_t size, struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;
    int rc = xd_file_check_size(f->fd, f->part, size, err);

    if (rc == 0)
        rc = xd_file_truncate(f->fd, f->part, size, err);
    /* the sync comes first, so that no power failure leaves a name without its
     * bytes */
    if (rc == 0)
        rc = sync_file(f, err);
    return rc == 0 ? give_name(f, size, err) : rc;
}

int xd_file_sink_finish_synced(struct xd_sink *s, uint64_t size,
                               struct xd_error *err)
{
    return give_name((struct file_sink *)s, size, err);
}

/* Returns how many bytes from `offset` are equal in both files, at most `most`,
 * which must fit into the buffers. */
static int64_t count_equal(const struct file_sink *f, int other,
                           uint64_t offset, size_t most, struct xd_error *err)
{
    unsigned char a[COMPARED_BYTES], b[COMPARED_BYTES];
    int64_t n = xd_file_read(f->fd, f->part, offset, a, most, err);
    int64_t m = n < 0 ? n : xd_file_read(other, f->path, offset, b, most, err);
    int64_t i = 0;

    if (m < 0)
        return m;
    while (i < n && i < m && a[i] == b[i])
        i++;
    return i;
}

static int compare(const struct file_sink *f, int other, uint64_t size,
                   struct xd_error *err)
{
    uint64_t at = 0;

    while (at < size) {
        size_t most = COMPARED_BYTES;
        int64_t n;

        if (most > size - at)
            most = (size_t)(size - at);
        n = count_equal(f, other, at, most, err);
        if (n < 0)
            return (int)n;
        at += (uint64_t)n;
        if ((size_t)n < most)
            return xd_fail(
                err, XD_E_IO,
                "%s exists already, and differs from byte %llu on: "
                "-N replaces it if the server's is newer, --force in "
                "any case",
                f->path, (unsigned long long)at);
    }
    return 0;
}

int xd_file_sink_match(struct xd_sink *s, uint64_t size, struct xd_error *err)
{
    const struct file_sink *f = (const struct file_sink *)s;
    uint64_t there;
    int other;
    int rc = xd_file_open(&other, &there, f->path, err);

    if (rc < 0)
        return rc;
    rc = there != size
             ? xd_fail(err, XD_E_IO,
                       "%s exists already, and has %llu bytes instead of %llu: "
                       "-N replaces it if the server's is newer, --force in "
                       "any case",
                       f->path, (unsigned long long)there,
                       (unsigned long long)size)
             : compare(f, other, size, err);
    xd_file_close(other);
    return rc == 0 ? xd_file_sink_empty(s, err) : rc;
}

static void leave_folder(struct folder *in)
{
    if (!in || atomic_fetch_sub(&in->n_users, 1) > 1)
        return;
    if (in->fd >= 0) {
        /* removes the folders if they are empty */
        xd_folder_unmake(in->fd, in->made, in->path);
        xd_file_close(in->fd);
    }
    xd_free(in->path);
    xd_free(in);
}

static void release(struct file_sink *f)
{
    leave_folder(f->folder);
    xd_free(f->part);
    xd_free(f->path);
    xd_free(f);
}

static void file_free(struct xd_sink *s)
{
    struct file_sink *f = (struct file_sink *)s;

    if (atomic_load(&f->reached) == 0)
        xd_file_sink_remove_empty(s);
    if (f->watch >= 0)
        xd_file_close(f->watch);
    xd_file_close(f->fd);
    release(f);
}

static const struct xd_sink_ops file_ops = {.write = file_write,
                                            .read = file_read,
                                            .finish = file_finish,
                                            .free = file_free};

static int spool_finish(struct xd_sink *s, uint64_t size, struct xd_error *err)
{
    (void)s;
    (void)size;
    (void)err;
    return 0;
}

static const struct xd_sink_ops spool_ops = {.write = file_write,
                                             .read = file_read,
                                             .finish = spool_finish,
                                             .free = file_free};

int xd_file_sink_folder(const struct xd_sink *s)
{
    return ((const struct file_sink *)s)->folder->fd;
}

uint64_t xd_file_sink_found(const struct xd_sink *s)
{
    return ((const struct file_sink *)s)->found;
}

unsigned xd_file_sink_made(const struct xd_sink *s)
{
    return ((const struct file_sink *)s)->folder->made;
}

const char *xd_file_sink_part(const struct xd_sink *s)
{
    return ((const struct file_sink *)s)->part;
}

int xd_file_sink_empty(struct xd_sink *s, struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;

    atomic_store(&f->reached, 0);
    return xd_file_truncate(f->fd, f->part, 0, err);
}

void xd_file_sink_keep_private(struct xd_sink *s)
{
    ((struct file_sink *)s)->stays_private = true;
}

void xd_file_sink_set_time(struct xd_sink *s, int64_t modified)
{
    xd_file_set_time(((const struct file_sink *)s)->fd, modified);
}

void xd_file_sink_set_note(struct xd_sink *s, const char *text)
{
    xd_file_set_note(((const struct file_sink *)s)->fd, text);
}

bool xd_file_sink_remove_empty(struct xd_sink *s)
{
    const struct file_sink *f = (const struct file_sink *)s;

    return f->folder && xd_file_remove_empty(f->fd, f->folder->fd, f->part);
}

void xd_file_sink_watch(struct xd_sink *s)
{
    struct file_sink *f = (struct file_sink *)s;

    f->watch = xd_file_watch(f->fd, f->found == 0);
}

bool xd_file_sink_was_opened(struct xd_sink *s)
{
    struct file_sink *f = (struct file_sink *)s;

    f->was_opened = f->was_opened || xd_file_was_opened(f->watch);
    return f->was_opened;
}

int xd_file_sink_sync(struct xd_sink *s, struct xd_error *err)
{
    return sync_file((struct file_sink *)s, err);
}

int xd_file_sink_sync_name(struct xd_sink *s, struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;

    return xd_folder_sync(f->folder->fd, f->path, err);
}

int xd_file_sink_space(struct xd_sink *s, uint64_t *out_bytes,
                       struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;
    uint64_t left, taken;
    int rc = xd_file_space(f->fd, f->part, &left, &taken, err);

    if (rc == 0 && !xd_add_u64(left, taken, out_bytes))
        *out_bytes = UINT64_MAX;
    return rc;
}

/* Makes a sink with its names; nothing is opened. */
static struct file_sink *make(const char *path, const char *suffix)
{
    struct file_sink *f = xd_alloc(1, sizeof *f);
    struct xd_text part = {0};

    if (f == NULL)
        return NULL;
    xd_part_path(&part, path, suffix);
    f->base.ops = &file_ops;
    f->watch = -1;
    atomic_init(&f->n_moves, 0);
    f->path = xd_strdup(path);
    f->part = part.s;
    if (f->path != NULL && !part.failed)
        return f;
    release(f);
    return NULL;
}

static int enter_folder(struct folder **out, const char *path, size_t given,
                        struct xd_error *err)
{
    struct folder *in = xd_alloc(1, sizeof *in);
    int rc;

    *out = in;
    if (in == NULL)
        return xd_fail_nomem(err);
    atomic_init(&in->n_users, 1);
    atomic_init(&in->is_elsewhere, false);
    in->fd = -1;
    in->path = xd_strdup(path);
    if (in->path == NULL)
        return xd_fail_nomem(err);
    rc = xd_folder_make(&in->fd, &in->made, path, given, err);
    if (rc < 0)
        in->fd = -1;
    return rc;
}

static bool is_in(const struct folder *in, const char *path)
{
    return xd_path_is_beside(in->path, path) && !atomic_load(&in->is_elsewhere);
}

/* Removes the second name that a killed rename left behind. */
static bool remove_second_name(const struct file_sink *f)
{
    return xd_file_is_same(f->folder->fd, f->part, f->path) &&
           xd_file_remove(f->folder->fd, f->part, NULL) == 0;
}

static int own_part(struct file_sink *f, struct xd_error *err)
{
    const int folder = f->folder->fd;
    struct xd_error why = {0};
    int rc = xd_file_own_private(&f->fd, &f->found, folder, f->part, &why);

    if (rc < 0 && remove_second_name(f))
        rc = xd_file_own_private(&f->fd, &f->found, folder, f->part, &why);
    if (rc < 0 && xd_file_means_bad_name(why.os_errno))
        return xd_file_fail_name(f->path, why.os_errno, err);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* Checks for an existing file at once.  finish() would also refuse to replace
 * it, but only after the download. */
static int create(struct file_sink *f, struct xd_error *err)
{
    const int folder = f->folder->fd;
    const int rc = xd_file_check_name(folder, f->path, err);

    if (rc < 0)
        return rc;
    if (!f->replace && xd_file_exists(folder, f->path))
        return xd_fail(err, XD_E_IO, "%s: already exists", f->path);
    return own_part(f, err);
}

int xd_file_sink_new(struct xd_sink **out, const char *path, size_t given,
                     bool replace, struct xd_error *err)
{
    return xd_file_sink_new_beside(out, NULL, path, given, replace, err);
}

int xd_file_sink_new_beside(struct xd_sink **out, const struct xd_sink *beside,
                            const char *path, size_t given, bool replace,
                            struct xd_error *err)
{
    struct folder *in =
        beside ? ((const struct file_sink *)beside)->folder : NULL;
    struct file_sink *f = make(path, XD_PART);
    int rc = 0;

    if (f == NULL)
        return xd_fail_nomem(err);
    f->replace = replace;
    if (in && is_in(in, path)) {
        atomic_fetch_add(&in->n_users, 1);
        f->folder = in;
    } else {
        rc = enter_folder(&f->folder, path, given, err);
    }
    if (rc == 0)
        rc = create(f, err);
    if (rc < 0) {
        release(f);
        return rc;
    }
    *out = &f->base;
    return 0;
}

int xd_scratch_sink_new(struct xd_sink **out, const struct xd_sink *beside,
                        struct xd_error *err)
{
    const struct file_sink *of = (const struct file_sink *)beside;
    struct file_sink *f = make(of->path, XD_PART_SCRATCH);
    int rc;

    if (f == NULL)
        return xd_fail_nomem(err);
    rc = xd_file_own_private(&f->fd, &f->found, of->folder->fd, f->part, err);
    if (rc < 0) {
        release(f);
        return rc;
    }
    rc = xd_file_truncate(f->fd, f->part, 0, err);
    if (rc == 0)
        rc = xd_file_remove(of->folder->fd, f->part, err);
    if (rc < 0) {
        file_free(&f->base);
        return rc;
    }
    *out = &f->base;
    return 0;
}

int xd_spool_sink_new(struct xd_sink **out, const char *folder,
                      struct xd_error *err)
{
    struct file_sink *f = xd_alloc(1, sizeof *f);
    int rc;

    if (f == NULL)
        return xd_fail_nomem(err);
    f->base.ops = &spool_ops;
    f->watch = -1;
    f->part = xd_strdup(folder); /* path for error messages */
    rc = f->part != NULL ? xd_file_temporary(&f->fd, folder, err)
                         : xd_fail_nomem(err);
    if (rc < 0) {
        release(f);
        return rc;
    }
    *out = &f->base;
    return 0;
}
