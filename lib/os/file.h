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
 * Make a new file for writing and reading back, never following a link.  If one is there, it
 * is emptied, but only if it is a regular file with one link.
 * *out_fd is the caller's, to release with xd_file_close().
 */
int xd_file_create(int *out_fd, const char *path, struct xd_error *err);

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

/* Up to `len` bytes at `offset`; how many, 0 at the end. */
int64_t xd_file_read(int fd, const char *path, uint64_t offset, void *data,
                     size_t len, struct xd_error *err);

/* Cut or stretch it to `size` bytes. */
int xd_file_truncate(int fd, const char *path, uint64_t size,
                     struct xd_error *err);

/* Give `from` the name `to`.  Unless `replace`, never over an existing file,
 * also one that appears at the same moment. */
int xd_file_rename(const char *from, const char *to, bool replace,
                   struct xd_error *err);

/* Take the name away; an open file lives on without it. */
void xd_file_remove(const char *path);

/* Whether anything, a dangling link included, has this name. */
bool xd_file_exists(const char *path);

void xd_file_close(int fd);

#endif
