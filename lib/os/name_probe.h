/* SPDX-License-Identifier: MIT */
/*
 * Finds out which file names a file system accepts, and which it treats as the
 * same: names that differ only in case or in Unicode normalization.  It creates
 * empty files in a temporary folder.
 *
 * Threads: one.  Blocks: on the disk.
 */
#ifndef XD_OS_NAME_PROBE_H
#define XD_OS_NAME_PROBE_H

#include <stdbool.h>
#include <stddef.h>

struct xd_name_probe;

/* Creates the temporary folder in `directory` (NULL: the current one), or in
 * the nearest existing folder above it.  Returns NULL on failure.
 * Ownership: release with xd_name_probe_free(). */
struct xd_name_probe *xd_name_probe_new(const char *directory);

/* Creates an empty file with this relative path, and its folders.  Returns 0 or
 * an errno: EEXIST if an earlier name leads to the same file. */
int xd_name_probe_add(struct xd_name_probe *p, const char *path);

/* Returns whether both paths lead to the same file. */
bool xd_name_probe_is_same(const struct xd_name_probe *p, const char *a,
                           const char *b);

/* Removes everything that was created.  NULL: does nothing. */
void xd_name_probe_free(struct xd_name_probe *p);

#endif
