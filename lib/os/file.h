/* SPDX-License-Identifier: MIT */
/*
 * All file access of the library, in one place so that tests can replace it.
 * Every descriptor is close-on-exec, and calls interrupted by a signal are
 * repeated.
 *
 * Errors: IO, with the path and the system's message.
 */
#ifndef XD_OS_FILE_H
#define XD_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

/*
 * Opens the folder that contains `path`.  Functions below that take a `folder`
 * use only the last component of their `path`, relative to that folder, so they
 * keep working in the same folder if it is renamed or a symbolic link changes.
 * The full `path` appears in their error messages.
 * Ownership: release *out_folder with xd_file_close().
 */
int xd_folder_open(int *out_folder, const char *path, struct xd_error *err);

/*
 * Like xd_folder_open(), but for a path from a manifest, which is not trusted.
 * The first `given` bytes of `path` name a folder chosen by the user, which may
 * be reached through links (0: the current folder).  Each folder after it is
 * created if missing and must not be a symbolic link.  *out_made is the number
 * of folders created.
 */
int xd_folder_make(int *out_folder, unsigned *out_made, const char *path,
                   size_t given, struct xd_error *err);

/* Removes the last `made` folders of `path` if they are empty.  `folder` is the
 * open descriptor of the innermost one. */
void xd_folder_unmake(int folder, unsigned made, const char *path);

/* Returns whether `path` still leads to this open folder. */
bool xd_folder_is_of(int folder, const char *path);

/* Waits until the names in the folder are on the disk. */
int xd_folder_sync(int folder, const char *path, struct xd_error *err);

/*
 * Opens a file that this process will write and read back, and creates it if it
 * is missing.  Symbolic links are not followed.  An existing file is not
 * changed; it must be a regular file with one name, and not opened by this
 * function elsewhere: it is locked until it is closed or the process ends.
 * Ownership: release *out_fd with xd_file_close().  *out_size is the present
 * length.
 */
int xd_file_own(int *out_fd, uint64_t *out_size, int folder, const char *path,
                struct xd_error *err);

/*
 * Like xd_file_own(), but no other user can change or read the file until
 * xd_file_set_rights() is called, so verified bytes stay verified.  An existing
 * file must belong to this user and must not be writable by others, who could
 * already have it open.
 */
int xd_file_own_private(int *out_fd, uint64_t *out_size, int folder,
                        const char *path, struct xd_error *err);

/* Sets the modification time, in seconds since 1970, of an open file or of the
 * file with this name, unless it is a link.  Failures are ignored. */
void xd_file_set_time(int fd, int64_t modified);
void xd_path_set_time(const char *path, int64_t modified);

/* Mode, user and group of a file. */
struct xd_file_rights {
    bool is_known; /* false: the file does not exist or cannot be examined */
    unsigned mode, user, group;
};

/* Return the rights that a new file in the folder gets, and those of the
 * regular file `path`. */
struct xd_file_rights xd_folder_new_rights(int folder);
struct xd_file_rights xd_file_rights_of(int folder, const char *path);

/*
 * Gives the open file these rights, so that the same users can use it as the
 * file it replaces.  Does nothing if the rights are unknown.  If the system
 * refuses to set the group, members of the file's group get no more rights than
 * all users.
 */
void xd_file_set_rights(int fd, const struct xd_file_rights *rights);

/* Checks that the file still has at least `size` bytes.  Errors: IO, also if
 * another program truncated it. */
int xd_file_check_size(int fd, const char *path, uint64_t size,
                       struct xd_error *err);

/* Like xd_file_check_size(), and checks that the open file still has the name
 * `path`. */
int xd_file_check_whole(int fd, int folder, const char *path, uint64_t size,
                        struct xd_error *err);

/* Creates a file without a name in `folder`; it disappears when closed.
 * Ownership: release *out_fd with xd_file_close(). */
int xd_file_temporary(int *out_fd, const char *folder, struct xd_error *err);

/* Writes all `len` bytes at `offset`.  `path` is only used in the error
 * message. */
int xd_file_write(int fd, const char *path, uint64_t offset, const void *data,
                  size_t len, struct xd_error *err);

/*
 * Opens a regular file, or a link to one, for reading.  Anything else, such as
 * a fifo or a device, is an error and is not opened.
 * Ownership: release *out_fd with xd_file_close().
 */
