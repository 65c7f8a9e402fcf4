/* SPDX-License-Identifier: MIT */
/* The hasher thread of an upload.  It reads the file once and computes the
 * hashes of extents, of pieces and of the whole file.  An extent can be sent
 * once it is hashed. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/shards.h"
#include "publish/upload.h"

#define BLOCK ((size_t)1 << 20) /* bytes read and hashed at a time */

struct hashing {
    struct xd_upload *u;
    struct xd_hasher *whole, *piece, *extent;
    struct xd_hasher *parity[XD_SHARDS_MAX]; /* created as needed */
    char *block;
    uint64_t at; /* offset of the next byte */
};

static void fail(struct xd_upload *u, const struct xd_error *why)
{
    xd_mutex_lock(&u->lock);
    xd_upload_fail_locked(u, why);
    xd_mutex_unlock(&u->lock);
}

static bool is_ending(struct xd_upload *u)
{
    bool is;

    xd_mutex_lock(&u->lock);
    is = xd_upload_is_ending_locked(u);
    xd_mutex_unlock(&u->lock);
    return is;
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

    xd_hasher_add(h->extent, data, len);
    /* only a new manifest needs hashes of the pieces and of the file */
    if (!h->u->makes_manifest) {
        h->at += len;
        return;
    }
    xd_hasher_add(h->whole, data, len);
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

/* Returns false if reading failed or the upload ends. */
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
        if (is_ending(h->u))
            return false;
    }
    return true;
}

/* Fails the upload: the computed parity does not match its hash in the
 * manifest, so the manifest was made for other data. */
static void fail_parity(struct xd_upload *u, const struct xd_upload_place *p)
{
    struct xd_error error;

    xd_fail(
        &error, XD_E_CORRUPT,
        "%s: of stripe %llu shard %u is computed to be other bytes than the "
        "manifest says",
        u->file_name, (unsigned long long)u->line.stripes[p->stripe].number,
        p->number);
    fail(u, &error);
}

/* Compares the hash with the hash from an earlier run or from the manifest.  If
 * they differ, the file has changed, and the upload fails. */
static bool is_as_before(struct xd_upload *u, size_t i)
{
    struct xd_upload_place place;
    struct xd_error error;

    if (u->expected[i][0] == '\0' || strcmp(u->expected[i], u->digests[i]) == 0)
        return true;
    if (!u->makes_manifest &&
        xd_upload_line_find(&u->line, xd_plan_range(u->plan, i).begin,
                            &place)) {
        fail_parity(u, &place);
        return false;
    }
    xd_fail(&error, XD_E_STATE,
            "%s: it has changed since an earlier upload was begun, which %s "
            "goes on with: to begin anew, use --force",
            u->file_name, xd_inventory_private_path(u->inventory));
    fail(u, &error);
    return false;
}

static void note_ready(struct xd_upload *u, size_t n)
{
    xd_mutex_lock(&u->lock);
    xd_plan_ready(u->plan, n);
    xd_cond_broadcast(&u->work_ready);
    xd_mutex_unlock(&u->lock);
}

/* Hashes one extent.  It need not follow the extent before it, because a heal
 * hashes only some ranges of the file. */
static bool hash_extent(struct hashing *h, size_t i)
{
    struct xd_upload *u = h->u;
    const struct xd_range range = xd_plan_range(u->plan, i);
    char hex[XD_HASH_HEX_MAX + 1];

    h->at = range.begin;
    xd_hasher_end(h->extent, hex);
    if (!hash_until(h, range.end))
        return false;
    xd_hasher_end(h->extent, hex);
    memcpy(u->digests[i], hex, sizeof u->digests[i]);
    if (!is_as_before(u, i))
        return false;
    note_ready(u, i + 1);
    return true;
}

/* ---- parity ---- */

/* Reads the data of the stripe once in order, so that the downloader fetches it
 * in order.  Later reads of the shards find the data on the disk. */
static bool fetch_stripe(struct hashing *h, const struct xd_model_stripe *s)
{
    struct xd_upload *u = h->u;
    uint64_t at = s->offset;

    while (!u->makes_manifest && at < s->offset + s->length) {
        const uint64_t left = s->offset + s->length - at;
        const size_t n = left < BLOCK ? (size_t)left : BLOCK;
        struct xd_error error;

        if (xd_origin_read(u->origin, u->n_workers, at, h->block, n, &error) <
            0) {
            fail(u, &error);
            return false;
        }
        if (is_ending(u))
            return false;
        at += n;
    }
    return true;
}

