/* SPDX-License-Identifier: MIT */
/* Deletes objects of our own uploads that a heal has replaced.  An object is
 * deleted after both manifests were written without it.  Until then, the note
 * in the private manifest has its name. */
#ifndef XD_PUBLISH_REPLACED_H
#define XD_PUBLISH_REPLACED_H

#include "publish/jobs.h"
#include "publish/stores.h"
#include "publish/upload.h"

struct xd_replaced {
    struct xd_upload *upload;
    struct xd_cancel *cancel;
    struct xd_stores stores; /* stores whose URL the user did not give */
    struct xd_object *objects;
    struct xd_job *jobs;
    size_t n;
};

/*
 * Records the objects to be deleted in the inventory of `u`, including objects
 * that earlier runs recorded.  All copies of `u` must exist.
 *
 * An object is only deleted if the user's private manifest manages it, its name
 * has the form that uploads use, and nothing else in the manifest names it.
 * For S3, the user must also have given its bucket as an argument.
 * Ownership: *out is the caller's; release it with xd_replaced_fini(), even
 *            after a failure.
 * Errors:    NOMEM.  Call it with u->lock held.
 */
int xd_replaced_note_locked(struct xd_replaced *out, struct xd_upload *u,
                            struct xd_error *err);

/* Deletes the objects and logs failures.  Objects that were not tried remain in
 * the inventory.  Blocks: until all deletions have ended, or a cancel. */
void xd_replaced_remove(struct xd_replaced *r);

void xd_replaced_fini(struct xd_replaced *r);

#endif