int xd_file_open(int *out_fd, uint64_t *out_size, const char *path,
                 struct xd_error *err);

/* Returns the modification time in whole seconds since 1970, 0 if unknown. */
int64_t xd_file_modified(int fd);

/* Writes a string that identifies the version of an open file: inode,
 * modification time and change time.  A program can set back the modification
 * time, but not the change time.  Writes "" if they are unknown. */
#define XD_FILE_STAMP_SIZE 120
void xd_file_stamp(int fd, char out[XD_FILE_STAMP_SIZE]);

/* Adds the first `most` holes of a sparse file to `out`, if the system can
 * report them.  Errors: NOMEM. */
struct xd_rangeset;
int xd_file_holes(int fd, uint64_t size, size_t most, struct xd_rangeset *out);

/* Reads up to `len` bytes at `offset`.  Returns their number, 0 at the end of
 * the file. */
int64_t xd_file_read(int fd, const char *path, uint64_t offset, void *data,
                     size_t len, struct xd_error *err);

/* Truncates or extends the file to `size` bytes. */
int xd_file_truncate(int fd, const char *path, uint64_t size,
                     struct xd_error *err);

/* Waits until written data is on the disk.  Succeeds at once on file systems
 * without sync. */
int xd_file_sync(int fd, const char *path, struct xd_error *err);

/* Makes the file system report failed writes now: some, such as NFS, report
 * them only when a file is closed.  The file stays open. */
int xd_file_flush(int fd, const char *path, struct xd_error *err);

/* Closes a file that was written to, even if it returns an error.  Errors:
 * IO. */
int xd_file_close_written(int fd, const char *path, struct xd_error *err);

/* Returns the free bytes on the file's disk, UINT64_MAX if unknown, and the
 * bytes that the file occupies there. */
int xd_file_space(int fd, const char *path, uint64_t *out_free,
                  uint64_t *out_taken, struct xd_error *err);

/* Renames `from` to `to` in the same folder.  Without `replace`, an existing
 * file is never overwritten, even if it is created at the same moment. */
int xd_file_rename(int folder, const char *from, const char *to, bool replace,
                   struct xd_error *err);

/* Like xd_file_rename(), for file systems that cannot rename an open file:
 * closes `fd`, renames the file, and opens it again under the same number.
 * Meanwhile reads from `fd` fail.  The lock on the file is lost. */
int xd_file_rename_closed(int fd, int folder, const char *from, const char *to,
                          bool replace, struct xd_error *err);

/* Removes the name; an open file remains usable.  Succeeds if there is no such
 * name. */
int xd_file_remove(int folder, const char *path, struct xd_error *err);

/* Removes `path` if it names the open file `fd` and that file is empty.
 * Returns whether it was removed. */
bool xd_file_remove_empty(int fd, int folder, const char *path);

/* Returns whether both names lead to the same file. */
bool xd_file_is_same(int folder, const char *a, const char *b);

/* Returns whether `path` names the open file `fd`. */
bool xd_file_has_name(int fd, int folder, const char *path);

/* Returns whether `folder` has an entry with the last component of `path`,
 * including a dangling link. */
bool xd_file_exists(int folder, const char *path);

/* Checks whether the file system accepts this name: its length and characters.
 * Some file systems report that only when the file is created. */
int xd_file_check_name(int folder, const char *path, struct xd_error *err);

/* means_bad_name() returns true if `os_errno`, from a failed attempt to create
 * a file, means that the file system does not accept the name.  fail_name()
 * fills in the error for that case and returns its code. */
bool xd_file_means_bad_name(int os_errno);
int xd_file_fail_name(const char *path, int os_errno, struct xd_error *err);

/* Returns whether anything, including a dangling link, exists at `path`. */
bool xd_path_exists(const char *path);

/* Returns whether both paths have the same folder part.  Compares text only. */
bool xd_path_is_beside(const char *a, const char *b);

/* Returns whether `fd` is open for writing. */
bool xd_file_is_writable(int fd);

void xd_file_close(int fd);

/* Writes the identifier of the current boot, or "" if unknown. */
#define XD_BOOT_ID_SIZE 40
void xd_boot_id(char out[XD_BOOT_ID_SIZE]);

#endif
