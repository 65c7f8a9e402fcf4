/* SPDX-License-Identifier: MIT */
/* The hashes of a file that is to have a manifest. */
#ifndef XD_PUBLISH_MAKE_HASHES_H
#define XD_PUBLISH_MAKE_HASHES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/options.h"

#define XD_MAKE_HEX 64 /* of SHA-256 */

struct xd_make_hashes {
    uint64_t size, piece_bytes;
    char whole[XD_MAKE_HEX + 1];
    char (*pieces)[XD_MAKE_HEX + 1];
    size_t
        n; /* pieces; 0: the file is empty, or is one piece, whose hash is that
                 of the whole */
};

/* The size of the pieces of such a file.  Pure. */
uint64_t xd_make_piece_bytes(uint64_t size);

/* Room for the pieces of a file of `size` bytes; `piece_bytes` 0 is as above.
 * Ownership: whatever it returns, release with xd_make_hashes_fini().
 * Errors:    INVAL (there would be too many), NOMEM. */
int xd_make_hashes_init(struct xd_make_hashes *h, uint64_t size,
                        uint64_t piece_bytes, struct xd_error *err);
void xd_make_hashes_fini(struct xd_make_hashes *h);

/*
 * Those of the file at `path`; the options' cancel ends it, and its log is given
 * how far it is.
 * Ownership: as above.
 * Blocks:    on the disk.
 * Errors:    IO, INVAL, CANCELED, NOMEM.
 */
int xd_make_hashes_read(struct xd_make_hashes *h, const char *path,
                        uint64_t piece_bytes, const struct xd_options *o,
                        struct xd_error *err);

#endif
