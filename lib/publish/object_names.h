/* SPDX-License-Identifier: MIT */
/*
 * By which names objects are read and managed, so that none is removed that is used.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_OBJECT_NAMES_H
#define XD_PUBLISH_OBJECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#include "manifest/model.h"

/* In order; they are the file's. */
struct xd_object_names {
    const char **list; /* owned */
    size_t n;
};

/* Those of the replicas that are not `dropped`, and of parity, where NULL stands for
 * none, and of stripes that are not used all; to be released with fini(), after a
 * failure too.  Errors: NOMEM. */
int xd_object_names_of(struct xd_object_names *out,
                       const struct xd_model_file *f, const bool *dropped,
                       const bool *dropped_parity, struct xd_error *err);
bool xd_object_names_have(const struct xd_object_names *names,
                          const char *name);
void xd_object_names_fini(struct xd_object_names *names);

/* Whether an upload has called it so: "HEX-OFFSET".  Capabilities of IBP are
 * secrets anyway. */
bool xd_is_of_upload(const char *manage);

#endif
