/* SPDX-License-Identifier: MIT */
/*
 * Small files that are read and replaced as a whole.  Concurrent readers see
 * the old or the new version, never a mixture.  Only xd_small_file_append()
 * changes a file in place.
 *
 * A new version is written to a temporary file "PATH.XXXXXX" (with random
 * letters) in the same folder, which is then renamed.  A crash can leave the
 * temporary file behind.
 *
 * Errors: IO, with the path and the system's message; NOMEM.  The old version
 *         is then unchanged, unless only the sync of the folder failed, which
 *         comes last.
 */
#ifndef XD_OS_SMALL_FILE_H
#define XD_OS_SMALL_FILE_H

#include <stddef.h>
#include <xdownload/error.h>

#include "base/text.h"

/*
 * Appends the first `most` bytes of a regular file, or of a link to one, to
 * `out`.  The rest of a longer file is cut without an error: to notice it, pass
 * one byte more than allowed.  Appends nothing and returns 0 if lstat() fails,
 * which usually means that the file does not exist.  After an error, `out` may
 * hold a part of the file.
 */
int xd_small_file_read(struct xd_text *out, const char *path, size_t most,
                       struct xd_error *err);

/*
 * Like xd_small_file_read(), for a file with secrets.  An existing file must be
 * a regular file, no link, owned by the effective user, and inaccessible to
 * others (0600).  Returns 0 only if it does not exist; any other failure is an
 * error.
 */
int xd_small_file_read_private(struct xd_text *out, const char *path,
                               size_t most, struct xd_error *err);

/*
 * Replaces or creates the file.  It keeps the mode and owner of the old file as
 * far as the system allows.  A new file is readable only by its owner (0600),
 * and missing folders are created in the same way (0700).  Anything but a
 * regular file, also a link, is not replaced: error IO.  Does not sync: after a
 * loss of power, the file may be empty or broken.
 */
int xd_small_file_replace(const char *path, const char *text, size_t len,
                          struct xd_error *err);

/* Replaces or creates a file with secrets (0600 from the start, whatever the
 * mode of the old file).  Returns when it is on the disk; after a loss of
 * power, the file has the old or the new contents.  Its folder must exist.
 * Anything but a regular file, also a link, is not replaced: error IO. */
int xd_small_file_keep(const char *path, const char *text, size_t len,
                       struct xd_error *err);

/*
 * Appends to a file made by xd_small_file_keep().  The file must exist and be
 * as xd_small_file_read_private() requires.  There must be only one writer at a
 * time.  Returns when the text is on the disk.  After an error, or if the
 * process dies meanwhile, the file may end with a part of the text.
 */
int xd_small_file_append(const char *path, const char *text, size_t len,
                         struct xd_error *err);

/* What xd_small_file_publish() may replace. */
enum xd_replaceable {
    XD_REPLACE_NOTHING, /* an existing file or link is an IO error */
    XD_REPLACE_FILE,
    XD_REPLACE_FILE_OR_LINK /* the link itself, not its target */
};

/* Like xd_small_file_keep(), but for a user's file.  A new file, also one that
 * replaces a link, gets the default mode (umask).  A file that replaces another
 * keeps its mode and owner as far as the system allows. */
int xd_small_file_publish(const char *path, const char *text, size_t len,
                          enum xd_replaceable replaceable,
                          struct xd_error *err);

#endif
