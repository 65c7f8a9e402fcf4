/* SPDX-License-Identifier: MIT */
/*
 * Reads the pieces of a file and their hashes from the manifest.
 */
#ifndef XD_ENGINE_PIECES_H
#define XD_ENGINE_PIECES_H

#include <xdownload/manifest.h>

#include "session/pieces.h"

struct xd_joined_proof;

/* Reads the pieces of file number `file` of `m` that lie in `wanted`.  `m` must
 * outlive the pieces.  Errors: NOMEM. */
int xd_pieces_init(struct xd_pieces *p, const struct xd_manifest *m,
                   size_t file, struct xd_range wanted);

/* Reserves memory for `more` pieces, so that addresses do not change when they
 * are added.  Pieces of uniform length cannot be extended.  Errors: NOMEM. */
int xd_pieces_reserve(struct xd_pieces *p, size_t more);

/* Adds the pieces of another file, which lies at `file`.  `proof` has its
 * hashes and must outlive the pieces.  Returns false if no memory is reserved
 * for them. */
bool xd_pieces_add(struct xd_pieces *p, struct xd_range file,
                   const struct xd_joined_proof *proof);

const char *xd_pieces_hex(const struct xd_pieces *p, size_t i);
const char *xd_pieces_algorithm(const struct xd_pieces *p, size_t i);

#endif
