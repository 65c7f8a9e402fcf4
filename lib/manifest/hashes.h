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

/* The draft's hashes and its best list of pieces go to `f`; false when memory
 * is out. */
bool xd_hashes_take(struct xd_builder *b, struct xd_model_file *f);

void xd_hashes_fini(struct xd_draft *d);

#endif
