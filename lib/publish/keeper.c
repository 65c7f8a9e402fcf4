/* SPDX-License-Identifier: MIT */
/*
 * The keeper of an upload: it hashes the file from its beginning to its end, so
 * that extents can be sent, writes the book whenever that has changed, and ends
 * the upload.
 */
#include "publish/upload.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define BLOCK ((size_t)1 << 20) /* that is read and hashed at a time */

/* ---- the book ---- */

/* Write it as it is now.  The lock is released meanwhile. */
static void write_book_locked(struct xd_upload *u, bool is_over)
{
    char *private_text, *public_text;
    struct xd_error error;
    int rc;

    u->is_dirty = false;
    rc = xd_book_texts(u->book, is_over, &private_text, &public_text, &error);
    if (rc == 0) {
        xd_mutex_unlock(&u->lock);
        rc = xd_book_write(u->book, private_text, public_text, &error);
        xd_manifest_text_free(private_text);
        xd_manifest_text_free(public_text);
        xd_mutex_lock(&u->lock);
    }
    if (rc < 0)
        xd_upload_fail_locked(u, &error);
}

/* Between two blocks. */
static bool look_up(struct xd_upload *u)
{
    bool goes_on;

    xd_mutex_lock(&u->lock);
    if (u->is_dirty && !xd_upload_is_ending_locked(u))
        write_book_locked(u, false);
    goes_on = !xd_upload_is_ending_locked(u);
    xd_mutex_unlock(&u->lock);
    return goes_on;
}

/* ---- hashing ---- */

/* Three hashes of one pass: of the extent, of the piece, and of all. */
struct hashing {
    struct xd_upload *u;
    struct xd_hasher *whole, *piece, *extent;
    char *block;
    uint64_t at; /* the next byte */
};

static void fail(struct xd_upload *u, const struct xd_error *why)
{
    xd_mutex_lock(&u->lock);
    xd_upload_fail_locked(u, why);
    xd_mutex_unlock(&u->lock);
}

static void end_piece(struct hashing *h)
{
    const struct xd_model_pieces *p = &h->u->pieces;
    const uint64_t i = (h->at - 1) / p->piece_bytes;
    char hex[XD_HASH_HEX_MAX + 1];

    xd_hasher_end(h->piece, hex);
    memcpy(p->hex + i * p->stride, hex, p->stride);
}

static void add(struct hashing *h, const char *data, size_t len)
{
    const uint64_t piece = h->u->pieces.piece_bytes;
    const uint64_t size = xd_origin_size(h->u->origin);

    xd_hasher_add(h->whole, data, len);
    xd_hasher_add(h->extent, data, len);
    while (len > 0) {
        const uint64_t left = piece - h->at % piece;
        const size_t n = left < len ? (size_t)left : len;

        xd_hasher_add(h->piece, data, n);
        h->at += n;
        data += n;
        len -= n;
        if (h->at % piece == 0 || h->at == size)
            end_piece(h);
    }
}

/* False: it failed, or the upload ends. */
static bool hash_until(struct hashing *h, uint64_t end)
{
    struct xd_error error;

    while (h->at < end) {
        const uint64_t left = end - h->at;
        const size_t n = left < BLOCK ? (size_t)left : BLOCK;

        if (xd_origin_read(h->u->origin, h->u->n_workers, h->at, h->block, n,
                           &error) < 0) {
            fail(h->u, &error);
            return false;
        }
        add(h, h->block, n);
        if (!look_up(h->u))
            return false;
    }
    return true;
}

/* What an earlier run has sent of it has to be what it is now. */
static bool is_as_before(struct xd_upload *u, size_t i)
{
    struct xd_error error;

    if (u->expected[i][0] == '\0' || strcmp(u->expected[i], u->digests[i]) == 0)
        return true;
    xd_fail(&error, XD_E_STATE,
            "%s: it has changed since an earlier upload was begun, which %s "
            "goes on with: to begin anew, use --force",
            u->file_name, xd_book_private_path(u->book));
    fail(u, &error);
    return false;
}

/* The extents of a heal need not follow each other: what lies between them is
 * hashed for the file, and read for that. */
static bool hash_extent(struct hashing *h, size_t i)
{
    struct xd_upload *u = h->u;
    const struct xd_range range = xd_plan_range(u->plan, i);
    char hex[XD_HASH_HEX_MAX + 1];

    if (!hash_until(h, range.begin))
        return false;
    xd_hasher_end(h->extent, hex);
    if (!hash_until(h, range.end))
        return false;
    xd_hasher_end(h->extent, hex);
    memcpy(u->digests[i], hex, sizeof u->digests[i]);
    if (!is_as_before(u, i))
        return false;
    xd_mutex_lock(&u->lock);
    xd_plan_ready(u->plan, i + 1);
    xd_cond_broadcast(&u->work_ready);
    xd_mutex_unlock(&u->lock);
    return true;
}

