/* SPDX-License-Identifier: MIT */
/*
 * Objects of an upload of ours in whose place a heal has put others: they are removed
 * once the manifests that do not name them any more are written, which note them
 * until then.
 */
#ifndef XD_PUBLISH_REPLACED_H
#define XD_PUBLISH_REPLACED_H

#include "publish/jobs.h"
#include "publish/stores.h"
#include "publish/upload.h"

struct xd_replaced {
    struct xd_upload *upload;
    struct xd_cancel *cancel;
    struct xd_stores stores; /* that were not typed */
    struct xd_object *objects;
    struct xd_job *jobs;
    size_t n;
};

/*
 * What is to be removed, as earlier runs have noted it, too, is noted in the inventory of `u`, of which every copy is
 * there.  Only what the user's own private manifest manages, by a name that uploads
 * give, and that nothing else in it names; in S3 only in a bucket that was typed.
 * Ownership: *out is the caller's, to release with xd_replaced_fini(), after a
 *            failure too.
 * Errors:    NOMEM.  With u->lock held.
 */
int xd_replaced_note_locked(struct xd_replaced *out, struct xd_upload *u,
                            struct xd_error *err);

/* Remove them.  What could not be removed is logged; what was not tried is in the
 * inventory still.  Blocks: until they have ended; a cancel ends it. */
void xd_replaced_remove(struct xd_replaced *r);

void xd_replaced_fini(struct xd_replaced *r);

#endif
