/*
 * The pieces of a file that the manifest has hashes of.
 *
 *     wanted      |=====================================)
 *     pieces   |--x--|--0--|--1--|--2--|      |--3--|
 *
 * They do not overlap and need not cover the file.  A piece that reaches out
 * of what is wanted (x) is none, for it cannot be hashed.
 */
#ifndef XD_ENGINE_PIECES_H
#define XD_ENGINE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

#include "base/range.h"

enum xd_piece_state {
    XD_PIECE_OPEN,   /* some of it is not here */
    XD_PIECE_QUEUED, /* all of it is here, and waits to be hashed */
    XD_PIECE_HASHED, /* it is read now, without the lock */
    XD_PIECE_GOOD
};

struct xd_pieces {
    /* Constant after init(). */
    const struct xd_manifest *manifest;
    size_t file;
    const char *algorithm; /* NULL: there are none */
    uint64_t piece_bytes;  /* 0: a piece is an extent with a hash */
    uint64_t size;         /* of the file */
    size_t first;          /* number in the manifest of piece 0 */
    size_t *extents;       /* of each piece, when they are extents */
    size_t n;

    unsigned char *states; /* an xd_piece_state each */
};

/* `m` outlives the pieces.  Errors: NOMEM. */
int xd_pieces_init(struct xd_pieces *p, const struct xd_manifest *m,
                   size_t file, struct xd_range wanted);
void xd_pieces_fini(struct xd_pieces *p);

struct xd_range xd_pieces_range(const struct xd_pieces *p, size_t i);
const char *xd_pieces_hex(const struct xd_pieces *p, size_t i);

/* The first piece that ends behind `byte`; n if there is none. */
size_t xd_pieces_find(const struct xd_pieces *p, uint64_t byte);

/* Whether every byte of `r` is in a piece. */
bool xd_pieces_cover(const struct xd_pieces *p, struct xd_range r);

#endif
