/* SPDX-License-Identifier: MIT */
#include "session/pieces.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "ledger/ledger.h"

int xd_pieces_cut(struct xd_pieces *p, uint64_t piece_bytes, uint64_t size,
                  struct xd_range wanted)
{
    uint64_t last = wanted.end / piece_bytes; /* exclusive */

    if (wanted.end == size)
        last = size / piece_bytes + (size % piece_bytes > 0);
    p->piece_bytes = piece_bytes;
    p->size = size;
    p->first = (size_t)((wanted.begin + piece_bytes - 1) / piece_bytes);
    p->n = last > p->first ? (size_t)last - p->first : 0;
    if (p->n == 0)
        return 0;
    p->states = xd_alloc(p->n, 1);
    if (p->states)
        return 0;
    xd_pieces_fini(p);
    return XD_E_NOMEM;
}

void xd_pieces_fini(struct xd_pieces *p)
{
    xd_free(p->states);
    xd_free(p->ranges);
    xd_free(p->hexes);
    xd_free(p->algorithms);
    *p = (struct xd_pieces){0};
}

struct xd_range xd_pieces_range(const struct xd_pieces *p, size_t i)
{
    struct xd_range r;

    if (p->piece_bytes == 0)
        return p->ranges[i];
    r.begin = (p->first + i) * p->piece_bytes;
    r.end =
        p->size - r.begin > p->piece_bytes ? r.begin + p->piece_bytes : p->size;
    return r;
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

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool xd_pieces_next_ready(const struct xd_pieces *p, const struct xd_ledger *l,
                          struct xd_range *rest, struct xd_range *out,
                          size_t *out_piece)
{
    for (size_t i = xd_pieces_find(p, rest->begin); !xd_range_is_empty(*rest);
         i++) {
        struct xd_range piece = {rest->end, rest->end};

        if (i < p->n)
            piece = xd_pieces_range(p, i);
        if (rest->begin < piece.begin) {
            *out_piece = XD_NO_PIECE;
            out->begin = rest->begin;
            out->end = rest->begin = earlier(piece.begin, rest->end);
            return true;
        }
        rest->begin = earlier(piece.end, rest->end);
        if (xd_ledger_has(l, XD_BYTES_STORED, piece)) {
            *out_piece = i;
            *out = piece;
            return true;
        }
    }
    return false;
}

void xd_pieces_reopen(struct xd_pieces *p, struct xd_range r)
{
    for (size_t i = xd_pieces_find(p, r.begin); i < p->n; i++) {
        if (xd_pieces_range(p, i).begin >= r.end)
            break;
        p->states[i] = XD_PIECE_OPEN;
    }
}
