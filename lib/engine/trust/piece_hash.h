/* SPDX-License-Identifier: MIT */
/*
 * Hashes a piece while its bytes arrive.
 *
 *     piece            |-------------------|-------------------|
 *     a lane writes  ....=====|=====|======|=====| <- at
 *                             `- began too late   `- begun
 *
 * A lane that writes a piece in order from its first to its last byte also
 * hashes it, while the bytes are in the processor's cache.  Pieces that other
 * lanes write are unknown here.
 *
 * Threads: one at a time; no lock is needed.
 */
#ifndef XD_ENGINE_PIECE_HASH_H
#define XD_ENGINE_PIECE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"
#include "engine/trust/pieces.h"
#include "io/hash.h"

/* Maximum number of bytes for one call of add(), so that at most one piece of
 * this length ends in them.  Of shorter pieces, only the one at the end of the
 * bytes is hashed. */
#define XD_PIECE_HASH_MOST ((size_t)256 * 1024)

/* Initialise with zeros. */
struct xd_piece_hash {
    /* NULL until it is needed, or if there is no memory */
    struct xd_hasher *hasher;
    bool is_running; /* all bytes of `piece` up to `at` were added */
    size_t piece;
    uint64_t at;
    uint64_t era;   /* `era` of the call of add() that began the piece */
    bool has_ended; /* the last add() completed `ended_piece`, and its hash is
                       `hex` */
    size_t ended_piece;
    uint64_t ended_era;
    char hex[XD_HASH_HEX_MAX + 1];
};

void xd_piece_hash_fini(struct xd_piece_hash *h);

/* Adds `data`, the bytes of `range`, which a lane has written.  The lane will
 * then write the bytes after them, up to `until`.  `range` may have at most
 * XD_PIECE_HASH_MOST bytes. */
void xd_piece_hash_add(struct xd_piece_hash *h, const struct xd_pieces *p,
                       uint64_t era, struct xd_range range, uint64_t until,
                       const void *data);

#endif
