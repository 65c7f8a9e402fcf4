/* SPDX-License-Identifier: MIT */
#include "publish/origin.h"

#include <string.h>
#include <xdownload/stream.h>

#include "base/alloc.h"
#include "base/error.h"
#include "command/readers.h"

struct xd_origin {
    /* Constant after open(). */
    uint64_t size;
    char stamp[XD_FILE_STAMP_SIZE];

    /* for a file */
    char *path;
    int fd;

    /* for a download */
    struct xd_source *source; /* the source of a download; NULL for a file */
    struct xd_reader **readers;
    size_t n_readers;
};

int xd_origin_open(struct xd_origin **out, const char *path,
                   struct xd_error *err)
{
    struct xd_origin *s = xd_alloc(1, sizeof *s);
    int rc;

    *out = NULL;
    if (!s)
        return xd_fail_nomem(err);
    s->fd = -1;
    s->path = xd_strdup(path);
    rc = s->path ? xd_file_open(&s->fd, &s->size, path, err)
                 : xd_fail_nomem(err);
    if (rc < 0) {
        xd_origin_free(s);
        return rc;
    }
    xd_file_stamp(s->fd, s->stamp);
    *out = s;
    return 0;
}

int xd_origin_fetch(struct xd_origin **out, struct xd_manifest *m, size_t file,
                    const struct xd_options *o, size_t n_readers,
                    struct xd_error *err)
{
    struct xd_file row = {.struct_size = sizeof row};
    struct xd_origin *s;
    int rc = xd_manifest_file(m, file, &row);

    *out = NULL;
    if (rc < 0)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    if (row.size == XD_SIZE_UNKNOWN)
        return xd_fail(err, XD_E_MANIFEST,
                       "%s: the manifest does not say its size",
                       row.path ? row.path : "(a file without a name)");
    s = xd_alloc(1, sizeof *s);
    if (!s)
        return xd_fail_nomem(err);
    s->fd = -1;
    s->size = row.size;
    s->readers = xd_alloc(n_readers, sizeof(struct xd_reader *));
    rc = s->readers ? xd_source_new(&s->source, m, file, o, err)
                    : xd_fail_nomem(err);
    while (rc == 0 && s->n_readers < n_readers) {
        rc = xd_reader_new(&s->readers[s->n_readers], s->source, err);
        s->n_readers += rc == 0;
    }
    if (rc < 0) {
        xd_origin_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

uint64_t xd_origin_size(const struct xd_origin *s)
{
    return s->size;
}

const char *xd_origin_stamp(const struct xd_origin *s)
{
    return s->stamp;
}

/* ---- reading ---- */

static int64_t read_some(struct xd_origin *s, size_t reader, uint64_t at,
                         void *to, size_t len, struct xd_error *err)
{
    struct xd_reader *r;
    int64_t n;

    if (!s->source)
        return xd_file_read(s->fd, s->path, at, to, len, err);
    r = s->readers[reader];
    n = xd_reader_position(r) == at ? (int64_t)at : xd_reader_seek(r, at);
    if (n >= 0)
        n = xd_reader_read(r, to, len, -1);
    if (n < 0 && err)
        xd_reader_error(r, err);
    return n;
}

int xd_origin_read(struct xd_origin *s, size_t reader, uint64_t at, void *to,
                   size_t len, struct xd_error *err)
{
    char *next = to;

    while (len > 0) {
        const int64_t n = read_some(s, reader, at, next, len, err);

        if (n < 0)
            return (int)n;
        if (n == 0)
            return xd_fail(err, XD_E_IO,
                           "%s: it has become shorter while it was sent: its "
                           "bytes end at %llu",
                           s->path ? s->path : "the file",
                           (unsigned long long)at);
        next += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

int xd_origin_end(struct xd_origin *s, size_t reader, struct xd_error *err)
{
    char byte;
    const int64_t n = read_some(s, reader, s->size, &byte, 1, err);

    return n < 0 ? (int)n : 0;
}

int xd_origin_check(const struct xd_origin *s, struct xd_error *err)
{
    char stamp[XD_FILE_STAMP_SIZE];

    if (s->source)
        return 0;
    xd_file_stamp(s->fd, stamp);
    if (strcmp(stamp, s->stamp) != 0)
        return xd_fail(err, XD_E_IO,
                       "%s: it was changed while it was sent: its copies would "
                       "be of no version of it",
                       s->path);
    return 0;
}

void xd_origin_interrupt(struct xd_origin *s)
{
    for (size_t i = 0; i < s->n_readers; i++)
        xd_reader_interrupt(s->readers[i], true);
}

void xd_origin_free(struct xd_origin *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_readers; i++)
        xd_reader_free(s->readers[i]);
    xd_free(s->readers);
    xd_source_unref(s->source);
    xd_file_close(s->fd);
    xd_free(s->path);
    xd_free(s);
}
