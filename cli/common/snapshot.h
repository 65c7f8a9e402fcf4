/* SPDX-License-Identifier: MIT */
/*
 * Where a download stands at one moment: the whole, and each depot.
 */
#ifndef CLI_SNAPSHOT_H
#define CLI_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include <xdownload/download.h>

/* A depot, as struct xd_depot_stats describes it, in a fraction of the memory:
 * there may be 100 000. */
struct snapshot_depot {
    const char *host, *url; /* the download's */
    enum xd_depot_state state;
    uint64_t bytes_held, bytes, bytes_redundant;
    unsigned requests, failures, connections, most_connections;
    double bytes_per_s, mean_bytes_per_s, first_byte_s, waited_s;
    bool is_connected, is_node; /* of a mesh */
    char *error;                /* the sentence of its last error, or NULL */
};

/* Of a set: files begin roughly in order, so that those in flight are the first
 * that have not ended. */
struct snapshot_files {
    size_t n;             /* 0: it is no set */
    size_t ended, failed; /* of those up to a few behind the first that has not
                             ended */
    size_t first;         /* that has not ended */
    size_t failed_before; /* it */
    char in_flight[240];  /* their paths, as far as there is room */
};

struct snapshot {
    struct xd_progress progress;
    struct snapshot_files files;   /* n is the caller's to set */
    struct snapshot_depot *depots; /* in the manifest's order */
    size_t n_depots, cap;
    double depots_at, depots_cost; /* seconds: when they were taken last, and
                                      how long that took */
};

/* Empty: nothing has been fetched from nowhere. */
void snapshot_init(struct snapshot *s);
void snapshot_fini(struct snapshot *s);

/* The present state of `d`.  Depots for which there is no memory are left
 * out. */
void snapshot_take(struct snapshot *s, struct xd_download *d);

/* Likewise, but the depots may be those of a while ago where there are so many
 * that to look at them takes its time. */
void snapshot_glance(struct snapshot *s, struct xd_download *d);

/* Of depots that have failed, the error was logged when they did. */
void snapshot_forget_errors(struct snapshot *s);

/* Room for `n` depots at least; false without memory.  New ones are zeroed. */
bool snapshot_reserve(struct snapshot *s, size_t n);

/* "connecting to d3..." or "waiting for d3, 5 s", if nothing has come for a
 * second though something was asked for; else false. */
bool snapshot_waits(const struct snapshot *s, char *out, size_t size);

/* "busy", "failed"... */
const char *snapshot_state(enum xd_depot_state state);

#endif
