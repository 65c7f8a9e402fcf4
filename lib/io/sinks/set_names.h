/* SPDX-License-Identifier: MIT */
/*
 * Checks whether a file system accepts the names of a set.
 */
#ifndef XD_IO_SET_NAMES_H
#define XD_IO_SET_NAMES_H

#include <stddef.h>

#include "io/sinks/set_sink.h"

/*
 * Checks that the file system of `directory` accepts each name, and treats no
 * two as the same.  Only doubtful names are tried, by creating files.  If no
 * files can be created, nothing is refused.
 * Blocks: on the disk.
 * Errors: IO (with the names), NOMEM.
 */
int xd_set_names_check(const struct xd_set_place *places, size_t n,
                       const char *directory, struct xd_error *err);

#endif
