/* SPDX-License-Identifier: MIT */
/*
 * The paths of the files of an inventory (inventory.h).
 *
 * Pure.
 */
#ifndef XD_PUBLISH_INVENTORY_PATHS_H
#define XD_PUBLISH_INVENTORY_PATHS_H

/*
 * Return a path derived from another one: "F.private.xnd" from "F.xnd" or
 * "F.meta4", and "F.private.xnd.journal" from "F.private.xnd".
 * Ownership: the caller releases the path with xd_free().  NULL: out of memory,
 *            or `private_path` is NULL.
 */
char *xd_inventory_private_path_of(const char *path);
char *xd_inventory_journal_path_of(const char *private_path);

#endif
