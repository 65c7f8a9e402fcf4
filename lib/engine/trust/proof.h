/* SPDX-License-Identifier: MIT */
/*
 * The hashes that the whole file must have, all computed in one pass.
 *
 * - All hashes that the user gave besides the manifest, because the manifest
 *   may be wrong or malicious.
 * - The strongest hash of the manifest, unless a given one is at least as
 *   strong, or strong piece hashes verify all of the file.
 */
#ifndef XD_ENGINE_PROOF_H
#define XD_ENGINE_PROOF_H

#include <stddef.h>
#include <xdownload/manifest.h>

#include "engine/trust/pieces.h"
#include "io/hash.h"

struct xd_proof;

/*
 * Sets *out to NULL if no hash is needed, or none can be computed.  `wanted`
 * is the whole file; `pieces` are verified in addition.
 * Ownership: the caller's; `m` must outlive it.  Errors: NOMEM.
 */
int xd_proof_new(struct xd_proof **out, const struct xd_manifest *m,
                 size_t file, const struct xd_pieces *pieces,
                 struct xd_range wanted, struct xd_error *err);
void xd_proof_free(struct xd_proof *p); /* NULL does nothing */

void xd_proof_add(struct xd_proof *p, const void *data, size_t len);

/* Starts again without the data added so far. */
void xd_proof_restart(struct xd_proof *p);

/* Compares the expected hashes with the hashes of the data added, then starts
 * again.  Returns NULL if all match.  Otherwise returns the strongest algorithm
 * that does not match, and sets *out_right to the right hash (valid as long as
 * `p`) and `out_hex` to the actual one. */
const char *xd_proof_end(struct xd_proof *p, const char **out_right,
                         char out_hex[XD_HASH_HEX_MAX + 1]);

/* Returns the strongest algorithm that proves all of `wanted` if every check
 * succeeds.  It is an algorithm of `p` (or NULL), or of the pieces if they
 * cover `wanted`.  NULL if there is none. */
const char *xd_proof_strongest(const struct xd_proof *p,
                               const struct xd_pieces *pieces,
                               struct xd_range wanted);

#endif
