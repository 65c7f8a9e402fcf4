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

struct file_sink {
    struct xd_sink base;
    /* Constant after new(). */
    char *path, *part;
    bool replace;
    int folder;    /* that both lie in; -1: they lie in none */
    unsigned made; /* folders for it, that one included */
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
    int rc = xd_file_check_size(f->fd, f->part, reached, err);

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
    if (xd_folder_is_of(f->folder, f->path))
        return 0;
    return xd_fail(
        err, XD_E_IO,
        "%s: its folder was moved or replaced meanwhile, and has all "
        "of it, as .part",
        f->path);
}

static int give_name(struct file_sink *f, struct xd_error *err)
{
    int rc = 0;

    if (!xd_file_has_name(f->fd, f->folder, f->part))
        rc = xd_fail(err, XD_E_IO, "%s: it was removed or replaced meanwhile",
                     f->part);
    if (rc == 0)
        rc = check_folder(f, err);
    if (rc == 0)
        rc = xd_file_rename(f->folder, f->part, f->path, f->replace, err);
    if (rc == 0 && !f->stays_private)
        xd_file_publish(f->fd, f->folder);
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
    return rc == 0 ? give_name(f, err) : rc;
}

int xd_file_sink_finish_synced(struct xd_sink *s, uint64_t size,
                               struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;
    int rc = xd_file_check_size(f->fd, f->part, size, err);

    return rc == 0 ? give_name(f, err) : rc;
}

static void release(struct file_sink *f)
{
    if (f->folder >= 0) {
        xd_folder_unmake(f->folder, f->made, f->path); /* if it is empty */
        xd_file_close(f->folder);
    }
    xd_free(f->part);
    xd_free(f->path);
    xd_free(f);
}

static void file_free(struct xd_sink *s)
{
    struct file_sink *f = (struct file_sink *)s;

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
    return ((const struct file_sink *)s)->folder;
}

uint64_t xd_file_sink_found(const struct xd_sink *s)
{
    return ((const struct file_sink *)s)->found;
}

unsigned xd_file_sink_made(const struct xd_sink *s)
{
    return ((const struct file_sink *)s)->made;
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

bool xd_file_sink_remove_empty(struct xd_sink *s)
{
    const struct file_sink *f = (const struct file_sink *)s;

    return f->folder >= 0 && xd_file_remove_empty(f->fd, f->folder, f->part);
}

int xd_file_sink_sync(struct xd_sink *s, struct xd_error *err)
{
    return sync_file((struct file_sink *)s, err);
}

int xd_file_sink_sync_name(struct xd_sink *s, struct xd_error *err)
{
    struct file_sink *f = (struct file_sink *)s;

    return xd_folder_sync(f->folder, f->path, err);
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
    f->folder = -1;
    f->path = xd_strdup(path);
    f->part = part.s;
    if (f->path != NULL && !part.failed)
        return f;
    release(f);
    return NULL;
}

/* finish() refuses to replace too; here it is said before a byte is spent. */
static int create(struct file_sink *f, size_t given, struct xd_error *err)
{
    int rc = xd_folder_make(&f->folder, &f->made, f->path, given, err);

    if (rc < 0)
        return rc;
    if (!f->replace && xd_file_exists(f->folder, f->path))
        return xd_fail(err, XD_E_IO, "%s: already exists", f->path);
    /* A renaming was killed between its two steps. */
    if (xd_file_is_same(f->folder, f->part, f->path))
        rc = xd_file_remove(f->folder, f->part, err);
    return rc < 0 ? rc
                  : xd_file_own_private(&f->fd, &f->found, f->folder, f->part,
                                        err);
}

int xd_file_sink_new(struct xd_sink **out, const char *path, size_t given,
                     bool replace, struct xd_error *err)
{
    struct file_sink *f = make(path, XD_PART);
    int rc;

    if (f == NULL)
        return xd_fail_nomem(err);
    f->replace = replace;
    rc = create(f, given, err);
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
    rc = xd_file_own_private(&f->fd, &f->found, of->folder, f->part, err);
    if (rc < 0) {
        release(f);
        return rc;
    }
    rc = xd_file_truncate(f->fd, f->part, 0, err);
    if (rc == 0)
        rc = xd_file_remove(of->folder, f->part, err);
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
    f->folder = -1;
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
