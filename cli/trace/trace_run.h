/* SPDX-License-Identifier: MIT */
/*
 * A run that is being recorded: what trace.c and trace_simulation.c share.
 */
#ifndef CLI_TRACE_RUN_H
#define CLI_TRACE_RUN_H

#include "trace/trace.h"

/* What is known of a depot: which of its lanes have a name, a bit for each, and
 * how much it had delivered when it was looked at last. */
struct seen {
    uint64_t named, bytes;
};

struct trace_run {
    struct trace *trace;
    struct xd_download *download; /* NULL: it is in virtual time */
    const struct xd_simulation *simulation;
    struct xd_reader *viewer;
    bool leaves_records;
    unsigned pid;
    double base_s; /* when it began, since the trace did; < 0: not yet */
    uint64_t in_order, received; /* as the counters were last */
    struct seen *seen;
    size_t n_seen;
    double depots_at, depots_cost;
};

/* The next run of the trace, or NULL without memory; and its end. */
struct trace_run *trace_run_new(struct trace *t, const char *name);
void trace_run_free(struct trace_run *r);

/* The events of a run: its begin, its counters `s` after that, and its end, with
 * the number of records that were lost. */
void trace_run_begin(const struct trace_run *r, const char *algorithm);
void trace_run_bytes(struct trace_run *r, double s, uint64_t in_order,
                     uint64_t stored, uint64_t received, unsigned requests);
void trace_run_player(const struct trace_run *r, double s, uint64_t byte,
                      bool is_stalled);
void trace_run_end(const struct trace_run *r, double s, int rc,
                   const char *error, uint64_t size, uint64_t lost);

#endif
