/* SPDX-License-Identifier: MIT */
/*
 * The lines of an inventory that name objects (inventory.h), and what they become in
 * a manifest.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_INVENTORY_LINES_H
#define XD_PUBLISH_INVENTORY_LINES_H

#include <stdbool.h>

#include "base/span.h"
#include "base/text.h"
#include "manifest/edit.h"
#include "publish/upload_line.h"
#include "store/store.h"

/* An object that this upload has made. */
struct xd_made {
    struct xd_range range; /* of the line of the upload */
    struct xd_object object;
    char sha256[65]; /* or "" */
};

struct xd_pending_object {
    struct xd_range range; /* likewise; empty: it is to be removed */
    struct xd_object object;
    bool was_left;
};

/* What managed a replica that was replaced; or "". */
struct xd_replaced_object {
    struct xd_range range; /* likewise */
    char *manage;          /* owned */
};

/* What stands behind `word` and a blank in the line; false: another word. */
bool xd_inventory_value(struct xd_span line, const char *word,
                        struct xd_span *out);

/* What such a value says, and the line of it.  read() returns false where it is none,
 * or without memory; what there is of *out is then to be released as well. */
bool xd_made_read(struct xd_made *out, struct xd_span value);
void xd_made_write(struct xd_text *to, const struct xd_made *m);
bool xd_pending_read(struct xd_pending_object *out, struct xd_span value);
void xd_pending_write(struct xd_text *to, const struct xd_pending_object *p);
bool xd_replaced_read(struct xd_replaced_object *out, struct xd_span value);
void xd_replaced_write(struct xd_text *to, struct xd_range range,
                       const char *manage);

/* Objects as a manifest has them: what is in the file is a replica, what lies behind
 * it a shard.  Strings are those of `made`. */
struct xd_made_lists {
    struct xd_edit_replica *replicas; /* owned */
    struct xd_edit_shard *shards;     /* owned; by ascending stripe */
    size_t n_replicas, n_shards;
};

/* Ownership: to be released with fini(), after a failure too.  Errors: NOMEM. */
int xd_made_lists_init(struct xd_made_lists *out, const struct xd_made *made,
                       size_t n, const struct xd_upload_line *line,
                       struct xd_error *err);
void xd_made_lists_fini(struct xd_made_lists *l);

#endif
