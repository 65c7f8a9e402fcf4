/* SPDX-License-Identifier: MIT */
/*
 * The notes of an inventory about objects, in lines (inventory.h): objects that
 * exist but are in no manifest yet, pending objects, and objects that an upload
 * has made.
 *
 * Pure.  A zeroed struct has no notes.
 */
#ifndef XD_PUBLISH_INVENTORY_NOTES_H
#define XD_PUBLISH_INVENTORY_NOTES_H

#include "publish/inventory.h"
#include "publish/inventory_lines.h"

struct xd_inventory_notes {
    struct xd_inventory_note noted; /* note of an earlier run */
    bool drops;                     /* true while objects are being deleted */
    struct xd_made *made;           /* owned, like the lists below */
    size_t n_made, made_capacity;
    struct xd_pending_object *pending;
    size_t n_pending, pending_capacity;
    /* objects that an earlier run replaced */
    struct xd_replaced_object *replaced;
    size_t n_replaced, replaced_capacity;
    char **own; /* names of our objects that lack the name prefix */
    size_t n_own, own_capacity;
};

void xd_inventory_notes_fini(struct xd_inventory_notes *notes);

/* Adds the lines of a note or journal.  Returns false if a line is malformed or
 * memory runs out. */
bool xd_inventory_notes_read(struct xd_inventory_notes *notes, const char *s);

/* Replicas that leave the manifest: see xd_inventory_drop(). */
struct xd_replaced_rows {
    const struct xd_model_file *file;
    /* flags for each replica and parity replica; NULL: no replica leaves */
    const bool *dropped, *dropped_parity;
};

/* Returns the text of the note.  `rows` are the replicas that are being removed
 * now (NULL: none).  The caller releases the text with xd_free().  NULL: out of
 * memory. */
char *xd_inventory_notes_write(const struct xd_inventory_notes *notes,
                               const struct xd_inventory_note *note,
                               const struct xd_replaced_rows *rows);

/* Clears the list of objects that the upload has made, because a manifest names
 * them now.  Returns false if memory runs out. */
bool xd_inventory_notes_forget_made(struct xd_inventory_notes *notes);

/* Returns true if the upload of the earlier run made the object. */
bool xd_inventory_notes_is_own(const struct xd_inventory_notes *notes,
                               const char *manage);

/* Returns true if the object's name shows that this upload made it. */
bool xd_inventory_notes_has_named(const struct xd_inventory_notes *notes,
                                  const char *manage);

/* Adds the objects of the file whose names have the prefix of the upload to the
 * list `own`.  They then still count as objects of the upload when the prefix
 * changes.  Returns false if memory runs out. */
bool xd_inventory_notes_keep(struct xd_inventory_notes *notes,
                             const struct xd_model_file *f);

/* Forgets which objects the upload has made. */
void xd_inventory_notes_forget_own(struct xd_inventory_notes *notes);

/* Functions for pending objects.  add() returns a new pending object, or NULL
 * if memory runs out.  find() returns the index of an object, or n_pending.
 * end() removes an object and returns whether it existed. */
struct xd_pending_object *xd_inventory_notes_add(
    struct xd_inventory_notes *notes, struct xd_range range);
size_t xd_inventory_notes_find(const struct xd_inventory_notes *notes,
                               struct xd_span manage);
bool xd_inventory_notes_end(struct xd_inventory_notes *notes,
                            struct xd_span manage);

#endif
