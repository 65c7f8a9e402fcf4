/* SPDX-License-Identifier: MIT */
/*
 * Parses and writes the lines of an inventory that name objects (inventory.h),
 * and converts them to entries of a manifest.
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
    struct xd_range range; /* bytes of the upload line (upload_line.h) */
    struct xd_object object;
    char sha256[65]; /* SHA-256 of the bytes in hex, or "" */
};

struct xd_pending_object {
    /* bytes of the upload line; empty: the object must be deleted */
    struct xd_range range;
    struct xd_object object;
    bool was_left; /* see xd_inventory_leave_pending() */
};

/* The object of a replica that was replaced.  `manage` is "" if the replica had
 * no object. */
struct xd_replaced_object {
    struct xd_range range; /* bytes of the upload line */
    char *manage;          /* owned */
};

/* Sets *out to the text after `word` and a blank.  Returns false if the line
 * does not start with `word`. */
bool xd_inventory_value(struct xd_span line, const char *word,
                        struct xd_span *out);

/* read() parses the value of a line, and write() writes the line.  read()
 * returns false if the value is malformed or memory runs out; release *out even
 * then. */
bool xd_made_read(struct xd_made *out, struct xd_span value);
void xd_made_write(struct xd_text *to, const struct xd_made *m);
bool xd_pending_read(struct xd_pending_object *out, struct xd_span value);
void xd_pending_write(struct xd_text *to, const struct xd_pending_object *p);
bool xd_replaced_read(struct xd_replaced_object *out, struct xd_span value);
void xd_replaced_write(struct xd_text *to, struct xd_range range,
                       const char *manage);

/* Objects as entries of a manifest: replicas for bytes of the file, shards for
 * bytes after its end.  Strings belong to `made`. */
struct xd_made_lists {
    struct xd_edit_replica *replicas; /* owned */
    struct xd_edit_shard *shards;     /* owned; by ascending stripe */
    size_t n_replicas, n_shards;
};

/* Converts `n` objects.  Ownership: call fini() even after a failure.  Errors:
 * NOMEM. */
int xd_made_lists_init(struct xd_made_lists *out, const struct xd_made *made,
                       size_t n, const struct xd_upload_line *line,
                       struct xd_error *err);
void xd_made_lists_fini(struct xd_made_lists *l);

#endif
