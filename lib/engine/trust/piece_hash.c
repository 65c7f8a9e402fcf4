/* SPDX-License-Identifier: MIT */
#include "engine/trust/piece_hash.h"

void xd_piece_hash_fini(struct xd_piece_hash *h)
{
    xd_hasher_free(h->hasher);
    *h = (struct xd_piece_hash){0};
}

static void drop(struct xd_piece_hash *h)
{
    if (h->is_running)
        xd_hasher_end(h->hasher, h->hex);
    h->is_running = false;
}

/* Begins to hash a piece.  If memory runs out, the keeper reads the piece back
 * and hashes it. */
static void begin(struct xd_piece_hash *h, const char *algorithm, size_t piece,
                  uint64_t at, uint64_t era)
{
    drop(h);
    if (xd_hasher_become(&h->hasher, algorithm, NULL) < 0)
        return;
    h->is_running = true;
    h->piece = piece;
    h->at = at;
    h->era = era;
}

static void end(struct xd_piece_hash *h)
{
    xd_hasher_end(h->hasher, h->hex);
    h->is_running = false;
    h->has_ended = true;
    h->ended_piece = h->piece;
    h->ended_era = h->era;
}

void xd_piece_hash_add(struct xd_piece_hash *h, const struct xd_pieces *p,
                       uint64_t era, struct xd_range range, uint64_t until,
                       const void *data)
{
    const unsigned char *from = data;

    h->has_ended = false;
    for (size_t i = xd_pieces_find(p, range.begin); i < p->n; i++) {
        struct xd_range piece = xd_pieces_range(p, i), part = range;

        if (piece.begin >= range.end)
            break;
        if (part.begin <= piece.begin) {
            part.begin = piece.begin;
            if ((xd_range_length(piece) >= XD_PIECE_HASH_MOST ||
                 range.end <= piece.end) &&
                piece.end <= until)
                begin(h, xd_pieces_algorithm(p, i), i, piece.begin, era);
        }
        if (part.end > piece.end)
            part.end = piece.end;
        if (!h->is_running || h->piece != i || h->at != part.begin)
            continue;
        xd_hasher_add(h->hasher, from + (part.begin - range.begin),
                      (size_t)xd_range_length(part));
        h->at = part.end;
        if (h->at == piece.end)
            end(h);
    }
}