static void hash_all(struct hashing *h)
{
    struct xd_upload *u = h->u;
    const size_t n = xd_plan_n_extents(u->plan);

    for (size_t i = 0; i < n; i++)
        if (!hash_extent(h, i))
            return;
    if (!hash_until(h, xd_origin_size(u->origin)))
        return;
    xd_mutex_lock(&u->lock);
    xd_hasher_end(h->whole, u->sha256);
    xd_book_set_hashes(u->book, u->sha256, u->pieces.n > 0 ? &u->pieces : NULL);
    u->is_dirty = true;
    xd_mutex_unlock(&u->lock);
}

static void hash_file(struct xd_upload *u)
{
    struct hashing h = {.u = u};
    struct xd_error error;
    int rc = xd_hasher_new(&h.whole, "sha-256", &error);

    if (rc == 0)
        rc = xd_hasher_new(&h.piece, "sha-256", &error);
    if (rc == 0)
        rc = xd_hasher_new(&h.extent, "sha-256", &error);
    h.block = xd_alloc(BLOCK, 1);
    if (rc == 0 && !h.block)
        rc = xd_fail_nomem(&error);
    if (rc == 0)
        hash_all(&h);
    else
        fail(u, &error);
    xd_hasher_free(h.whole);
    xd_hasher_free(h.piece);
    xd_hasher_free(h.extent);
    xd_free(h.block);
}

/* ---- the end ---- */

/* Which store is to blame if copies are missing: the first that failed. */
static void fail_for_stores_locked(struct xd_upload *u)
{
    const size_t missing = xd_plan_missing(u->plan);
    const struct xd_store_stats *first = NULL;
    struct xd_error error;

    for (size_t i = 0; i < u->n_workers && !first; i++)
        if (u->workers[i].stats.state == XD_STORE_FAILED)
            first = &u->workers[i].stats;
    if (first)
        xd_fail_because(&error, XD_E_NET, &first->last_error,
                        "%zu copies of extents are missing, and no store is "
                        "left for them: %s",
                        missing, first->last_error.msg);
    else
        xd_fail(&error, XD_E_NET,
                "%zu copies of extents are missing, and no store is left for "
                "them",
                missing);
    xd_upload_fail_locked(u, &error);
}

static xd_usec deadline(const struct xd_upload *u)
{
    return u->options.max_time > 0 ? u->started + u->options.max_time
                                   : XD_NEVER;
}

/* Until all copies are there, or cannot be. */
static void wait_for_copies_locked(struct xd_upload *u)
{
    struct xd_error error;

    while (!xd_upload_is_ending_locked(u) && xd_plan_missing(u->plan) > 0) {
        if (xd_plan_is_stuck(u->plan)) {
            fail_for_stores_locked(u);
        } else if (u->is_dirty) {
            write_book_locked(u, false);
        } else if (!xd_cond_wait_until(&u->kept, &u->lock, deadline(u)) &&
                   xd_now() >= deadline(u)) {
            xd_fail(&error, XD_E_TIMEOUT,
                    "%s: not uploaded within the time allowed (max-time)",
                    u->file_name);
            xd_upload_fail_locked(u, &error);
        }
    }
}

static void end_locked(struct xd_upload *u)
{
    struct xd_error error;

    if (u->is_canceled) {
        xd_fail(&error, XD_E_CANCELED, "%s: the upload was canceled",
                u->file_name);
        u->error = error;
    }
    write_book_locked(u, u->error.code == XD_OK);
    u->state = XD_UPLOAD_ENDS;
    xd_cond_broadcast(&u->work_ready);
    for (size_t i = 0; i < u->n_workers; i++)
        if (u->workers[i].tasks)
            xd_tasks_wakeup(u->workers[i].tasks);
}

void *xd_upload_keeper_main(void *arg)
{
    struct xd_upload *u = arg;

    xd_mutex_lock(&u->lock);
    write_book_locked(u, false);
    xd_mutex_unlock(&u->lock);
    hash_file(u);
    xd_mutex_lock(&u->lock);
    wait_for_copies_locked(u);
    end_locked(u);
    xd_mutex_unlock(&u->lock);
    for (size_t i = 0; i < u->n_workers; i++)
        if (u->workers[i].is_started)
            xd_thread_join(&u->workers[i].thread);
    xd_mutex_lock(&u->lock);
    u->ended_at = xd_now();
    u->state = XD_UPLOAD_HAS_ENDED;
    xd_cond_broadcast(&u->ended);
    xd_mutex_unlock(&u->lock);
    return NULL;
}
