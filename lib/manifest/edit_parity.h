/* SPDX-License-Identifier: MIT */
/* Edits the stripes of a manifest; and helpers shared with edit.c. */
#ifndef XD_MANIFEST_EDIT_PARITY_H
#define XD_MANIFEST_EDIT_PARITY_H

#include "manifest/builder.h"
#include "manifest/edit.h"

/* Copies to the pool.  Returns NULL for NULL, or if out of memory. */
const char *xd_edit_text(struct xd_builder *b, const char *s);

/* Returns "2026-11-24 18:00:00" in the pool; NULL for 0, or if out of
 * memory. */
const char *xd_edit_date(struct xd_builder *b, int64_t at);

/* Copies the stripes of `f` with edited shards.  If `f` is NULL or has no
 * stripes, copies the stripes of the edit. */
void xd_edit_parity(struct xd_builder *b, const struct xd_model_file *f,
                    const struct xd_edit *edit);

#endif
