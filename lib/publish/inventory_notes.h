/* SPDX-License-Identifier: MIT */
/*
 * What an inventory notes of objects, in lines (inventory.h): those that are there and
 * in no manifest so far, those that are pending, and which ones an upload has made.
 *
 * Pure.  A zeroed one has none.
 */
#ifndef XD_PUBLISH_INVENTORY_NOTES_H
#define XD_PUBLISH_INVENTORY_NOTES_H

#include "publish/inventory.h"
#include "publish/inventory_lines.h"

struct xd_inventory_notes {
    struct xd_inventory_note noted; /* by an earlier run */
    bool drops;                     /* objects are being removed */
    struct xd_made *made;           /* owned, as are those below */
    size_t n_made, made_capacity;
    struct xd_pending_object *pending;
    size_t n_pending, pending_capacity;
    struct xd_replaced_object *replaced; /* by an earlier run */
    size_t n_replaced, replaced_capacity;
    char **own; /* what manages objects of the upload whose names do not tell */
    size_t n_own, own_capacity;
};

void xd_inventory_notes_fini(struct xd_inventory_notes *notes);

/* A note, or a journal, is added to what is noted.  False: a line is none, or there is
 * no memory. */
bool xd_inventory_notes_read(struct xd_inventory_notes *notes, const char *s);

/* What leaves the manifest, as xd_inventory_drop() has it. */
struct xd_replaced_rows {
    const struct xd_model_file *file;
    const bool *dropped, *dropped_parity; /* NULL: none does */
};

/* The note, with what leaves now (NULL: nothing does); the caller's, to release with
 * xd_free().  NULL: no memory. */
char *xd_inventory_notes_write(const struct xd_inventory_notes *notes,
                               const struct xd_inventory_note *note,
                               const struct xd_replaced_rows *rows);

/* Those that are there are in a manifest.  False: no memory. */
bool xd_inventory_notes_forget_made(struct xd_inventory_notes *notes);

/* Whether the upload that an earlier run has noted has made the object. */
bool xd_inventory_notes_is_own(const struct xd_inventory_notes *notes,
                               const char *manage);

/* Whether that upload has given it the name that it has. */
bool xd_inventory_notes_has_named(const struct xd_inventory_notes *notes,
                                  const char *manage);

/* Those of the file that it has named are its own, whatever their name.  False: no
 * memory. */
bool xd_inventory_notes_keep(struct xd_inventory_notes *notes,
                             const struct xd_model_file *f);

/* It has made none. */
void xd_inventory_notes_forget_own(struct xd_inventory_notes *notes);

/* One that is pending: it is added, NULL without memory; found, at n_pending if there is
 * none; and ended, which returns whether it was. */
struct xd_pending_object *xd_inventory_notes_add(
    struct xd_inventory_notes *notes, struct xd_range range);
size_t xd_inventory_notes_find(const struct xd_inventory_notes *notes,
                               struct xd_span manage);
bool xd_inventory_notes_end(struct xd_inventory_notes *notes,
                            struct xd_span manage);

#endif
