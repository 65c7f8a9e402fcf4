/* SPDX-License-Identifier: MIT */
/*
 * The inventory of an upload: which replicas there are, in two manifests.
 *
 *     F.private.xnd       0600; with what manages the replicas, and, until the end,
 *                         a note from which the upload goes on
 *     F.private.xnd.journal   likewise: what has changed since that was written
 *     F.xnd               to hand out; once every byte has a replica
 *
 * A manifest is written under another name, which is then exchanged; the journal grows
 * (inventory_journal.h), since a manifest of thousands of extents is long.  The private
 * ones are read only if no other user can have written them: they make commands act.
 *
 * The note is lines of a word and a value:
 *
 *     upload 1            the version of this form
 *     name HEX            with which the names of all objects begin
 *     extent BYTES        their length
 *     stamp TEXT          of the file that is uploaded; xd_file_stamp()
 *     command WORD        where there is none, what makes copies of those that there
 *                         are: "add", "parity", "heal"; not in a note of an earlier version
 *     made MANAGE         an object in the manifest that this upload has made, of which
 *                         its name does not tell: of IBP, and those that it has made by
 *                         another name; where there is no stamp
 *     replaced BEGIN END MANAGE     bytes of the line of which a replica has left the
 *                         manifest, since it was replaced; and its object ("-": it has
 *                         no such), which is removed at the end
 *     pending BEGIN END MANAGE READ WRITE ID     an object that is being sent, or was
 *                         and may come to be there: its bytes of the line of the upload
 *                         (upload_line.h; none: it is to be removed), and its names
 *                         ("-": none); without END in a note of an earlier version
 *
 * or, while objects are being removed that no mapping names any more,
 *
 *     drop 1
 *     pending ...         one of them
 *
 * The journal has lines of these, too, and
 *
 *     over MANAGE         is pending no more
 *     there BEGIN END EXPIRES SHA256 MANAGE READ WRITE     a replica, or a shard
 *
 * Not thread-safe.
 */
#ifndef XD_PUBLISH_INVENTORY_H
#define XD_PUBLISH_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>

#include "base/range.h"
#include "manifest/model.h"
#include "os/file.h"
#include "store/store.h"

struct xd_inventory;

#define XD_INVENTORY_NAME_SIZE 33 /* 128 random bits in hex, and a NUL */

enum xd_inventory_command {
    XD_COMMAND_UNKNOWN, /* or a put */
    XD_COMMAND_ADD,     /* copies */
    XD_COMMAND_PARITY,  /* or parity */
    XD_COMMAND_HEAL
};

struct xd_inventory_note {
    char name[XD_INVENTORY_NAME_SIZE];
    enum xd_inventory_command command;
    uint64_t extent_bytes;
    char stamp[XD_FILE_STAMP_SIZE];
};

/*
 * An inventory of the manifest at `path`, which is to be handed out as `format`; of what
 * is there of it already, if `goes_on`.  Reads what is there, and writes nothing.
 * Ownership: *out is the caller's, to release with xd_inventory_free().
 * Errors:    IO (also: the private one may be another user's), MANIFEST (what is
 *            there cannot be understood), NOMEM.
 */
int xd_inventory_open(struct xd_inventory **out, const char *path,
                      const char *format, struct xd_error *err);
void xd_inventory_free(struct xd_inventory *b); /* NULL does nothing */

/* Whether what is handed out, if it is there, is a manifest of the file that the
 * private one describes: nothing else is to be replaced.
 * Errors: IO, MANIFEST, STATE, NOMEM. */
int xd_inventory_check_public(const struct xd_inventory *b,
                              struct xd_error *err);

const char *xd_inventory_private_path(const struct xd_inventory *b);

/* Whether the private manifest is there. */
bool xd_inventory_is_private(const struct xd_inventory *b);

/* What the private manifest says, if it is there; else what the public one does;
 * else NULL. */
struct xd_manifest *xd_inventory_manifest(const struct xd_inventory *b);

/* Whether it was of an upload that did not come to its end; *out is its note. */
bool xd_inventory_is_unfinished(const struct xd_inventory *b,
                                struct xd_inventory_note *out);

/* Whether that upload has made the object, which the manifest names. */
bool xd_inventory_is_own(const struct xd_inventory *b, const char *manage);

/* Whether that upload has given the object its name, which is no other's. */
bool xd_inventory_has_named(const struct xd_inventory *b, const char *manage);

/* This upload goes on from that one, and names its objects otherwise: what that one
 * has made stays its own.  Errors: NOMEM. */
