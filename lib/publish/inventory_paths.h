/* SPDX-License-Identifier: MIT */
/*
 * Where the files of an inventory are (inventory.h).
 *
 * Pure.
 */
#ifndef XD_PUBLISH_INVENTORY_PATHS_H
#define XD_PUBLISH_INVENTORY_PATHS_H

/* "F.xnd" -> "F.private.xnd"; "F.meta4" likewise; and that -> "F.private.xnd.journal".
 * Ownership: the caller's, to release with xd_free(); NULL: no memory, or no path. */
char *xd_inventory_private_path_of(const char *path);
char *xd_inventory_journal_path_of(const char *private_path);

#endif
