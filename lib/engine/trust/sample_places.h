/* SPDX-License-Identifier: MIT */
/*
 * Which places of the bytes that are there a sample check compares, and what
 * they hash to.
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

    /* Its own. */
    unsigned char *buffer;
    struct xd_hasher *hasher;
};

/*
 * The places for `c`, each of which at least one of its depots holds as a whole.
 * Ownership: whatever it returns, release with xd_sample_places_fini().
 * Blocks:    on the disk.
 * Errors:    NOMEM, IO (what is there cannot be read).
 */
int xd_sample_places_init(struct xd_sample_places *p,
                          const struct xd_sample_check *c,
                          struct xd_error *err);
void xd_sample_places_fini(struct xd_sample_places *p);

/* What is there of `at`, however long, hashes to.  Blocks and errors: as above.
 */
int xd_sample_places_hash(struct xd_sample_places *p,
                          const struct xd_sample_check *c, struct xd_range at,
                          char digest[XD_HASH_HEX_MAX + 1],
                          struct xd_error *err);

#endif