/* Returns the number of the shard in its stripe, or UINT_MAX if extent `i` is
 * not one of its shards. */
static unsigned parity_of(const struct xd_upload *u, size_t i, size_t stripe)
{
    struct xd_upload_place place;

    return i < xd_plan_n_extents(u->plan) &&
                   xd_upload_line_find(
                       &u->line, xd_plan_range(u->plan, i).begin, &place) &&
                   place.stripe == stripe
               ? place.number
               : UINT_MAX;
}

static int begin_hashers(struct hashing *h, size_t n, struct xd_error *err)
{
    char hex[XD_HASH_HEX_MAX + 1];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (h->parity[i])
            xd_hasher_end(h->parity[i], hex);
        else
            rc = xd_hasher_new(&h->parity[i], "sha-256", err);
    }
    return rc;
}

/* Hashes `n` extents from `first` on, which are parity shards of a stripe, in
 * one pass over its data. */
static int hash_shards(struct hashing *h, size_t stripe, size_t first, size_t n,
                       struct xd_error *err)
{
    struct xd_upload *u = h->u;
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    const size_t slice = xd_parity_slice(s->n);
    const uint8_t *const *parity;
    int rc = begin_hashers(h, n, err);

    for (uint64_t at = 0; rc == 0 && at < s->shard_bytes; at += slice) {
        const uint64_t left = s->shard_bytes - at;
        const size_t len = left < slice ? (size_t)left : slice;

        rc = xd_parity_read_all(u->parity[u->n_workers], stripe, at, len,
                                &parity, err);
        for (size_t i = 0; rc == 0 && i < n; i++)
            xd_hasher_add(h->parity[i],
                          parity[parity_of(u, first + i, stripe) - s->k], len);
        if (rc == 0 && is_ending(u))
            return XD_E_CANCELED;
    }
    return rc;
}

/* Hashes extent `i` and the extents after it that belong to the same stripe.
 * Returns the number of hashed extents, or 0 if hashing failed or the upload
 * ends. */
static size_t hash_parity(struct hashing *h, size_t i, size_t stripe)
{
    struct xd_upload *u = h->u;
    struct xd_error error = {.code = XD_OK};
    char hex[XD_HASH_HEX_MAX + 1];
    size_t n = 1;

    while (parity_of(u, i + n, stripe) != UINT_MAX)
        n++;
    if (!fetch_stripe(h, &u->line.stripes[stripe]))
        return 0;
    if (hash_shards(h, stripe, i, n, &error) < 0) {
        if (error.code != XD_OK)
            fail(u, &error);
        return 0;
    }
    for (size_t k = 0; k < n; k++) {
        xd_hasher_end(h->parity[k], hex);
        memcpy(u->digests[i + k], hex, sizeof u->digests[i + k]);
        if (!is_as_before(u, i + k))
            return 0;
    }
    note_ready(u, i + n);
    return n;
}

/* Hashes the next extents with hash_parity() or hash_extent().  Returns the
 * number of hashed extents, or 0. */
static size_t hash_from(struct hashing *h, size_t i)
{
    struct xd_upload_place place;

    if (xd_upload_line_find(&h->u->line, xd_plan_range(h->u->plan, i).begin,
                            &place))
        return hash_parity(h, i, place.stripe);
    return hash_extent(h, i) ? 1 : 0;
}

static void hash_all(struct hashing *h)
{
    struct xd_upload *u = h->u;
    const size_t n = xd_plan_n_extents(u->plan);

    for (size_t i = 0, done; i < n; i += done) {
        done = hash_from(h, i);
        if (done == 0)
            return;
    }
    xd_mutex_lock(&u->lock);
    xd_hasher_end(h->whole, u->sha256);
    if (u->makes_manifest)
        xd_inventory_set_hashes(u->inventory, u->sha256,
                                u->pieces.n > 0 ? &u->pieces : NULL);
    u->is_hashed = true;
    xd_upload_changed_locked(u);
    xd_mutex_unlock(&u->lock);
}

void *xd_upload_hasher_main(void *arg)
{
    struct xd_upload *u = arg;
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
    for (size_t i = 0; i < XD_SHARDS_MAX; i++)
        xd_hasher_free(h.parity[i]);
    xd_free(h.block);
    return NULL;
}
