/* SPDX-License-Identifier: MIT */
/*
 * The open files of a folder, at most FILES_MOST.  A file is opened once for
 * all its clients, and its struct tracks what they have received.  A modified
 * file counts as a new file.
 *
 * Threads: any.  Functions named _locked, and guarded fields, require the lock.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include "circus/circus.h"
#include "depot/disk.h"
#include "depot/disk_queue.h"

#define FILES_MOST 256

/* Limits for files that were first requested by one host, or by one client. */
#define FILES_OF_HOST (FILES_MOST / 2)
#define FILES_OF_CLIENT (FILES_MOST / 8)

/* Time in microseconds for which an unused file stays open.  Its clients are
 * remembered for the same time. */
#define FILES_IDLE_US 30000000

/* Number of ended requests that are remembered for each file. */
#define FILES_ROWS 128

/* A series of requests for consecutive ranges: its end, and its total length in
 * bytes. */
struct depot_row {
    uint64_t end, bytes;
};

struct depot_file {
    /* Constant while the file has users. */
    char *name; /* path as first requested; NULL: unused element */
    struct stat is;
    char etag[128];    /* including the quotes */
    char modified[40]; /* Last-Modified; "": none */
    struct disk_file io;

    /* guarded by the lock */
    /* NULL: the whole file fits into the active region */
    struct xd_circus *circus;
    struct depot_client opener; /* the first of its current users */
    bool is_shared;             /* whether another client also uses the file */
    bool is_of_many; /* whether clients of several hosts use the file */
    unsigned n_users;
    uint64_t used;    /* value of n_uses at its last use */
    uint64_t left_at; /* time of its last use */
    uint64_t sent;    /* number of bytes sent */
    struct depot_row rows[FILES_ROWS];
    unsigned n_rows; /* number of all rows so far */
};

struct depot_files {
    /* constant after files_init() */
    int folder;
    uint64_t active; /* size of the active region in bytes */
    struct disks *disks;
    struct xd_circus_pool *pool;

    pthread_mutex_t lock;
    /* guarded by lock */
    struct depot_file files[FILES_MOST];
    uint64_t n_uses;
    uint64_t disk_bytes, sent; /* sums of closed files */
};

/* Returns 0; after a failure, prints the error and returns the exit status. */
int files_init(struct depot_files *f, const char *folder, uint64_t active);

/* Call it when no file is in use, after disks_end().  Does nothing if
 * files_init() failed. */
void files_fini(struct depot_files *f);

/*
 * Opens the file at this path for a client, until files_leave_locked().
 * Errors: returns NULL.  *out_status is 404, or 503 if too many other files are
 * in use, in total or by this client.
 * Blocks: while the file system looks up the path.
 */
struct depot_file *files_enter(struct depot_files *f, const char *path,
                               const struct depot_client *c,
                               unsigned *out_status);
void files_leave_locked(struct depot_files *f, struct depot_file *file);

/* Closes files that were unused for FILES_IDLE_US.  Call it every few seconds.
 * Blocks: while the files are closed, without the lock. */
void files_close_idle(struct depot_files *f, uint64_t now_us);

/* Returns the Last-Modified date.  Returns NULL if the file changed within the
 * last seconds, because another change could have the same date. */
const char *files_modified(const struct depot_file *file);

/* row() returns how many bytes were requested in a series of consecutive ranges
 * that ends at `begin`.  end_row() records that a request ended at `end`. */
uint64_t files_row_locked(const struct depot_file *file, uint64_t begin);
void files_end_row_locked(struct depot_file *file, uint64_t end,
                          uint64_t bytes);

/* Returns true if the file still has the content that it had when opened. */
bool files_is_unchanged(const struct depot_file *file);

/* Returns the entry of client `id` in the circus of the file; release it with
 * xd_circus_leave().  Returns NULL if the client is not tracked.  It then gets
 * only what it requests. */
struct xd_circus_client *files_client_locked(struct depot_file *file,
                                             uint64_t id);

/* Returns the monotonic clock in microseconds. */
uint64_t files_now(void);

#endif
