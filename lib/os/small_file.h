/* SPDX-License-Identifier: MIT */
/*
 * A small file of our own that is read, and replaced, as a whole.  A process that
 * reads it meanwhile sees the old one or the new one.
 *
 * Errors: IO, with the path and what the system said; NOMEM.
 */
#ifndef XD_OS_SMALL_FILE_H
#define XD_OS_SMALL_FILE_H

#include <stddef.h>
#include <xdownload/error.h>

#include "base/text.h"

/* Add the regular file's first `most` bytes to `out`; of one that is not there,
 * none. */
int xd_small_file_read(struct xd_text *out, const char *path, size_t most,
                       struct xd_error *err);

/*
 * The same for a file with secrets, which no other user can have written: one
 * that is there must be a regular file, not a link to one, belong to the effective
 * user, and be of use to no other (0600).
 */
int xd_small_file_read_private(struct xd_text *out, const char *path,
                               size_t most, struct xd_error *err);

/* Only its owner may read the new one (0600), and so it is with folders on the
 * way to it (0700), which are made.  What is there and no regular file is not
 * replaced. */
int xd_small_file_replace(const char *path, const char *text, size_t len,
                          struct xd_error *err);

/* The same, and after a loss of power it is the old one or the new one, too: returns
 * when the new one is on the disk.  Its folder is there. */
int xd_small_file_keep(const char *path, const char *text, size_t len,
                       struct xd_error *err);

/* Add to the end of a file that keep() has made: returns when it is on the disk.  A
 * process that dies meanwhile leaves the first part of the text there, or none. */
int xd_small_file_append(const char *path, const char *text, size_t len,
                         struct xd_error *err);

/* The same as keep() for a file that others may read, as the user's files are by
 * default (umask). */
int xd_small_file_publish(const char *path, const char *text, size_t len,
                          struct xd_error *err);

#endif
