/* SPDX-License-Identifier: MIT */
/* Mappings, in any order and of any size, become extents with replicas. */
#ifndef XD_MANIFEST_EXTENTS_H
#define XD_MANIFEST_EXTENTS_H

#include "manifest/builder.h"
#include "manifest/model.h"

/*
 * The draft's mappings go to `f`, whose size is set: mappings of the same
 * bytes become one extent, the same URL twice one replica.
 * Errors: MANIFEST (a hole), NOMEM.
 */
int xd_extents_take(struct xd_builder *b, struct xd_model_file *f,
                    struct xd_model_rare *rare);

#endif
