/* SPDX-License-Identifier: MIT */
/*
 * Finds the description of a file in another manifest, and checks whether it
 * may be used.
 */
#ifndef XD_MANIFEST_DESCRIBED_H
#define XD_MANIFEST_DESCRIBED_H

#include <stdbool.h>

#include "manifest/model.h"

/* Returns the file called `name` (NULL: unknown), or else the only file; NULL
 * if there is none. */
const struct xd_model_file *xd_described_file(const struct xd_manifest *m,
                                              const char *name);

/* Returns why `f`, which may be NULL, cannot describe a file of `size` bytes
 * (possibly unknown), as "it is ..."; NULL if it can. */
const char *xd_described_refuse(const struct xd_model_file *f, uint64_t size);

/* Returns whether `f` has a different hash of this algorithm.
 * XD_DESCRIBED_CONTRADICTS is the reason to give for refusing it. */
bool xd_described_contradicts(const struct xd_model_file *f,
                              const char *algorithm, const char *hex);
#define XD_DESCRIBED_CONTRADICTS "it is of a file with another hash"

#endif
