/* SPDX-License-Identifier: MIT */
/*
 * The pieces of a file that its manifest has hashes of.
 */
#ifndef XD_ENGINE_PIECES_H
#define XD_ENGINE_PIECES_H

#include <xdownload/manifest.h>

#include "session/pieces.h"

/* `m` outlives the pieces.  Errors: NOMEM. */
int xd_pieces_init(struct xd_pieces *p, const struct xd_manifest *m,
                   size_t file, struct xd_range wanted);

const char *xd_pieces_hex(const struct xd_pieces *p, size_t i);
const char *xd_pieces_algorithm(const struct xd_pieces *p, size_t i);

#endif
