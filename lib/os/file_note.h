/* SPDX-License-Identifier: MIT */
/*
 * A short text stored with a complete file, as the extended attribute
 * user.xdownload.version.  It records which version was downloaded, so that a
 * later run notices when a server has a newer one.
 *
 * The attribute starts with the file's size and modification time.  Once these
 * have changed, the note is ignored.
 *
 * Only Linux has notes.  On other systems nothing is stored.
 */
#ifndef XD_OS_FILE_NOTE_H
#define XD_OS_FILE_NOTE_H

/* Limit on a note in bytes.  ext4 stores all attributes of a file in one block,
 * usually of 4 KiB. */
#define XD_FILE_NOTE_MAX 2048

/* Stores `text` with the open file, in place of an older note.  A text above
 * the limit is dropped, and the older note stays.  Failures are ignored, for
 * example on a file system without extended attributes. */
void xd_file_set_note(int fd, const char *text);

/* Returns the note of the open file.  NULL if there is none, if the file has
 * changed since, or if memory runs out.  Ownership: the caller releases it with
 * xd_free(). */
char *xd_file_note(int fd);

#endif
