/* SPDX-License-Identifier: MIT */
/*
 * The files of a folder that are being served, or were lately: at most FILES_MOST,
 * each open once for all its clients, with what they have got of it.  A file that
 * has changed is another one.
 *
 * Threads: any; functions that end in _locked, and fields that are guarded, with the
 * lock held.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include <xdownload/circus.h>

#include "depot/disk.h"

#define FILES_MOST 64

struct depot_file {
    /* Constant while it is entered. */
    char *name; /* as it was first asked for; NULL: none is here */
    const char *type;
    struct stat is;
    char etag[64];     /* with its quotes */
    char modified[40]; /* as Last-Modified has it */
    bool is_settled;   /* it was not modified just before it was opened, when
                          another change would not show in the second */
    struct disk_file io;

    /* Guarded by the lock. */
    struct xd_circus *circus; /* NULL: all of it fits into the active region */
    unsigned n_users;
    unsigned n_known; /* clients, when it was last asked */
    uint64_t used;    /* the table's uses, at the last one */
    uint64_t sent;    /* bytes */
};

struct depot_files {
    /* Constant after init(). */
    int folder;
    uint64_t active; /* bytes of the active region */
    struct disks *disks;

    pthread_mutex_t lock;
    /* Guarded by lock. */
    struct depot_file files[FILES_MOST];
    uint64_t n_uses;
    uint64_t disk_bytes, sent; /* of files that were closed */
};

/* Returns 0, or a status after the reason was said. */
int files_init(struct depot_files *f, const char *folder, uint64_t active);

/* When nothing is entered, and disks_end() was called.  What files_init() has
 * refused does nothing. */
void files_fini(struct depot_files *f);

/*
 * The file of this path, to be left with files_leave().
 * Errors: NULL; *out_status is 404, or 503 if too many others are being served.
 * Blocks: as long as the system looks for it.
 */
struct depot_file *files_enter(struct depot_files *f, const char *path,
                               unsigned *out_status);
void files_leave_locked(struct depot_files *f, struct depot_file *file);

/* Whether it is still what it was when it was opened. */
bool files_is_unchanged(const struct depot_file *file);

/* The client `id` of it, to leave with xd_circus_leave(); NULL: it is known no
 * more than that it asks, and gets what it asks for. */
struct xd_circus_client *files_client_locked(struct depot_files *f,
                                             struct depot_file *file,
                                             uint64_t id);

/* Microseconds of the monotonic clock. */
uint64_t files_now(void);

#endif
