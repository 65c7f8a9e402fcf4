#include "engine/trust/pieces.h"

#include "base/alloc.h"
#include "io/hash.h"

static struct xd_range extent_range(const struct xd_pieces *p, size_t extent)
{
    struct xd_extent e = {.struct_size = sizeof e};

    xd_manifest_extent(p->manifest, p->file, extent, &e);
    return (struct xd_range){e.offset, e.offset + e.length};
}

struct xd_range xd_pieces_range(const struct xd_pieces *p, size_t i)
{
    struct xd_range r;

    if (p->piece_bytes == 0)
        return extent_range(p, p->extents[i]);
    r.begin = (p->first + i) * p->piece_bytes;
    r.end =
        p->size - r.begin > p->piece_bytes ? r.begin + p->piece_bytes : p->size;
    return r;
}

const char *xd_pieces_hex(const struct xd_pieces *p, size_t i)
{
    struct xd_extent e = {.struct_size = sizeof e};

    if (p->piece_bytes > 0)
        return xd_manifest_piece(p->manifest, p->file, p->first + i);
    xd_manifest_extent(p->manifest, p->file, p->extents[i], &e);
    return e.sha256;
}

/* Pieces of one length, as Metalinks have them. */
static void take_uniform(struct xd_pieces *p, const struct xd_file *file,
                         struct xd_range wanted)
{
    uint64_t last = wanted.end / file->piece_bytes; /* not included */

    p->algorithm = file->piece_algorithm;
    p->piece_bytes = file->piece_bytes;
    p->first = (size_t)((wanted.begin + p->piece_bytes - 1) / p->piece_bytes);
    if (wanted.end == file->size)
        last = file->n_pieces;
    p->n = last > p->first ? (size_t)last - p->first : 0;
}

/* Extents with a hash of their own, as exNodes have them; of overlapping ones
 * the first. */
static int take_extents(struct xd_pieces *p, const struct xd_file *file,
                        struct xd_range wanted)
{
    uint64_t end = wanted.begin;

    p->algorithm = "sha-256";
    p->extents = xd_alloc(file->n_extents, sizeof *p->extents);
    if (!p->extents)
        return XD_E_NOMEM;
    for (size_t i = 0; i < file->n_extents; i++) {
        struct xd_extent e = {.struct_size = sizeof e};

        xd_manifest_extent(p->manifest, p->file, i, &e);
        if (!e.sha256 || e.offset < end || e.offset + e.length > wanted.end)
            continue;
        p->extents[p->n++] = i;
        end = e.offset + e.length;
    }
    return 0;
}

int xd_pieces_init(struct xd_pieces *p, const struct xd_manifest *m,
                   size_t file, struct xd_range wanted)
{
    struct xd_file info = {.struct_size = sizeof info};

    *p = (struct xd_pieces){.manifest = m, .file = file};
    xd_manifest_file(m, file, &info);
    p->size = info.size;
    if (info.size == XD_SIZE_UNKNOWN)
        return 0;
    if (info.n_pieces > 0 && xd_hash_strength(info.piece_algorithm) >= 0)
        take_uniform(p, &info, wanted);
    else if (info.n_pieces == 0 && take_extents(p, &info, wanted) < 0)
        return XD_E_NOMEM;
    if (p->n == 0) {
        xd_pieces_fini(p);
        return 0;
    }
    p->states = xd_alloc(p->n, 1);
    if (p->states)
        return 0;
    xd_pieces_fini(p);
    return XD_E_NOMEM;
}

void xd_pieces_fini(struct xd_pieces *p)
{
    xd_free(p->states);
    xd_free(p->extents);
    *p = (struct xd_pieces){0};
}

size_t xd_pieces_find(const struct xd_pieces *p, uint64_t byte)
{
    size_t low = 0, high = p->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (xd_pieces_range(p, middle).end <= byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool xd_pieces_cover(const struct xd_pieces *p, struct xd_range r)
{
    for (size_t i = xd_pieces_find(p, r.begin); r.begin < r.end; i++) {
        struct xd_range piece;

        if (i == p->n)
            return false;
        piece = xd_pieces_range(p, i);
        if (piece.begin > r.begin)
            return false;
        r.begin = piece.end;
    }
    return true;
}
