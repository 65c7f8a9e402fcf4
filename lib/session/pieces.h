/* SPDX-License-Identifier: MIT */
/*
 * Pieces of a file, each with a hash.
 *
 *     wanted      |=====================================)
 *     pieces   |--x--|--0--|--1--|--2--|      |--3--|
 *
 * Pieces do not overlap and need not cover the file.  A piece that is only
 * partly wanted (x) is not used, because it cannot be hashed.
 *
 * Pure: used by the engine and the simulator; engine/trust/pieces.h reads them
 * from a manifest.
 */
#ifndef XD_SESSION_PIECES_H
#define XD_SESSION_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_ledger;
struct xd_manifest;

enum xd_piece_state {
    XD_PIECE_OPEN,   /* incomplete */
    XD_PIECE_QUEUED, /* complete, waiting to be hashed */
    XD_PIECE_HASHED, /* being hashed, without the lock */
    XD_PIECE_GOOD
};

#define XD_NO_PIECE SIZE_MAX

struct xd_pieces {
    /* constant after init() */
    uint64_t piece_bytes;    /* 0: `ranges` is used instead */
    struct xd_range *ranges; /* in ascending order */
    uint64_t size;           /* of the file */
    size_t first;            /* number of piece 0 within the file */
    size_t n;

    /* Set by the caller, constant: the source of the hashes. */
    const struct xd_manifest *manifest;
    size_t file;
    /* the weakest algorithm used; NULL: there are no hashes */
    const char *algorithm;
    /* hash of each piece in `ranges`; NULL: look it up in the manifest */
    const char **hexes;
    const char **algorithms; /* algorithm of each piece that was added later */
    /* maximum number of pieces, including added ones; 0: none can be added */
    size_t capacity;

    unsigned char *states; /* state of each piece: enum xd_piece_state */
};

/* Sets the pieces of `piece_bytes` each within `wanted`, for a file of
 * `size` bytes.  Other fields are unchanged.  Errors: NOMEM; then there are
 * no pieces. */
int xd_pieces_cut(struct xd_pieces *p, uint64_t piece_bytes, uint64_t size,
                  struct xd_range wanted);
void xd_pieces_fini(struct xd_pieces *p);

struct xd_range xd_pieces_range(const struct xd_pieces *p, size_t i);

/* Returns the first piece that ends after `byte`; n if there is none. */
size_t xd_pieces_find(const struct xd_pieces *p, uint64_t byte);

/* Returns whether every byte of `r` is in a piece. */
bool xd_pieces_cover(const struct xd_pieces *p, struct xd_range r);

/*
 * Call when `*rest` has been written.  Finds bytes outside all pieces
 * (XD_NO_PIECE), or a piece that is now complete, and removes its part from the
 * front of `*rest`.  Returns false if there is nothing more.
 */
bool xd_pieces_next_ready(const struct xd_pieces *p, const struct xd_ledger *l,
                          struct xd_range *rest, struct xd_range *out,
                          size_t *out_piece);

/* Marks pieces as incomplete because some of `r` is missing again. */
void xd_pieces_reopen(struct xd_pieces *p, struct xd_range r);

#endif
