/* SPDX-License-Identifier: MIT */
/*
 * Collects the names by which a manifest reads and manages objects, so that no
 * object is deleted that is still in use.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_OBJECT_NAMES_H
#define XD_PUBLISH_OBJECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#include "manifest/model.h"

/* A sorted list of names.  The strings belong to the file. */
struct xd_object_names {
    const char **list; /* owned */
    size_t n;
};

/* Collects the names of all replicas that are not dropped, including replicas
 * of parity and of stripes that are not in use.  `dropped` and `dropped_parity`
 * may be NULL if no replica is dropped.  Call fini() even after a failure.
 * Errors: NOMEM. */
int xd_object_names_of(struct xd_object_names *out,
                       const struct xd_model_file *f, const bool *dropped,
                       const bool *dropped_parity, struct xd_error *err);
bool xd_object_names_have(const struct xd_object_names *names,
                          const char *name);
void xd_object_names_fini(struct xd_object_names *names);

/* Returns true if the name has the form "HEX-OFFSET", which uploads use, or is
 * an IBP capability.  These names are secrets that nobody can guess. */
bool xd_is_of_upload(const char *manage);

#endif
