/* SPDX-License-Identifier: MIT */
/*
 * The hashes that the whole file must have, computed side by side.
 *
 * All that were given beside the manifest, for the manifest may be wrong or
 * hostile; and of its own the strongest, unless pieces or one that was given
 * prove as much.
 */
#ifndef XD_ENGINE_PROOF_H
#define XD_ENGINE_PROOF_H

#include <stddef.h>
#include <xdownload/manifest.h>

#include "engine/trust/pieces.h"
#include "io/hash.h"

struct xd_proof;

/*
 * *out is NULL where no hash is needed, or none can be computed.  `wanted` is
 * the whole file, `pieces` those that are checked beside it.
 * Ownership: the caller's; `m` outlives it.  Errors: NOMEM.
 */
int xd_proof_new(struct xd_proof **out, const struct xd_manifest *m,
                 size_t file, const struct xd_pieces *pieces,
                 struct xd_range wanted, struct xd_error *err);
void xd_proof_free(struct xd_proof *p); /* NULL does nothing */

void xd_proof_add(struct xd_proof *p, const void *data, size_t len);

/* All that was added is forgotten. */
void xd_proof_restart(struct xd_proof *p);

/* Holds all that was added against the hashes and begins anew.  Returns NULL if
 * it matches, or the algorithm by which it does not, strongest first; its
 * value, which lives as long as `p`, is then in *out_right, and what it is
 * instead in `out_hex`. */
const char *xd_proof_end(struct xd_proof *p, const char **out_right,
                         char out_hex[XD_HASH_HEX_MAX + 1]);

/* What proves the file, if all that is checked is right: the strongest
 * algorithm of `p` (or NULL) and of the pieces, if those are all of `wanted`;
 * NULL if nothing does. */
const char *xd_proof_strongest(const struct xd_proof *p,
                               const struct xd_pieces *pieces,
                               struct xd_range wanted);

#endif
