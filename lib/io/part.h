/* SPDX-License-Identifier: MIT */
/* Names of an unfinished file and of the files beside it. */
#ifndef XD_IO_PART_H
#define XD_IO_PART_H

#include "base/text.h"

#define XD_PART ".part"
#define XD_PART_JOURNAL ".part.journal"
#define XD_PART_SCRATCH ".part.scratch"

/*
 * Appends `path` + `suffix` to `out`.  If that name, or the longer one of a
 * journal, would exceed the limit of file systems, the end of the name is
 * replaced by a hash of the whole name.  The result is deterministic and unique
 * for each path.
 * Errors: sets out->failed.
 */
void xd_part_path(struct xd_text *out, const char *path, const char *suffix);

#endif
