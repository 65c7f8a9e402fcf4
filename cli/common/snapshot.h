/* SPDX-License-Identifier: MIT */
/*
 * The state of a download at one moment: the totals and the state of each
 * depot.
 */
#ifndef CLI_SNAPSHOT_H
#define CLI_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include <xdownload/download.h>

/* A depot.  Like struct xd_depot_stats, but much smaller, because there may be
 * 100,000 depots. */
struct snapshot_depot {
    const char *host, *url; /* owned by the download */
    enum xd_depot_state state;
    uint64_t bytes_held, bytes, bytes_redundant;
    unsigned requests, failures, connections, most_connections;
    double bytes_per_s, mean_bytes_per_s, first_byte_s, waited_s;
    bool is_connected, is_node; /* the depot is a node of a mesh */
    char *error;                /* message of its last error, or NULL */
};

/* The progress of a set of files.  Files start roughly in order, so the files
 * in flight are the first files that have not ended. */
struct snapshot_files {
    size_t n; /* number of files; 0: the download is not a set */
    /* numbers of ended and failed files, among all files that were examined so
     * far */
    size_t ended, failed;
    size_t first;         /* first unfinished file */
    size_t failed_before; /* number of failed files before `first` */
    char in_flight[240];  /* paths of files in flight, as many as fit */
};

struct snapshot {
    struct xd_progress progress;
    struct snapshot_files files;   /* the caller sets `n` */
    struct snapshot_depot *depots; /* in the order of the manifest */
    size_t n_depots, cap;
    /* time of the last depot update, and how long it took, in seconds */
    double depots_at, depots_cost;
};

/* Initializes an empty snapshot: nothing downloaded, no depots. */
void snapshot_init(struct snapshot *s);
void snapshot_fini(struct snapshot *s);

/* Takes the current state of `d`.  Depots are left out if memory runs out. */
void snapshot_take(struct snapshot *s, struct xd_download *d);

/* Like snapshot_take(), but if there are very many depots, their state may be
 * slightly old, because reading it takes time. */
void snapshot_glance(struct snapshot *s, struct xd_download *d);

/* Forgets the errors of failed depots, which were logged already. */
void snapshot_forget_errors(struct snapshot *s);

/* Makes room for at least `n` depots.  New depots are zeroed.  Returns false if
 * memory runs out. */
bool snapshot_reserve(struct snapshot *s, size_t n);

/* If nothing has arrived for a second although something was requested, writes
 * "connecting to d3..." or "waiting for d3, 5 s".  Otherwise returns false. */
bool snapshot_waits(const struct snapshot *s, char *out, size_t size);

/* Returns a word for the state, such as "busy" or "failed". */
const char *snapshot_state(enum xd_depot_state state);

#endif
