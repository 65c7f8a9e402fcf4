/* SPDX-License-Identifier: MIT */
/* Which hashes there are, and what becomes of those of a draft. */
#ifndef XD_MANIFEST_HASHES_H
#define XD_MANIFEST_HASHES_H

#include "manifest/builder.h"
#include "manifest/model.h"

struct xd_algorithm {
    const char *name;  /* as its standard writes it */
    const char *alias; /* as others do, or NULL */
    size_t hex_len;
    bool checks_pieces; /* a cryptographic hash, which can be computed */
};

#define XD_ALGORITHMS 8 /* that have names here */

/* Digits of the longest hash that has an algorithm here. */
#define XD_KNOWN_HEX_MAX 128

/* By its name, in either way of writing it; NULL if it is not known. */
const struct xd_algorithm *xd_algorithm_find(struct xd_span type);

/* The stronger, the greater; 0: it cannot be computed. */
unsigned xd_algorithm_strength(const char *name);

/* Whether a hash of this kind proves that bytes from anywhere are those of the
 * file: SHA-256 or better (RFC 6249, section 6). */
bool xd_algorithm_is_strong(const char *name);

/* That whose values have so many digits, of those that can be computed; or
 * NULL. */
const struct xd_algorithm *xd_algorithm_of_length(size_t hex_len);

/* The value in lower case; false if it is none of the algorithm. */
bool xd_hash_read(const struct xd_algorithm *algorithm, struct xd_span hex,
                  char out[XD_KNOWN_HEX_MAX + 1]);

/* Where the hash belongs by its strength; there is room for it. */
void xd_hashes_insert(struct xd_model_file *f,
                      const struct xd_model_hash *hash);

/* The draft's hashes go to `f`, and its best list of pieces to `rare`; false when
 * memory is out. */
bool xd_hashes_take(struct xd_builder *b, struct xd_model_file *f,
                    struct xd_model_rare *rare);

void xd_hashes_fini(struct xd_draft *d);

/* The pieces of another file, or NULL, as a list of the current one. */
void xd_builder_copy_pieces(struct xd_builder *b,
                            const struct xd_model_pieces *p);

bool xd_draft_has_strong_hash(const struct xd_draft *d);

#endif
