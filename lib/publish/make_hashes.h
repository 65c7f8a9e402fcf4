/* SPDX-License-Identifier: MIT */
/* Computes the hashes for a new manifest. */
#ifndef XD_PUBLISH_MAKE_HASHES_H
#define XD_PUBLISH_MAKE_HASHES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/options.h"

#define XD_MAKE_HEX 64 /* hex digits of SHA-256 */

struct xd_make_hashes {
    uint64_t size, piece_bytes;
    char whole[XD_MAKE_HEX + 1];
    char (*pieces)[XD_MAKE_HEX + 1];
    /* Number of pieces.  0: the file is empty, or it is a single piece, whose
     * hash is `whole`. */
    size_t n;
};

/* Returns the piece size for a file of `size` bytes.  Pure. */
uint64_t xd_make_piece_bytes(uint64_t size);

/* Returns the piece size for a file in extents of *extent_bytes, such that no
 * piece spans two extents.  Then a wrong piece shows which depot sent it.
 * Makes *extent_bytes a multiple of the piece size, by taking away less than
 * one byte for each piece.  Pure. */
uint64_t xd_make_fitting_piece_bytes(uint64_t size, uint64_t *extent_bytes);

/*
 * Allocates memory for the hashes of the pieces of a file.  If `piece_bytes` is
 * 0, the length is xd_make_piece_bytes().
 * Ownership: call xd_make_hashes_fini() whatever it returns.
 * Errors:    INVAL (there would be too many pieces), NOMEM.
 */
int xd_make_hashes_init(struct xd_make_hashes *h, uint64_t size,
                        uint64_t piece_bytes, struct xd_error *err);
void xd_make_hashes_fini(struct xd_make_hashes *h);

/*
 * Hashes the file at `path`.  The cancel object in the options interrupts it.
 * The log function of the options gets the progress.
 * Ownership: call xd_make_hashes_fini() whatever it returns.
 * Blocks:    on the disk.
 * Errors:    IO, INVAL, CANCELED, NOMEM.
 */
int xd_make_hashes_read(struct xd_make_hashes *h, const char *path,
                        uint64_t piece_bytes, const struct xd_options *o,
                        struct xd_error *err);

#endif
