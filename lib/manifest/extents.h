/* SPDX-License-Identifier: MIT */
/* Converts mappings, in any order and size, to extents with replicas. */
#ifndef XD_MANIFEST_EXTENTS_H
#define XD_MANIFEST_EXTENTS_H

#include "manifest/builder.h"
#include "manifest/model.h"

/*
 * Moves the mappings of the draft to `f`, whose size must be set.  Mappings of
 * the same bytes become one extent; a URL that occurs twice becomes one
 * replica.
 * Errors: MANIFEST (bytes without a source), NOMEM.
 */
int xd_extents_take(struct xd_builder *b, struct xd_model_file *f,
                    struct xd_model_rare *rare);

#endif
