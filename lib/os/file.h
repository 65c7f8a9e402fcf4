/* SPDX-License-Identifier: MIT */
/*
 * Files: the only calls that touch the disk, so that a test can stand in for
 * them.  Each is close-on-exec and survives EINTR.
 *
 * Errors: IO, with the path and what the system said.
 */
#ifndef XD_OS_FILE_H
#define XD_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

/*
 * Open the folder that `path` lies in.  What is done to its files by way of it
 * is done in that folder, whatever its name leads to meanwhile: where functions
 * take a folder they go by what stands behind the last slash of `path`, and
 * name all of it in their errors.
 * *out_folder is the caller's, to release with xd_file_close().
 */
int xd_folder_open(int *out_folder, const char *path, struct xd_error *err);

/*
 * The same where the path comes from a manifest: only its first `given` bytes
 * name a folder that is opened as it stands (0: the current one).  Each folder
 * behind them is made if it is not there, and must be no symbolic link.
 * *out_made is how many were made.
 */
int xd_folder_make(int *out_folder, unsigned *out_made, const char *path,
                   size_t given, struct xd_error *err);

/* Remove the last `made` folders of `path`, the last of which is open as
 * `folder`, as far as they are empty. */
void xd_folder_unmake(int folder, unsigned made, const char *path);

/* Whether `path` still leads into it. */
bool xd_folder_is_of(int folder, const char *path);

/* The names in it are on the disk: returns when they are. */
int xd_folder_sync(int folder, const char *path, struct xd_error *err);

/*
 * Open a file of our own for writing and reading back, and make it if it is
 * not there; never following a link.  What is there stays as it is, and must be
 * a regular file with one name that is not open in this way, neither this
 * process nor another: it is locked until it is closed or the process ends.
 * *out_fd is the caller's, to release with xd_file_close(); *out_size is how
 * long it is now.
 */
int xd_file_own(int *out_fd, uint64_t *out_size, int folder, const char *path,
                struct xd_error *err);

/*
 * The same of a file that no other user can change, so that what was proved of
 * its bytes stays true.  One that is there must belong to us, and others may
 * not be able to write to it: they could have it open.  No other user can read
 * it, until publish() gives it that mode.
 */
int xd_file_own_private(int *out_fd, uint64_t *out_size, int folder,
                        const char *path, struct xd_error *err);
void xd_file_publish(int fd, unsigned mode);

/* When it was last modified, in seconds since 1970: of an open file, and of what
 * has that name, if it is no link.  What fails leaves it as it is. */
void xd_file_set_time(int fd, int64_t modified);
void xd_path_set_time(const char *path, int64_t modified);

/* The mode of a new file in it; 0 if none can be made there. */
unsigned xd_folder_new_mode(int folder);

/* Errors: IO, also when it has fewer than `size` bytes: another program cut
 * it. */
int xd_file_check_size(int fd, const char *path, uint64_t size,
                       struct xd_error *err);

/* The same, and that the open file has the name `path` still. */
int xd_file_check_whole(int fd, int folder, const char *path, uint64_t size,
                        struct xd_error *err);

/* A new file in `folder` that has no name, and is gone when it is closed.
 * *out_fd is the caller's, to release with xd_file_close(). */
int xd_file_temporary(int *out_fd, const char *folder, struct xd_error *err);

/* All of it, at `offset`; `path` is for the error sentence. */
int xd_file_write(int fd, const char *path, uint64_t offset, const void *data,
                  size_t len, struct xd_error *err);

/*
 * Open a regular file, or a link to one, for reading; what else the path may
 * name (a fifo, a device) is neither waited for nor touched.
 * *out_fd is the caller's, to release with xd_file_close().
 */
int xd_file_open(int *out_fd, uint64_t *out_size, const char *path,
                 struct xd_error *err);

/* A word for when it was last written to, as exactly as its disk has that; ""
 * if that is unknown. */
#define XD_FILE_STAMP_SIZE 40
void xd_file_stamp(int fd, char out[XD_FILE_STAMP_SIZE]);

/* Adds the first `most` runs of the file that have no room on the disk to
 * `out`, as far as the system tells.  Errors: NOMEM. */
struct xd_rangeset;
int xd_file_holes(int fd, uint64_t size, size_t most, struct xd_rangeset *out);

/* Up to `len` bytes at `offset`; how many, 0 at the end. */
int64_t xd_file_read(int fd, const char *path, uint64_t offset, void *data,
                     size_t len, struct xd_error *err);

/* Cut or stretch it to `size` bytes. */
int xd_file_truncate(int fd, const char *path, uint64_t size,
                     struct xd_error *err);

/* What was written is on the disk: returns when it is. */
int xd_file_sync(int fd, const char *path, struct xd_error *err);

/* Bytes that may still be written to its disk, and that it takes up there. */
int xd_file_space(int fd, const char *path, uint64_t *out_free,
                  uint64_t *out_taken, struct xd_error *err);

/* Give `from` the name `to`, in the same folder.  Unless `replace`, never over
 * an existing file, also one that appears at the same moment. */
int xd_file_rename(int folder, const char *from, const char *to, bool replace,
                   struct xd_error *err);

/* Take the name away; a name that is not there is none, and an
 * open file lives on without it. */
int xd_file_remove(int folder, const char *path, struct xd_error *err);

/* The same for a name that the file `fd` has, if that file is empty.  Returns
 * whether the name is gone. */
bool xd_file_remove_empty(int fd, int folder, const char *path);

/* Whether both are names of one file. */
bool xd_file_is_same(int folder, const char *a, const char *b);

/* Whether `path` names the file that is open as `fd`. */
bool xd_file_has_name(int fd, int folder, const char *path);

/* Whether anything, a dangling link included, has this name: the last component
 * of `path`, in `folder`. */
bool xd_file_exists(int folder, const char *path);

/* Likewise of the whole path, from the current folder. */
bool xd_path_exists(const char *path);

/* Whether both lie in one folder, as they are written. */
bool xd_path_is_beside(const char *a, const char *b);

/* Whether `fd` is an open descriptor that may be written to. */
bool xd_file_is_writable(int fd);

void xd_file_close(int fd);

/* Another after each start of the machine; "" where the system does not say. */
#define XD_BOOT_ID_SIZE 40
void xd_boot_id(char out[XD_BOOT_ID_SIZE]);

#endif