int xd_inventory_rename(struct xd_inventory *b, struct xd_error *err);

/* The bytes of the line of which that upload has replaced the i-th replica, and what
 * managed it, "": nothing; NULL past the last. */
const char *xd_inventory_replaced(const struct xd_inventory *b, size_t i,
                                  struct xd_range *out_range);

/* This upload goes on from none. */
void xd_inventory_forget_own(struct xd_inventory *b);

/* It is of this upload from now on: of the manifest that is there, or, if `anew`,
 * of a new file.  Errors: NOMEM. */
int xd_inventory_begin(struct xd_inventory *b,
                       const struct xd_inventory_note *note, bool anew,
                       const char *name, uint64_t size, struct xd_error *err);

/* It is of the manifest that is there from now on, and of objects that are being
 * removed, which are its pending ones. */
void xd_inventory_begin_drop(struct xd_inventory *b);

/* Of a new file: what it hashes to.  Strings and pieces outlive the inventory. */
void xd_inventory_set_hashes(struct xd_inventory *b, const char *sha256,
                             const struct xd_model_pieces *pieces);

/* Where the manifest has no stripes that are used: which bytes get parity.  They
 * outlive the inventory. */
void xd_inventory_set_stripes(struct xd_inventory *b,
                              const struct xd_model_stripe *stripes, size_t n);

/* The object is there, with those bytes of the line (upload_line.h), and pending no
 * more; `sha256` may be NULL, but of parity.
 * Errors: NOMEM. */
int xd_inventory_add(struct xd_inventory *b, struct xd_range range,
                     const struct xd_object *object, const char *sha256,
                     struct xd_error *err);

/* The replicas of the manifest that is there are no more: those of which `dropped`
 * says so, extent by extent; it outlives the inventory. */
void xd_inventory_drop(struct xd_inventory *b, const bool *dropped);

/* Likewise the replicas of parity, stripe by stripe of those that are used. */
void xd_inventory_drop_parity(struct xd_inventory *b, const bool *dropped);

/* Those of them that live until another time now, in seconds since 1970, extent by
 * extent; 0: as before.  It outlives the inventory. */
void xd_inventory_renew(struct xd_inventory *b, const int64_t *expires_at);

/* Likewise those of parity; `reads` has the URLs by which they are read now, NULL: as
 * before.  Either may be NULL. */
void xd_inventory_renew_parity(struct xd_inventory *b,
                               const int64_t *expires_at,
                               const char *const *reads);

/* An object that is being sent, whose names may become more, or, with an empty range, is
 * to be removed; and that it is no more.  Objects are distinguished by what manages
 * them.  Errors: NOMEM. */
int xd_inventory_set_pending(struct xd_inventory *b, struct xd_range range,
                             const struct xd_object *object,
                             struct xd_error *err);
void xd_inventory_unset_pending(struct xd_inventory *b, const char *manage);

/* Nothing of it is under way any more, and whether it comes to be there was not seen:
 * the note keeps it, for a later run that goes on, but needs none. */
void xd_inventory_leave_pending(struct xd_inventory *b, const char *manage);

/* The i-th of those that are; NULL past the last. */
const struct xd_object *xd_inventory_pending(const struct xd_inventory *b,
                                             size_t i, struct xd_range *out);

/* Whether there is one beside those that were left. */
bool xd_inventory_has_pending(const struct xd_inventory *b);

/*
 * The texts of both manifests as they are now: *out_public is NULL as long as
 * bytes have no replica.  Without the note, if it `is_over`.
 * Ownership: the caller's, to release with xd_manifest_text_free().
 * Errors: INVAL (what the format cannot say), MANIFEST, NOMEM.
 */
int xd_inventory_texts(struct xd_inventory *b, bool is_over, char **out_private,
                       char **out_public, struct xd_error *err);

/* What has changed since texts() or this was called last, which were written.
 * Ownership: *out is the caller's, to release with xd_free().  Errors: NOMEM. */
int xd_inventory_changes(struct xd_inventory *b, char **out,
                         struct xd_error *err);

/* Add that to the journal of the private text that was written last.  As write(). */
int xd_inventory_append(struct xd_inventory *b, const char *changes,
                        struct xd_error *err);

/* Put them in their places; a NULL text is not written.  The journal is gone then.  One
 * thread at a time, without the lock of the inventory.  Blocks: on the disk.
 * Errors: IO, NOMEM. */
int xd_inventory_write(struct xd_inventory *b, const char *private_text,
                       const char *public_text, struct xd_error *err);

#endif
