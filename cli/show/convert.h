/* SPDX-License-Identifier: MIT */
/*
 * The option show --format: writes a manifest in another format, to standard
 * output or to --output.
 */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include <xdownload/manifest.h>

#include "args/args.h"

/* Writes the manifest.  `file` is a file number or XD_ALL_FILES.  Prints what
 * went wrong, and returns a status. */
int convert(const struct args *a, const struct xd_manifest *m, size_t file);

#endif
