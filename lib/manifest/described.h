/* SPDX-License-Identifier: MIT */
/*
 * A manifest that another text names as one of its file: what in it that file
 * is, and whether it can be believed.
 */
#ifndef XD_MANIFEST_DESCRIBED_H
#define XD_MANIFEST_DESCRIBED_H

#include <stdbool.h>

#include "manifest/model.h"

/* The file that is called `name` (NULL: it has none), or the only one; NULL:
 * there is none. */
const struct xd_model_file *xd_described_file(const struct xd_manifest *m,
                                              const char *name);

/* Why `f` (or NULL) does not describe a file of `size` bytes, which may be
 * unknown: "it is ..."; NULL: it may. */
const char *xd_described_refuse(const struct xd_model_file *f, uint64_t size);

/* Whether it has another hash of this kind, and what that is called then. */
bool xd_described_contradicts(const struct xd_model_file *f,
                              const char *algorithm, const char *hex);
#define XD_DESCRIBED_CONTRADICTS "it is of a file with another hash"

#endif
