/* SPDX-License-Identifier: MIT */
/* The path to which a file is written. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "args/args.h"

struct target {
    char *path; /* NULL: standard output */
    char *part; /* name of the file while it is incomplete, or NULL */
    /* path in the manifest, below --directory; NULL: `path` is from --output */
    char *inner;
    int fd;        /* opened for writing in order; or -1 */
    bool replaces; /* a complete download replaces an existing file, as with
                      --force */
};

/*
 * Chooses the path for a file.  `input` is the manifest or URL of the file.
 * `inner` is its path in the manifest, or NULL.  Does not access the disk.
 * Returns 0, or a status after printing what is wrong.
 * Ownership: on success the caller releases *t with target_fini().
 */
int target_init(struct target *t, const struct args *a, const char *inner,
                const char *input);
void target_fini(struct target *t);

/* Returns true if the path is a FIFO or a device, which is written in order.
 * Only a path that the user gave may be one. */
bool target_is_ordered(const struct target *t);

/* Returns true if a file of any type exists at this path. */
bool target_exists(const char *path);

/* Returns true if a folder of `inner` is a symbolic link.  Then files behind
 * the link must not be accessed.  The download reports the link. */
bool target_is_behind_link(const struct target *t);

/* Returns 0 if the file may be written, or a status with the reason in
 * `why`. */
int target_check(const struct target *t, const struct args *a, char *why,
                 size_t size);

/* Like target_check(), but also opens a FIFO or a device.  Blocks: until a FIFO
 * has a reader. */
int target_open(struct target *t, const struct args *a, char *why, size_t size);

/* Returns the path, or "-" for standard output. */
const char *target_path(const struct target *t);

/* Returns a name for messages: the path below --directory, the last component
 * of --output, or "standard output". */
const char *target_name(const struct target *t);

#endif
