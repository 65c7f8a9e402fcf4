/* SPDX-License-Identifier: MIT */
/*
 * The inventory of an upload: the replicas that exist, in two manifests.
 *
 *     F.private.xnd       mode 0600; also has the names for deleting and
 *                         renewing objects; until the upload is complete, it
 *                         has a note for resuming it
 *     F.private.xnd.journal   mode 0600; changes since the last F.private.xnd
 *     F.xnd               public; written once every byte has a replica
 *
 * A manifest is written under a temporary name and renamed.  Changes are
 * appended to the journal (inventory_journal.h), because a manifest of
 * thousands of extents is long.  Private files are read only if no other user
 * could have written them, because commands act on what they say.
 *
 * The note consists of lines with a word and a value:
 *
 *     upload 1            version of this format
 *     name HEX            prefix of the names of all objects
 *     extent BYTES        length of extents
 *     stamp TEXT          stamp of the uploaded file; see xd_file_stamp()
 *     command WORD        instead of a stamp: the command that copies existing
 *                         replicas: "add", "parity", "heal"; missing in notes
 *                         of earlier versions
 *     made MANAGE         without a stamp: an object in the manifest that this
 *                         upload has made, if its name does not show that: an
 *                         IBP object, or one made under another name
 *     replaced BEGIN END MANAGE     a replica of these bytes of the upload line
 *                         (upload_line.h) has left the manifest, because it was
 *                         replaced; its object ("-": none) is deleted last
 *     pending BEGIN END MANAGE READ WRITE ID     an object that is being sent,
 *                         or was sent and may still appear: its bytes of the
 *                         line (empty: the object must be deleted) and its
 *                         names ("-": none); without END in notes of earlier
 *                         versions
 *
 * While objects are deleted that no mapping names any more, the note is
 * instead:
 *
 *     drop 1
 *     pending ...         one of these objects
 *
 * The journal has the same lines, and also:
 *
 *     over MANAGE         the object is no longer pending
 *     there BEGIN END EXPIRES SHA256 MANAGE READ WRITE     a replica or shard
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

/* size of a name: 128 random bits in hex, and a NUL */
#define XD_INVENTORY_NAME_SIZE 33

enum xd_inventory_command {
    XD_COMMAND_UNKNOWN, /* `put`, or the note does not say */
    XD_COMMAND_ADD,     /* `add`: makes copies of existing replicas */
    XD_COMMAND_PARITY,  /* `add --parity`: makes parity */
    XD_COMMAND_HEAL     /* `check --heal`: replaces bad replicas */
};

struct xd_inventory_note {
    char name[XD_INVENTORY_NAME_SIZE];
    enum xd_inventory_command command;
    uint64_t extent_bytes;
    char stamp[XD_FILE_STAMP_SIZE];
};

/*
 * Opens the inventory of the manifest at `path`, whose public manifest has the
 * format `format`.  Reads the files that exist, and writes nothing.
 * Ownership: *out is the caller's; release it with xd_inventory_free().
 * Errors:    IO (also if another user could have written the private manifest),
 *            MANIFEST (a file is malformed), NOMEM.
 */
int xd_inventory_open(struct xd_inventory **out, const char *path,
                      const char *format, struct xd_error *err);
void xd_inventory_free(struct xd_inventory *b);

/* Checks that the public manifest, if it exists, describes the same file as the
 * private one.  A manifest of another file must not be replaced.  Errors: IO,
 * MANIFEST, STATE, NOMEM. */
int xd_inventory_check_public(const struct xd_inventory *b,
                              struct xd_error *err);

const char *xd_inventory_private_path(const struct xd_inventory *b);

/* Returns whether the private manifest exists. */
bool xd_inventory_is_private(const struct xd_inventory *b);

/* Returns the private manifest if it exists, otherwise the public one, or NULL
 * if neither exists. */
struct xd_manifest *xd_inventory_manifest(const struct xd_inventory *b);

/* Returns whether the manifest belongs to an upload that was not completed, and
 * copies its note to *out. */
bool xd_inventory_is_unfinished(const struct xd_inventory *b,
                                struct xd_inventory_note *out);

/* Returns true if the unfinished upload made the object, which the manifest
 * names. */
bool xd_inventory_is_own(const struct xd_inventory *b, const char *manage);

/* Returns true if the object's name shows that the unfinished upload made it.
 * No other upload uses this name. */
bool xd_inventory_has_named(const struct xd_inventory *b, const char *manage);

/* Lets this upload continue the unfinished one under a new name prefix.
 * Objects that it has made before still count as its own.  Errors: NOMEM. */
int xd_inventory_rename(struct xd_inventory *b, struct xd_error *err);

/* Returns the object of the i-th replica that the earlier upload replaced, or
 * "" if the replica has no object. *out_range is the range of the replica in
 * the upload line.  Returns NULL past the last replica. */
const char *xd_inventory_replaced(const struct xd_inventory *b, size_t i,
                                  struct xd_range *out_range);

/* Forgets which objects the earlier upload made, because this upload does not
 * continue it. */
void xd_inventory_forget_own(struct xd_inventory *b);

