/* SPDX-License-Identifier: MIT */
/*
 * The places of existing bytes that a sample check compares, with their hashes.
 */
#ifndef XD_ENGINE_SAMPLE_PLACES_H
#define XD_ENGINE_SAMPLE_PLACES_H

#include "engine/trust/sample_check.h"
#include "io/hash.h"

struct xd_sample_place {
    struct xd_range at; /* bytes of the file */
    char digest[XD_HASH_HEX_MAX + 1];
};

struct xd_sample_places {
    struct xd_sample_place *list;
    size_t n;

    /* private */
    unsigned char *buffer;
    struct xd_hasher *hasher;
};

/*
 * Chooses and hashes the places for `c`.  At least one of its depots holds
 * each place completely.
 * Ownership: release with xd_sample_places_fini(), also after an error.
 * Blocks:    on the disk.
 * Errors:    NOMEM, IO (the existing bytes cannot be read).
 */
int xd_sample_places_init(struct xd_sample_places *p,
                          const struct xd_sample_check *c,
                          struct xd_error *err);
void xd_sample_places_fini(struct xd_sample_places *p);

/* Sets `digest` to the hash of the existing bytes `at`, of any length.  Blocks
 * and errors: as above. */
int xd_sample_places_hash(struct xd_sample_places *p,
                          const struct xd_sample_check *c, struct xd_range at,
                          char digest[XD_HASH_HEX_MAX + 1],
                          struct xd_error *err);

#endif
