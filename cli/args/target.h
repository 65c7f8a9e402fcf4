/* SPDX-License-Identifier: MIT */
/*
 * Where a file goes.
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "args/args.h"

struct target {
    char *path;  /* NULL: standard output */
    char *part;  /* what it is called until it is complete, or NULL */
    char *inner; /* the path within --directory, as the manifest has it; NULL:
                      the path is --output's */
    int fd;      /* to be written to in order, or -1 */
};

/*
 * The place for a file that the manifest puts at `inner` (NULL: it does not say)
 * and that comes from `input`.  Looks at nothing.  Returns 0, or a status
 * after the reason was said.
 * Ownership: on success, to release with target_fini().
 */
int target_init(struct target *t, const struct args *a, const char *inner,
                const char *input);
void target_fini(struct target *t);

/* Whether the path leads to what is there to be written to, as it stands: a
 * FIFO, a device.  No manifest's word is enough for that. */
bool target_is_ordered(const struct target *t);

/* Whether something has the name `path` already. */
bool target_exists(const char *path);

/* Whether a folder of `inner` is a symbolic link by now: what lies behind it is
 * not ours to look at, and the download says so. */
bool target_is_behind_link(const struct target *t);

/* 0 if the file may be put there; else a status, and the reason in `why`. */
int target_check(const struct target *t, const struct args *a, char *why,
                 size_t size);

/* The same, and open what is to be written to in order.  Blocks: until a FIFO
 * has a reader. */
int target_open(struct target *t, const struct args *a, char *why, size_t size);

/* For programs: the path, or "-". */
const char *target_path(const struct target *t);

/* What to call the file: its path within --directory, or the last component of
 * that of --output; "standard output". */
const char *target_name(const struct target *t);

#endif