/*
 * Before a new upload replaces the private manifest, copies it to
 * F.replaced-1.private.xnd, or to the same name with the next free number.
 * Ownership: *out is the path; the caller releases it with xd_free().  NULL:
 *            there is no private manifest, or it names no object.
 * Blocks:    on the disk.  Errors: IO, MANIFEST, NOMEM.
 */
int xd_inventory_keep_replaced(const struct xd_inventory *b, char **out,
                               struct xd_error *err);

/* Starts an upload of a new file (`anew`), or of the file that the existing
 * manifest describes.  Errors: NOMEM. */
int xd_inventory_begin(struct xd_inventory *b,
                       const struct xd_inventory_note *note, bool anew,
                       const char *name, uint64_t size, struct xd_error *err);

/* Starts deleting objects that the existing manifest names.  The objects become
 * pending. */
void xd_inventory_begin_drop(struct xd_inventory *b);

/* Sets the hashes of a new file.  Strings and pieces must outlive the
 * inventory. */
void xd_inventory_set_hashes(struct xd_inventory *b, const char *sha256,
                             const struct xd_model_pieces *pieces);

/* Sets the stripes for new parity, if the manifest has no stripes in use.
 * `stripes` must outlive the inventory. */
void xd_inventory_set_stripes(struct xd_inventory *b,
                              const struct xd_model_stripe *stripes, size_t n);

/* Records that the object exists and is no longer pending.  `range` says which
 * bytes of the upload line it holds.  `sha256` may be NULL, except for parity.
 * Errors: NOMEM. */
int xd_inventory_add(struct xd_inventory *b, struct xd_range range,
                     const struct xd_object *object, const char *sha256,
                     struct xd_error *err);

/* Removes replicas of the existing manifest.  `dropped` has a flag for each
 * replica, in the order of the extents, and must outlive the inventory. */
void xd_inventory_drop(struct xd_inventory *b, const bool *dropped);

/* Removes parity replicas.  `dropped` has a flag for each parity replica, in
 * the order of the stripes in use. */
void xd_inventory_drop_parity(struct xd_inventory *b, const bool *dropped);

/* Sets new expiry times of replicas, in seconds since 1970, in the order of the
 * extents.  0 leaves a replica unchanged.  The array must outlive the
 * inventory. */
void xd_inventory_renew(struct xd_inventory *b, const int64_t *expires_at);

/* Like xd_inventory_renew(), for parity replicas.  `reads` has the new URL for
 * reading each replica, or NULL for an unchanged URL.  `expires_at` or `reads`
 * may be NULL. */
void xd_inventory_renew_parity(struct xd_inventory *b,
                               const int64_t *expires_at,
                               const char *const *reads);

/* set_pending() records that an object is being sent or, if the range is empty,
 * that the object must be deleted.  Call it again when the object gets more
 * names.  unset_pending() removes the record.  `manage` identifies the object.
 * Errors: NOMEM. */
int xd_inventory_set_pending(struct xd_inventory *b, struct xd_range range,
                             const struct xd_object *object,
                             struct xd_error *err);
void xd_inventory_unset_pending(struct xd_inventory *b, const char *manage);

/* Stops tracking a pending object although it may exist.  A later run still
 * finds it in the note, but need not resume the upload because of it. */
void xd_inventory_leave_pending(struct xd_inventory *b, const char *manage);

/* Returns pending object number `i` and its range.  NULL past the last one. */
const struct xd_object *xd_inventory_pending(const struct xd_inventory *b,
                                             size_t i, struct xd_range *out);

/* Returns whether there are pending objects, except objects passed to
 * leave_pending(). */
bool xd_inventory_has_pending(const struct xd_inventory *b);

/*
 * Returns the current texts of both manifests.  *out_public is NULL as long as
 * some bytes have no replica.  If `is_over` is true, the note is omitted.
 * Ownership: the caller releases both texts with xd_manifest_text_free().
 * Errors:    INVAL (the format cannot describe the file), MANIFEST, NOMEM.
 */
int xd_inventory_texts(struct xd_inventory *b, bool is_over, char **out_private,
                       char **out_public, struct xd_error *err);

/*
 * Returns the changes since the last call of this function or of
 * xd_inventory_texts().  The result of that call must be on the disk already.
 * Ownership: *out is the caller's; release it with xd_free().  Errors: NOMEM.
 */
int xd_inventory_changes(struct xd_inventory *b, char **out,
                         struct xd_error *err);

/* Appends the text from xd_inventory_changes() to the journal of the private
 * text that was written last.  Threads, blocks and errors: like
 * xd_inventory_write(). */
int xd_inventory_append(struct xd_inventory *b, const char *changes,
                        struct xd_error *err);

/*
 * Replaces the manifest files by these texts and removes the journal.  If a
 * text is NULL, its file stays as it is.
 * Threads: one at a time; the lock of the inventory need not be held.
 * Blocks:  on the disk.  Errors: IO, NOMEM.
 */
int xd_inventory_write(struct xd_inventory *b, const char *private_text,
                       const char *public_text, struct xd_error *err);

#endif
