/* SPDX-License-Identifier: MIT */
/*
 * Finds the file in a manifest that --file NAME selects.  NAME is its path, the
 * last components of its path, or its number.
 */
#ifndef CLI_CHOOSE_H
#define CLI_CHOOSE_H

#include <stdbool.h>

#include <xdownload/manifest.h>

#include "args/args.h"

/* Finds the index of the file.  Returns false if no file matches, or several
 * files match. */
bool choose_find(size_t *out, const struct args *a,
                 const struct xd_manifest *m);

/* Like choose_find(), but returns 0, or a status after printing which files the
 * manifest has.  `input` is the manifest's name for the message. */
int choose_file(size_t *out, const struct args *a, const struct xd_manifest *m,
                const char *input);

#endif
