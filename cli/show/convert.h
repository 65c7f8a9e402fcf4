/* SPDX-License-Identifier: MIT */
/*
 * show --format: a manifest in another format, to standard output or --output.
 */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include <xdownload/manifest.h>

#include "args/args.h"

/* `file` is its number, or XD_ALL_FILES.  Returns a status; what went wrong was
 * said. */
int convert(const struct args *a, const struct xd_manifest *m, size_t file);

#endif
