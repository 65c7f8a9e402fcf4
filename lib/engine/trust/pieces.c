#include "engine/trust/pieces.h"

#include "base/alloc.h"
#include "io/hash.h"

const char *xd_pieces_hex(const struct xd_pieces *p, size_t i)
{
    struct xd_extent e = {.struct_size = sizeof e};

    if (p->piece_bytes > 0)
        return xd_manifest_piece(p->manifest, p->file, p->first + i);
    xd_manifest_extent(p->manifest, p->file, p->extents[i], &e);
    return e.sha256;
}

/* Extents with a hash of their own, as exNodes have them; of overlapping ones
 * the first. */
static int take_extents(struct xd_pieces *p, const struct xd_file *file,
                        struct xd_range wanted)
{
    uint64_t end = wanted.begin;

    p->algorithm = "sha-256";
    p->extents = xd_alloc(file->n_extents, sizeof *p->extents);
    p->ranges = xd_alloc(file->n_extents, sizeof *p->ranges);
    p->states = xd_alloc(file->n_extents, 1);
    if (!p->extents || !p->ranges || !p->states)
        return XD_E_NOMEM;
    for (size_t i = 0; i < file->n_extents; i++) {
        struct xd_extent e = {.struct_size = sizeof e};

        xd_manifest_extent(p->manifest, p->file, i, &e);
        if (!e.sha256 || e.offset < end || e.offset + e.length > wanted.end)
            continue;
        end = e.offset + e.length;
        p->ranges[p->n] = (struct xd_range){e.offset, end};
        p->extents[p->n++] = i;
    }
    return 0;
}

/* Metalinks have pieces of one length. */
static int take(struct xd_pieces *p, const struct xd_file *file,
                struct xd_range wanted)
{
    if (file->size == XD_SIZE_UNKNOWN)
        return 0;
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
