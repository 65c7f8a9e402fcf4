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
#include "depot/disk_queue.h"

#define FILES_MOST 256

/* Of these, for files that one host, or one client, was the first to ask for. */
#define FILES_OF_HOST (FILES_MOST / 2)
#define FILES_OF_CLIENT (FILES_MOST / 8)

/* Microseconds for which a file without requests stays open: as long as its clients are
 * known. */
#define FILES_IDLE_US 30000000

/* Requests of a file of which it is known where they ended. */
#define FILES_ROWS 128

/* Bytes that were asked for one after the other. */
struct depot_row {
    uint64_t end, bytes;
};

struct depot_file {
    /* Constant while it is entered. */
    char *name; /* as it was first asked for; NULL: none is here */
    struct stat is;
    char etag[64];     /* with its quotes */
    char modified[40]; /* as Last-Modified has it; "": there is no such date */
    struct disk_file io;

    /* Guarded by the lock. */
    struct xd_circus *circus; /* NULL: all of it fits into the active region */
    struct depot_client opener; /* the first of those that use it now, */
    bool is_shared;             /* another client has joined, */
    bool is_of_many;            /* from another host */
    unsigned n_users;
    uint64_t used;    /* the table's uses, at the last one */
    uint64_t left_at; /* the time of that */
    uint64_t sent;    /* bytes */
    struct depot_row rows[FILES_ROWS];
    unsigned n_rows; /* ever */
};

struct depot_files {
    /* Constant after init(). */
    int folder;
    uint64_t active; /* bytes of the active region */
    struct disks *disks;
    struct xd_circus_pool *pool;

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
 * The file of this path for a client, to be left with files_leave_locked().
 * Errors: NULL; *out_status is 404, or 503 if too many others are being served, of all
 *         or of this client.
 * Blocks: as long as the system looks for it.
 */
struct depot_file *files_enter(struct depot_files *f, const char *path,
                               const struct depot_client *c,
                               unsigned *out_status);
void files_leave_locked(struct depot_files *f, struct depot_file *file);

/* Close those that were not used for long; to be called now and then.
 * Blocks: as long as the system closes them, without the lock. */
void files_close_idle(struct depot_files *f, uint64_t now_us);

/* Its date as Last-Modified has it; NULL: it was changed just now, and another change
 * would not show in the second. */
const char *files_modified(const struct depot_file *file);

/* How many bytes were asked for up to `begin`, by requests that follow each other; and
 * up to `end`, as one of them has ended there. */
uint64_t files_row_locked(const struct depot_file *file, uint64_t begin);
void files_end_row_locked(struct depot_file *file, uint64_t end,
                          uint64_t bytes);

/* Whether it is still what it was when it was opened. */
bool files_is_unchanged(const struct depot_file *file);

/* The client `id` of it, to leave with xd_circus_leave(); NULL: it is known no
 * more than that it asks, and gets what it asks for. */
struct xd_circus_client *files_client_locked(struct depot_file *file,
                                             uint64_t id);

/* Microseconds of the monotonic clock. */
uint64_t files_now(void);

#endif
