/* SPDX-License-Identifier: MIT */
/*
 * A file that has its name only when it is complete.
 */
#include "io/sinks/sink.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/number.h"
#include "io/part.h"
#include "os/file.h"

/* At a time. */
#define COMPARED_BYTES ((size_t)16 << 10)

/* What files lie in, open as long as one of them is. */
struct folder {
    /* Constant after new(). */
    int fd;
    unsigned made; /* folders for it, itself included */
    char *path;    /* of a file in it */
    /* Atomic. */
    atomic_uint n_users;
    atomic_bool is_elsewhere; /* it was moved or replaced */
    /* Owned by the thread that calls finish(). */
    bool has_mode;
    unsigned mode; /* of new files in it */
};

struct file_sink {
    struct xd_sink base;
    /* Constant after new(). */
    char *path, *part;
    bool replace;
    struct folder *folder; /* that both lie in; NULL: they lie in none */
    int fd;
    uint64_t found;
    atomic_uint_least64_t reached; /* so far it has been written to */
    bool stays_private;
    /* Owned by the thread that calls sync() and finish(). */
    bool is_lost; /* a sync has failed: the next might succeed without it */
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

static int file_read(struct xd_sink *s, uint64_t offset, void *data, size_t len,
                     struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;
    unsigned char *to = data;

    while (len > 0) {
        int64_t n = xd_file_read(f->fd, f->part, offset, to, len, err);

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

/* In a folder that was moved away it would not be found; what stands in its
 * place is not ours to write to. */
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

static void publish(const struct file_sink *f)
{
    struct folder *in = f->folder;

    if (!in->has_mode)
        in->mode = xd_folder_new_mode(in->fd);
    in->has_mode = true;
    xd_file_publish(f->fd, in->mode);
}

/* All its `size` bytes are on the disk. */
static int give_name(struct file_sink *f, uint64_t size, struct xd_error *err)
{
    const int folder = f->folder->fd;
    int rc = xd_file_check_whole(f->fd, folder, f->part, size, err);

    if (rc == 0)
        rc = check_folder(f, err);
    if (rc == 0)
        rc = xd_file_rename(folder, f->part, f->path, f->replace, err);
    if (rc == 0 && !f->stays_private)
        publish(f);
    return rc;
}

static int file_finish(struct xd_sink *s, uint64_t size, struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;
    int rc = xd_file_check_size(f->fd, f->part, size, err);

    if (rc == 0)
        rc = xd_file_truncate(f->fd, f->part, size, err);
    /* In this order a power cut never leaves a name without its bytes. */
    if (rc == 0)
        rc = sync_file(f, err);
    return rc == 0 ? give_name(f, size, err) : rc;
}

int xd_file_sink_finish_synced(struct xd_sink *s, uint64_t size,
                               struct xd_error *err)
{
    return give_name((struct file_sink *)s, size, err);
}

/* How many bytes from `offset` on are the same in both; `most`, which fits into a
 * buffer, if all are. */
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
            return xd_fail(err, XD_E_IO,
                           "%s exists already, and differs from byte %llu on: "
                           "--force replaces it",
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
                       "--force replaces it",
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
        xd_folder_unmake(in->fd, in->made, in->path); /* if it is empty */
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

bool xd_file_sink_remove_empty(struct xd_sink *s)
{
    const struct file_sink *f = (const struct file_sink *)s;

    return f->folder && xd_file_remove_empty(f->fd, f->folder->fd, f->part);
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

/* Anew, with all names that it may have. */
static struct file_sink *make(const char *path, const char *suffix)
{
    struct file_sink *f = xd_alloc(1, sizeof *f);
    struct xd_text part = {0};

    if (f == NULL)
        return NULL;
    xd_part_path(&part, path, suffix);
    f->base.ops = &file_ops;
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

/* Whether that folder is the one of the path. */
static bool is_in(const struct folder *in, const char *path)
{
    return xd_path_is_beside(in->path, path) && !atomic_load(&in->is_elsewhere);
}

/* Of a renaming that was killed between its two steps. */
static bool remove_second_name(const struct file_sink *f)
{
    return xd_file_is_same(f->folder->fd, f->part, f->path) &&
           xd_file_remove(f->folder->fd, f->part, NULL) == 0;
}

/* finish() refuses to replace too; here it is said before a byte is spent. */
static int create(struct file_sink *f, struct xd_error *err)
{
    const int folder = f->folder->fd;
    int rc;

    if (!f->replace && xd_file_exists(folder, f->path))
        return xd_fail(err, XD_E_IO, "%s: already exists", f->path);
    rc = xd_file_own_private(&f->fd, &f->found, folder, f->part, err);
    if (rc < 0 && remove_second_name(f))
        rc = xd_file_own_private(&f->fd, &f->found, folder, f->part, err);
    return rc;
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
    f->part = xd_strdup(folder); /* what errors name */
    rc = f->part != NULL ? xd_file_temporary(&f->fd, folder, err)
                         : xd_fail_nomem(err);
    if (rc < 0) {
        release(f);
        return rc;
    }
    *out = &f->base;
    return 0;
}
