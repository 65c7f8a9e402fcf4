/* SPDX-License-Identifier: MIT */
/*
 * The pieces of a file that its manifest has hashes of.
 */
#ifndef XD_ENGINE_PIECES_H
#define XD_ENGINE_PIECES_H

#include <xdownload/manifest.h>

#include "session/pieces.h"

struct xd_joined_proof;

/* `m` outlives the pieces.  Errors: NOMEM. */
int xd_pieces_init(struct xd_pieces *p, const struct xd_manifest *m,
                   size_t file, struct xd_range wanted);

/* Room for `more`, which are added behind these; nothing moves then.  Pieces that
 * are of one length each have no room.  Errors: NOMEM. */
int xd_pieces_reserve(struct xd_pieces *p, size_t more);

/* Those of another file, which lies there; its hashes outlive the pieces.  False:
 * there is no room for them. */
bool xd_pieces_add(struct xd_pieces *p, struct xd_range file,
                   const struct xd_joined_proof *proof);

const char *xd_pieces_hex(const struct xd_pieces *p, size_t i);
const char *xd_pieces_algorithm(const struct xd_pieces *p, size_t i);

#endif
