/* SPDX-License-Identifier: MIT */
#include "engine/trust/pieces.h"

#include "base/alloc.h"
#include "base/array.h"
#include "io/hash.h"
#include "manifest/join.h"
#include "manifest/model.h"

/* Of 100 000 joined files nothing is kept that the manifest has. */
static const char *find_joined(const struct xd_pieces *p, size_t i,
                               struct xd_joined_proof *out)
{
    const uint64_t begin = p->ranges[i].begin;
    const struct xd_model_file *all = &p->manifest->files[p->file];
    const size_t extent =
        xd_count_up_to(begin, all->extents, all->n_extents,
                       sizeof *all->extents,
                       offsetof(struct xd_model_extent, offset)) -
        1;
    const uint64_t in_file = begin - all->extents[extent].offset;

    xd_manifest_joined_proof(p->manifest, extent, out);
    return out->hex + in_file / out->piece_bytes * out->stride;
}

const char *xd_pieces_hex(const struct xd_pieces *p, size_t i)
{
    struct xd_joined_proof proof;

    if (p->piece_bytes > 0)
        return xd_manifest_piece(p->manifest, p->file, p->first + i);
    return p->hexes && p->hexes[i] ? p->hexes[i] : find_joined(p, i, &proof);
}

const char *xd_pieces_algorithm(const struct xd_pieces *p, size_t i)
{
    struct xd_joined_proof proof;

    if (p->algorithms && p->algorithms[i])
        return p->algorithms[i];
    if (p->piece_bytes > 0 || (p->hexes && p->hexes[i]))
        return p->algorithm;
    find_joined(p, i, &proof);
    return proof.algorithm;
}

static int make_room(struct xd_pieces *p, size_t n)
{
    p->ranges = xd_alloc(n, sizeof *p->ranges);
    p->states = xd_alloc(n, 1);
    return p->ranges && p->states ? 0 : XD_E_NOMEM;
}

/* There is room for it. */
static void add(struct xd_pieces *p, struct xd_range range,
                const char *algorithm)
{
    if (!p->algorithm ||
        xd_hash_strength(algorithm) < xd_hash_strength(p->algorithm))
        p->algorithm = algorithm;
    p->ranges[p->n++] = range;
}

/* Extents with a hash of their own, as exNodes have them; of overlapping ones
 * the first. */
static int take_extents(struct xd_pieces *p, const struct xd_file *file,
                        struct xd_range wanted)
{
    uint64_t end = wanted.begin;

    p->hexes = xd_alloc(file->n_extents, sizeof *p->hexes);
    if (!p->hexes || make_room(p, file->n_extents) < 0)
        return XD_E_NOMEM;
    for (size_t i = 0; i < file->n_extents; i++) {
        struct xd_extent e = {.struct_size = sizeof e};

        xd_manifest_extent(p->manifest, p->file, i, &e);
        if (!e.sha256 || e.offset < end || e.offset + e.length > wanted.end)
            continue;
        end = e.offset + e.length;
        p->hexes[p->n] = e.sha256;
        add(p, (struct xd_range){e.offset, end}, "sha-256");
    }
    return 0;
}

/* Of the file that lies there. */
static void take_joined_file(struct xd_pieces *p, struct xd_range file,
                             const struct xd_joined_proof *proof)
{
    struct xd_range piece = {file.begin, file.begin};

    for (size_t i = 0; i < proof->n; i++) {
        piece.begin = piece.end;
        piece.end = file.end - piece.begin > proof->piece_bytes
                        ? piece.begin + proof->piece_bytes
                        : file.end;
        add(p, piece, proof->algorithm);
    }
}

/* Of each file those that it has. */
static int take_joined(struct xd_pieces *p, const struct xd_file *file)
{
    struct xd_extent e = {.struct_size = sizeof e};
    struct xd_joined_proof proof;
    size_t n = 0;

    for (size_t i = 0; i < file->n_extents; i++)
        if (xd_manifest_joined_proof(p->manifest, i, &proof))
            n += proof.n;
    if (make_room(p, n) < 0)
        return XD_E_NOMEM;
    for (size_t i = 0; i < file->n_extents; i++) {
        xd_manifest_joined_proof(p->manifest, i, &proof);
        xd_manifest_extent(p->manifest, p->file, i, &e);
        take_joined_file(p, (struct xd_range){e.offset, e.offset + e.length},
                         &proof);
    }
    return 0;
}

/* Metalinks have pieces of one length. */
static int take(struct xd_pieces *p, const struct xd_file *file,
                struct xd_range wanted)
{
    struct xd_joined_proof proof;

    if (file->size == XD_SIZE_UNKNOWN)
        return 0;
    if (file->n_extents > 0 && xd_manifest_joined_proof(p->manifest, 0, &proof))
        return take_joined(p, file);
    if (file->n_pieces == 0)
        return take_extents(p, file, wanted);
    if (xd_hash_strength(file->piece_algorithm) < 0)
        return 0;
    p->algorithm = file->piece_algorithm;
    return xd_pieces_cut(p, file->piece_bytes, file->size, wanted);
}

int xd_pieces_init(struct xd_pieces *p, const struct xd_manifest *m,
                   size_t file, struct xd_range wanted)
{
    struct xd_file info = {.struct_size = sizeof info};
    int rc;

    *p = (struct xd_pieces){.manifest = m, .file = file};
    xd_manifest_file(m, file, &info);
    rc = take(p, &info, wanted);
    if (rc < 0 || p->n == 0)
        xd_pieces_fini(p);
    return rc;
}

int xd_pieces_reserve(struct xd_pieces *p, size_t more)
{
    const size_t n = p->n + more;

    if (xd_make_room(&p->ranges, p->n, n, sizeof *p->ranges) < 0 ||
        xd_make_room(&p->states, p->n, n, 1) < 0 ||
        xd_make_room(&p->hexes, p->hexes ? p->n : 0, n, sizeof *p->hexes) < 0)
        return XD_E_NOMEM;
    p->algorithms = xd_alloc(n, sizeof *p->algorithms);
    if (!p->algorithms)
        return XD_E_NOMEM;
    p->capacity = n;
    return 0;
}

bool xd_pieces_add(struct xd_pieces *p, struct xd_range file,
                   const struct xd_joined_proof *proof)
{
    struct xd_range piece = {file.begin, file.begin};

    if (proof->n > p->capacity - p->n)
        return false;
    for (size_t i = 0; i < proof->n; i++) {
        piece.begin = piece.end;
        piece.end = file.end - piece.begin > proof->piece_bytes
                        ? piece.begin + proof->piece_bytes
                        : file.end;
        p->hexes[p->n] = proof->hex + i * proof->stride;
        p->algorithms[p->n] = proof->algorithm;
        add(p, piece, proof->algorithm);
    }
    return true;
}
