/* SPDX-License-Identifier: MIT */
/*
 * Functions for manifests that only the command needs.
 */
#ifndef XD_COMMAND_MANIFESTS_H
#define XD_COMMAND_MANIFESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

/*
 * Makes one manifest from files of several manifests, so that
 * xd_download_new_set() can download them together.  File `i` of the result is
 * file `files[i]` of `manifests[i]`.
 *
 * The path of file `i` is `paths[i]`.  It is not checked, so the caller must
 * make sure that it is safe and unique.  If `paths` or `paths[i]` is NULL, the
 * file keeps its path.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  The new
 *            manifest holds references to the manifests; the paths are copied.
 * Errors:    INVAL (`n` is 0, or a file does not exist), NOMEM.
 */
XD_MUST_CHECK int xd_manifest_gather(struct xd_manifest **out,
                                     struct xd_manifest *const *manifests,
                                     const size_t *files,
                                     const char *const *paths, size_t n,
                                     struct xd_error *err);

#endif
