/* SPDX-License-Identifier: MIT */
/*
 * The hash of a piece while its bytes come.
 *
 *     piece            |-------------------|-------------------|
 *     a lane writes  ....=====|=====|======|=====| <- at
 *                             `- began too late   `- begun
 *
 * A lane that writes a piece from its beginning to its end, byte after byte,
 * hashes it in passing, while the bytes are in the processor's cache.  Nothing is
 * known here of any other piece.
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

/* So that of what is added at a time no more than one piece ends.  A shorter one
 * is hashed in passing only if nothing behind it is added with it. */
#define XD_PIECE_HASH_MOST ((size_t)256 * 1024)

/* A zeroed struct is one that has nothing begun. */
struct xd_piece_hash {
    struct xd_hasher *hasher; /* NULL: none was needed, or to be had */
    bool is_running;          /* all of `piece` before `at` was added: */
    size_t piece;
    uint64_t at;
    uint64_t era;       /* what the caller said when it was begun */
    bool has_ended;     /* in the last add(): */
    size_t ended_piece; /* this one, */
    uint64_t ended_era;
    char hex[XD_HASH_HEX_MAX + 1]; /* and its hash is this */
};

void xd_piece_hash_fini(struct xd_piece_hash *h);

/* `range`, at most MOST bytes, was written by a lane that will write up to
 * `until` next. */
void xd_piece_hash_add(struct xd_piece_hash *h, const struct xd_pieces *p,
                       uint64_t era, struct xd_range range, uint64_t until,
                       const void *data);

#endif
