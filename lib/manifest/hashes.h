/* SPDX-License-Identifier: MIT */
/* Supported hash algorithms, and the hashes of a draft. */
#ifndef XD_MANIFEST_HASHES_H
#define XD_MANIFEST_HASHES_H

#include "manifest/builder.h"
#include "manifest/model.h"

struct xd_algorithm {
    const char *name;  /* standard name */
    const char *alias; /* other common name, or NULL */
    size_t hex_len;
    bool checks_pieces; /* a cryptographic hash that this library can compute */
};

#define XD_ALGORITHMS 8 /* size of the table */

/* Hex digits of the longest known hash. */
#define XD_KNOWN_HEX_MAX 128

/* Finds an algorithm by name or alias; NULL if unknown. */
const struct xd_algorithm *xd_algorithm_find(struct xd_span type);

/* Returns a rank, higher for stronger algorithms; 0 if it cannot be
 * computed. */
unsigned xd_algorithm_strength(const char *name);

/* Returns whether a hash of this algorithm is proof for bytes from any server:
 * SHA-256 or stronger (RFC 6249 section 6). */
bool xd_algorithm_is_strong(const char *name);

/* Returns the computable algorithm whose hashes have this many hex digits, or
 * NULL. */
const struct xd_algorithm *xd_algorithm_of_length(size_t hex_len);

/* Converts a hash to lower case.  Returns false if it is not a hash of this
 * algorithm. */
bool xd_hash_read(const struct xd_algorithm *algorithm, struct xd_span hex,
                  char out[XD_KNOWN_HEX_MAX + 1]);

/* Inserts a hash in the order of strength.  There must be room for it. */
void xd_hashes_insert(struct xd_model_file *f,
                      const struct xd_model_hash *hash);

/* Moves the hashes of the draft to `f` and its strongest piece list to `rare`.
 * Returns false if out of memory. */
bool xd_hashes_take(struct xd_builder *b, struct xd_model_file *f,
                    struct xd_model_rare *rare);

void xd_hashes_fini(struct xd_draft *d);

/* Adds the pieces of another file (may be NULL) to the current one. */
void xd_builder_copy_pieces(struct xd_builder *b,
                            const struct xd_model_pieces *p);

bool xd_draft_has_strong_hash(const struct xd_draft *d);

#endif
