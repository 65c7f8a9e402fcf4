/* SPDX-License-Identifier: MIT */
/*
 * Which extents of a file have bytes of a range, for ranges that come in order: all of
 * them in one pass over the extents.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_OVERLAPS_H
#define XD_PUBLISH_OVERLAPS_H

#include <stddef.h>
#include <xdownload/error.h>

#include "base/range.h"
#include "manifest/model.h"

struct xd_overlaps {
    const struct xd_model_file *file;
    size_t *list; /* numbers of extents, ascending; owned */
    size_t n;
    size_t next; /* the first extent that was not looked at */
};

/* The file outlives it.  Ownership: to be released with fini(), after a failure too.
 * Errors: NOMEM. */
int xd_overlaps_init(struct xd_overlaps *out, const struct xd_model_file *file,
                     struct xd_error *err);
void xd_overlaps_fini(struct xd_overlaps *o);

/* The list is of this range, which does not begin before the last one; if it ends before
 * that it may have extents, too, that begin behind it. */
void xd_overlaps_move(struct xd_overlaps *o, struct xd_range range);

#endif
