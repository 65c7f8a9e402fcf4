/* SPDX-License-Identifier: MIT */
/* What an unfinished file is called, and what lies beside it. */
#ifndef XD_IO_PART_H
#define XD_IO_PART_H

#include "base/text.h"

#define XD_PART ".part"
#define XD_PART_JOURNAL ".part.journal"
#define XD_PART_SCRATCH ".part.scratch"

/*
 * Add to `out` the name that `path` has with one of these suffixes behind it.
 * Where that, or what a journal adds to its own name, would be longer than file
 * systems allow, the name is cut, and has a hash of all of it in place of the
 * rest: still the same for the same path, and of no other file.
 * Errors: out->failed.
 */
void xd_part_path(struct xd_text *out, const char *path, const char *suffix);

#endif
