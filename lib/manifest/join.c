/* SPDX-License-Identifier: MIT */
#include "manifest/join.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/limit.h"
#include "command/manifests.h"
#include "manifest/builder.h"
#include "manifest/hashes.h"
#include "manifest/model.h"

static unsigned strength_of(const struct xd_model_hash *hash)
{
    return hash ? xd_algorithm_strength(hash->algorithm) : 0;
}

/* Returns the strongest hash that can be computed.  `is_given` chooses between
 * the hashes that the user gave and those of the manifest.  NULL if there is
 * none. */
static const struct xd_model_hash *find_hash(const struct xd_model_file *f,
                                             bool is_given)
{
    for (size_t i = 0; i < f->n_hashes; i++)
        if (f->hashes[i].is_given == is_given && strength_of(&f->hashes[i]) > 0)
            return &f->hashes[i];
    return NULL;
}

static size_t count_given(const struct xd_model_file *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_hashes; i++)
        n += f->hashes[i].is_given && strength_of(&f->hashes[i]) > 0;
    return n;
}

static unsigned strength_of_pieces(const struct xd_model_file *f)
{
    const struct xd_model_pieces *p = f->rare->pieces;

    return p ? xd_algorithm_strength(p->algorithm) : 0;
}

static struct xd_joined_proof proof_by_whole(const struct xd_model_file *f,
                                             const char *algorithm,
                                             const char *hex)
{
    return (struct xd_joined_proof){
        .algorithm = algorithm, .piece_bytes = f->size, .n = 1, .hex = hex};
}

static struct xd_joined_proof proof_by_pieces(const struct xd_model_file *f)
{
    const struct xd_model_pieces *p = f->rare->pieces;

    return (struct xd_joined_proof){.algorithm = p->algorithm,
                                    .piece_bytes = p->piece_bytes,
                                    .n = p->n,
                                    .hex = p->hex,
                                    .stride = p->stride};
}

/* Chooses the hash that proves the bytes.  Returns false if one hash is not
 * enough: every hash that the user gave must be checked, and also the strongest
 * hash of the manifest if it is stronger. */
static bool choose_proof(const struct xd_model_file *f,
                         struct xd_joined_proof *out)
{
    const struct xd_model_hash *given = find_hash(f, true),
                               *own = find_hash(f, false);
    const unsigned pieces = strength_of_pieces(f);

    *out = (struct xd_joined_proof){0};
    if (count_given(f) > 1)
        return false;
    if (given &&
        (strength_of(own) > strength_of(given) || pieces > strength_of(given)))
        return false;
    if (given)
        *out = proof_by_whole(f, given->algorithm, given->hex);
    else if (pieces > 0 && pieces >= strength_of(own))
        *out = proof_by_pieces(f);
    else if (own)
        *out = proof_by_whole(f, own->algorithm, own->hex);
    else if (xd_model_sha256(f, 0))
        *out = proof_by_whole(f, "sha-256", xd_model_sha256(f, 0));
    return true;
}

bool xd_manifest_joined_proof(const struct xd_manifest *m, size_t extent,
                              struct xd_joined_proof *out)
{
    const struct xd_model_file *all = &m->files[0], *f = NULL;

    if (extent < all->n_extents && all->rare->joined)
        f = all->rare->joined[extent];
    if (f)
        choose_proof(f, out);
    return f != NULL;
}

void xd_manifest_file_proof(const struct xd_manifest *m, size_t file,
                            struct xd_joined_proof *out)
{
    choose_proof(&m->files[file], out);
}

size_t xd_manifest_joined_file(const struct xd_manifest *joined, size_t extent,
                               const struct xd_manifest **out_of)
{
    *out_of = joined->strings;
    return (size_t)(joined->files[0].rare->joined[extent] -
                    joined->strings->files);
}

bool xd_manifest_has_proof(const struct xd_manifest *m, size_t file)
{
    struct xd_joined_proof proof;

    return choose_proof(&m->files[file], &proof) && proof.n > 0;
}

/* Returns whether the file can be downloaded together with others.  Files
 * without a hash are verified by comparing copies, and files of unknown size
 * are hashed as they arrive.  A file that needs both must be downloaded
 * alone. */
bool xd_manifest_can_join(const struct xd_manifest *m, size_t file)
{
    const struct xd_model_file *f;
    struct xd_joined_proof proof;

    if (file >= m->n_files)
        return false;
    f = &m->files[file];
    return f->size > 0 && f->n_extents == 1 && f->extents[0].offset == 0 &&
           f->extents[0].length == f->size && choose_proof(f, &proof) &&
           (proof.n > 0 ? f->size != XD_SIZE_UNKNOWN
                        : f->extents[0].n_replicas == 1);
}

static uint64_t place_of(const struct xd_model_file *f)
{
    return f->size != XD_SIZE_UNKNOWN ? f->size : XD_JOINED_PLACE;
}

/* Appends a file as an extent.  There must be room for it. */
static void append(struct xd_model_file *to, struct xd_model_rare *rare,
                   const struct xd_model_file *f)
{
    /* The hash is available through xd_manifest_joined_proof(). */
    rare->joined[to->n_extents] = f;
    to->extents[to->n_extents++] =
        (struct xd_model_extent){.offset = to->size,
                                 .length = place_of(f),
                                 .n_replicas = f->extents[0].n_replicas};
    to->size += place_of(f);
    rare->max_connections =
        xd_stricter_limit(rare->max_connections, f->rare->max_connections);
}

/* Checks the sum of the sizes without overflow. */
static bool is_too_long(const struct xd_manifest *m, const size_t *files,
                        size_t n)
{
    uint64_t room = XD_FILE_MAX;

    for (size_t i = 0; i < n; i++) {
        uint64_t size = place_of(&m->files[files[i]]);

        if (size > room)
            return true;
        room -= size;
    }
    return false;
}

static int fill(struct xd_manifest *to, const struct xd_manifest *m,
                const size_t *files, size_t n)
{
    struct xd_model_file *f = to->files = xd_alloc(1, sizeof *to->files);
    struct xd_model_rare *rare = xd_pool_alloc(&to->pool, sizeof *rare);

    if (!f || !rare)
        return XD_E_NOMEM;
    to->n_files = 1;
    f->rare = rare;
    f->extents = xd_pool_array(&to->pool, n, sizeof *f->extents);
    rare->joined = xd_pool_array(&to->pool, n, sizeof *rare->joined);
    if (!f->extents || !rare->joined)
        return XD_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        append(f, rare, &m->files[files[i]]);
    return 0;
}

int xd_manifest_join(struct xd_manifest **out, struct xd_manifest *m,
                     const size_t *files, size_t n, struct xd_error *err)
{
    struct xd_manifest *joined;

    *out = NULL;
    if (is_too_long(m, files, n))
        return xd_fail(err, XD_E_MANIFEST,
                       "the files have more than %llu bytes together",
                       (unsigned long long)XD_FILE_MAX);
    joined = xd_alloc(1, sizeof *joined);
    if (!joined)
        return xd_fail_nomem(err);
    atomic_init(&joined->refs, 1);
    joined->format = m->format;
    joined->strings = xd_manifest_ref(m);
    if (fill(joined, m, files, n) < 0) {
        xd_manifest_unref(joined);
        return xd_fail_nomem(err);
    }
    *out = joined;
    return 0;
}
