/* SPDX-License-Identifier: MIT */
/*
 * A run that is being recorded.  Private to trace.c and trace_simulation.c.
 */
#ifndef CLI_TRACE_RUN_H
#define CLI_TRACE_RUN_H

#include "trace/trace.h"

/* The state of the recording of one depot: a bit for each lane whose name was
 * written, and the last value of the counter in bytes. */
struct seen {
    uint64_t named, bytes;
};

struct trace_run {
    struct trace *trace;
    struct xd_download *download; /* NULL: the run is simulated */
    const struct xd_simulation *simulation;
    struct xd_reader *viewer;
    bool leaves_records;
    unsigned pid;
    /* seconds from the start of the trace to the start of the run; < 0: the run
     * has not started */
    double base_s;
    uint64_t in_order, received; /* last values of the counters */
    struct seen *seen;
    size_t n_seen;
    double depots_at, depots_cost;
};

/* Creates the next run of the trace.  Returns NULL if memory runs out. */
struct trace_run *trace_run_new(struct trace *t, const char *name);
void trace_run_free(struct trace_run *r);

/* Write events of a run: its start, its counters at `s` seconds after the
 * start, and its end with the number of lost records. */
void trace_run_begin(const struct trace_run *r, const char *algorithm);
void trace_run_bytes(struct trace_run *r, double s, uint64_t in_order,
                     uint64_t stored, uint64_t received, unsigned requests);
void trace_run_player(const struct trace_run *r, double s, uint64_t byte,
                      bool is_stalled);
void trace_run_end(const struct trace_run *r, double s, int rc,
                   const char *error, uint64_t size, uint64_t lost);

#endif
