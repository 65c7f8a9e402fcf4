/* SPDX-License-Identifier: MIT */
#include "publish/make_hashes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "io/hash.h"
#include "os/cancel.h"
#include "os/clock.h"
#include "os/file.h"

typedef unsigned long long ull;

/* Shortest piece in bytes.  MirrorBrain uses the same length. */
#define PIECE_LEAST ((uint64_t)256 << 10)
#define PIECES_WANTED 1024

/* Largest number of pieces.  Their hashes take 40 MiB of text, and a manifest
 * may have 64 MiB. */
#define PIECES_MOST 500000

/* Bytes read at a time. */
#define BUFFER_BYTES ((size_t)256 << 10)

#define REPORT_EVERY (XD_SECOND / 2)

uint64_t xd_make_piece_bytes(uint64_t size)
{
    uint64_t bytes = PIECE_LEAST;

    while (size / bytes >= PIECES_WANTED && size > PIECES_WANTED * bytes)
        bytes *= 2;
    return bytes;
}

uint64_t xd_make_fitting_piece_bytes(uint64_t size, uint64_t *extent_bytes)
{
    const uint64_t most = xd_make_piece_bytes(size), bytes = *extent_bytes;
    const uint64_t n = bytes / most + (bytes % most > 0);

    if (bytes >= size)
        return most;
    *extent_bytes -= bytes % n;
    return *extent_bytes / n;
}

int xd_make_hashes_init(struct xd_make_hashes *h, uint64_t size,
                        uint64_t piece_bytes, struct xd_error *err)
{
    uint64_t n;

    *h = (struct xd_make_hashes){.size = size};
    h->piece_bytes = piece_bytes > 0 ? piece_bytes : xd_make_piece_bytes(size);
    n = size / h->piece_bytes + (size % h->piece_bytes > 0);
    if (n > PIECES_MOST)
        return xd_fail(err, XD_E_INVAL,
                       "%llu bytes are %llu pieces of %llu bytes, and a "
                       "manifest has no more than %d: choose longer ones",
                       (ull)size, (ull)n, (ull)h->piece_bytes, PIECES_MOST);
    if (n < 2)
        return 0;
    h->pieces = xd_alloc((size_t)n, sizeof *h->pieces);
    if (!h->pieces)
        return xd_fail_nomem(err);
    h->n = (size_t)n;
    return 0;
}

void xd_make_hashes_fini(struct xd_make_hashes *h)
{
    xd_free(h->pieces);
    *h = (struct xd_make_hashes){0};
}

/* The state while a file is read. */
struct reading {
    struct xd_make_hashes *hashes;
    const char *path;
    int fd;
    struct xd_hasher *whole, *piece;
    unsigned char *buffer;
    uint64_t at;
    const struct xd_options *options;
    xd_usec report_at;
};

static void end_hash(struct xd_hasher *hasher, char out[XD_MAKE_HEX + 1])
{
    char hex[XD_HASH_HEX_MAX + 1];

    xd_hasher_end(hasher, hex);
    memcpy(out, hex, XD_MAKE_HEX);
    out[XD_MAKE_HEX] = '\0';
}

static void report(struct reading *r)
{
    const struct xd_options *o = r->options;
    struct xd_text line = {0};
    xd_usec now = xd_now();

    if (!o->log || now < r->report_at)
        return;
    r->report_at = now + REPORT_EVERY;
    xd_text_addf(&line, "reading %s: %u %%", xd_path_name(r->path),
                 (unsigned)(100 * ((double)r->at / (double)r->hashes->size)));
    if (!line.failed)
        o->log(o->log_user, XD_LOG_STATUS, line.s);
    xd_text_fini(&line);
}

/* Reads up to the end of the buffer or of the piece, whichever is nearer. */
static int64_t read_some(struct reading *r, struct xd_error *err)
{
    const struct xd_make_hashes *h = r->hashes;
    uint64_t left = h->size - r->at,
             of_piece = h->piece_bytes - r->at % h->piece_bytes;
    size_t len = BUFFER_BYTES;

    if (len > left)
        len = (size_t)left;
    if (len > of_piece)
        len = (size_t)of_piece;
    return xd_file_read(r->fd, r->path, r->at, r->buffer, len, err);
}

static int fail_changed(const struct reading *r, struct xd_error *err)
{
    return xd_fail(err, XD_E_IO,
                   "%s: it was changed while it was read: try again when "
                   "nothing writes to it",
                   r->path);
}

static int read_all(struct reading *r, struct xd_error *err)
{
    struct xd_make_hashes *h = r->hashes;

    while (r->at < h->size) {
        size_t piece = (size_t)(r->at / h->piece_bytes);
        int64_t n = read_some(r, err);

        if (n <= 0)
            return n < 0 ? (int)n : fail_changed(r, err);
        if (r->options->cancel && xd_cancel_is_triggered(r->options->cancel))
            return xd_fail(err, XD_E_CANCELED, "the caller has canceled it");
        xd_hasher_add(r->whole, r->buffer, (size_t)n);
        if (h->n > 0)
            xd_hasher_add(r->piece, r->buffer, (size_t)n);
        r->at += (uint64_t)n;
        if (h->n > 0 && (r->at % h->piece_bytes == 0 || r->at == h->size))
            end_hash(r->piece, h->pieces[piece]);
        report(r);
    }
    end_hash(r->whole, h->whole);
    return 0;
}

static int hash_file(struct reading *r, uint64_t size, uint64_t piece_bytes,
                     struct xd_error *err)
{
    char before[XD_FILE_STAMP_SIZE], after[XD_FILE_STAMP_SIZE];
    uint64_t size_after;
    int fd, rc = xd_make_hashes_init(r->hashes, size, piece_bytes, err);

    r->buffer = xd_alloc(1, BUFFER_BYTES);
    if (rc == 0 &&
        (!r->buffer || xd_hasher_new(&r->whole, "sha-256", NULL) < 0 ||
         xd_hasher_new(&r->piece, "sha-256", NULL) < 0))
        rc = xd_fail_nomem(err);
    xd_file_stamp(r->fd, before);
    if (rc == 0)
        rc = read_all(r, err);
    xd_file_stamp(r->fd, after);
    if (rc == 0 && strcmp(before, after) != 0)
        rc = fail_changed(r, err);
    if (rc < 0)
        return rc;
    /* The file may have grown so recently that its stamp did not change. */
    rc = xd_file_open(&fd, &size_after, r->path, err);
    if (rc < 0)
        return rc;
    xd_file_close(fd);
    return size_after == size ? 0 : fail_changed(r, err);
}

int xd_make_hashes_read(struct xd_make_hashes *h, const char *path,
                        uint64_t piece_bytes, const struct xd_options *o,
                        struct xd_error *err)
{
    struct reading r = {.hashes = h,
                        .path = path,
                        .options = o,
                        .report_at = xd_now() + REPORT_EVERY};
    uint64_t size;
    int rc = xd_file_open(&r.fd, &size, path, err);

    *h = (struct xd_make_hashes){0};
    if (rc < 0)
        return rc;
    rc = hash_file(&r, size, piece_bytes, err);
    xd_hasher_free(r.whole);
    xd_hasher_free(r.piece);
    xd_free(r.buffer);
    xd_file_close(r.fd);
    return rc;
}
