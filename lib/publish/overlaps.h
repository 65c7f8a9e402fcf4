/* SPDX-License-Identifier: MIT */
/*
 * Finds the extents of a file that overlap a range.  For ascending ranges it
 * needs a single pass over all extents.
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
    size_t *list; /* ascending numbers of extents; owned */
    size_t n;
    size_t next; /* first extent that was not examined yet */
};

/*
 * Prepares an empty list.  `file` must outlive it.
 * Ownership: call fini() even after a failure.
 * Errors:    NOMEM.
 */
int xd_overlaps_init(struct xd_overlaps *out, const struct xd_model_file *file,
                     struct xd_error *err);
void xd_overlaps_fini(struct xd_overlaps *o);

/* Lists the extents that overlap this range.  The range must not begin before
 * the range of the previous call.  If it ends before the end of that range, the
 * list may also have extents that begin after its end. */
void xd_overlaps_move(struct xd_overlaps *o, struct xd_range range);

#endif
