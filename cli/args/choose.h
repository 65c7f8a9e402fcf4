/* SPDX-License-Identifier: MIT */
/*
 * --file NAME: one file of those that a manifest describes, by its path or the
 * end of that, or, if none is called so, by its number.
 */
#ifndef CLI_CHOOSE_H
#define CLI_CHOOSE_H

#include <stdbool.h>

#include <xdownload/manifest.h>

#include "args/args.h"

/* The index of the file that --file means; false if there is none, or more than
 * one whose path ends so. */
bool choose_find(size_t *out, const struct args *a,
                 const struct xd_manifest *m);

/* The same, or a status after it was said that
 * `input` describes none of that name. */
int choose_file(size_t *out, const struct args *a, const struct xd_manifest *m,
                const char *input);

#endif
