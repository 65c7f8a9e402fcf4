/* SPDX-License-Identifier: MIT */
/* Stripes of a manifest that is edited, and what is common with its replicas. */
#ifndef XD_MANIFEST_EDIT_PARITY_H
#define XD_MANIFEST_EDIT_PARITY_H

#include "manifest/builder.h"
#include "manifest/edit.h"

/* A copy in the pool; NULL for NULL, or without memory. */
const char *xd_edit_text(struct xd_builder *b, const char *s);

/* "2026-11-24 18:00:00" in the pool; NULL for 0, or without memory. */
const char *xd_edit_date(struct xd_builder *b, int64_t at);

/* Those of `f`, which may be NULL, or, if it has none, those of the edit, with other
 * shards than before. */
void xd_edit_parity(struct xd_builder *b, const struct xd_model_file *f,
                    const struct xd_edit *edit);

#endif
