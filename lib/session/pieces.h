/* SPDX-License-Identifier: MIT */
/*
 * The pieces of a file that have a hash each.
 *
 *     wanted      |=====================================)
 *     pieces   |--x--|--0--|--1--|--2--|      |--3--|
 *
 * They do not overlap and need not cover the file.  A piece that reaches out
 * of what is wanted (x) is none, for it cannot be hashed.
 *
 * Pure: the engine and the simulator both use them; engine/trust/pieces.h takes
 * them from a manifest.
 */
#ifndef XD_SESSION_PIECES_H
#define XD_SESSION_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_ledger;
struct xd_manifest;

enum xd_piece_state {
    XD_PIECE_OPEN,   /* some of it is not here */
    XD_PIECE_QUEUED, /* all of it is here, and waits to be hashed */
    XD_PIECE_HASHED, /* it is read now, without the lock */
    XD_PIECE_GOOD
};

#define XD_NO_PIECE SIZE_MAX

struct xd_pieces {
    /* Constant after init(). */
    uint64_t piece_bytes;    /* 0: each has a range of its own: */
    struct xd_range *ranges; /* ascending */
    uint64_t size;           /* of the file */
    size_t first;            /* number in the file of piece 0 */
    size_t n;

    /* Likewise, and its user's: where their hashes are. */
    const struct xd_manifest *manifest;
    size_t file;
    const char *algorithm; /* NULL: there are none; of several the weakest */
    const char **hexes; /* of each piece, where they have ranges; NULL, or NULL
                              for one: the manifest says it */
    const char **algorithms; /* likewise of those that were added */
    size_t capacity;         /* so many may be added; or 0 */

    unsigned char *states; /* an xd_piece_state each */
};

/* Those of `piece_bytes` each that a file of `size` bytes has within `wanted`.
 * Other fields stay as they are.  Errors: NOMEM, and then there are none. */
int xd_pieces_cut(struct xd_pieces *p, uint64_t piece_bytes, uint64_t size,
                  struct xd_range wanted);
void xd_pieces_fini(struct xd_pieces *p);

struct xd_range xd_pieces_range(const struct xd_pieces *p, size_t i);

/* The first piece that ends behind `byte`; n if there is none. */
size_t xd_pieces_find(const struct xd_pieces *p, uint64_t byte);

/* Whether every byte of `r` is in a piece. */
bool xd_pieces_cover(const struct xd_pieces *p, struct xd_range r);

/*
 * What can be decided on now that `*rest` is written: bytes of it that no piece
 * covers (XD_NO_PIECE), or a piece that it is a part of and that is stored as a
 * whole.  Takes them from `*rest`, the first of them first; false: there is
 * nothing more.
 */
bool xd_pieces_next_ready(const struct xd_pieces *p, const struct xd_ledger *l,
                          struct xd_range *rest, struct xd_range *out,
                          size_t *out_piece);

/* Some of `r` is missing again. */
void xd_pieces_reopen(struct xd_pieces *p, struct xd_range r);

#endif
