/* SPDX-License-Identifier: MIT */
/*
 * A profile of one run of a trace.  Its size does not depend on the length of
 * the trace: time is divided into slots, and the bytes of each slot are added
 * up.  The file is read twice.  The first pass finds the length of the run and
 * its depots.
 */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include <stddef.h>

#include "trace/trace_reader.h"

#define PROFILE_SLOTS 1336
#define PROFILE_DEPOTS 2000

struct profile_depot {
    unsigned number; /* number in the trace */
    char host[TRACE_TEXT];
    uint64_t received;
    double least_connect, least_first_byte; /* < 0: unknown */
    /* times of the first and last byte; < 0: no byte arrived */
    double begin, end;
    bool has_given_up; /* the last request failed */
    char error[TRACE_TEXT];
    double bytes[PROFILE_SLOTS];
    bool is_receiving[PROFILE_SLOTS];
    bool has_counters;
    /* last value of the depot's counter, and its time */
    double counted_at, counted;
};

struct profile {
    /* number of runs in the trace, and the number of this run */
    unsigned n_runs, run;
    bool is_torn, has_ended;
    char name[TRACE_TEXT];
    double begin, end; /* in seconds since the start of the trace */
    /* size of the file; if unknown, the bytes stored at the end */
    uint64_t size;
    uint64_t requests, lost;
    /* in the order of their numbers */
    struct profile_depot *depots[PROFILE_DEPOTS];
    size_t n_depots;
};

/*
 * Reads run number `run` of the trace at `path`.  0 stands for the first run
 * that has requests.  Returns 0; after a failure, prints the error and returns
 * the exit status.
 * Ownership: *out is the caller's, to release with profile_free().
 */
int profile_read(struct profile **out, const char *path, unsigned run);
void profile_free(struct profile *p);

/* Like profile_read(), but reads from a stream, which must be seekable. */
int profile_read_stream(struct profile **out, FILE *from, const char *path,
                        unsigned run);

/* Returns the length of a slot in seconds. */
double profile_slot_s(const struct profile *p);

/* Returns the mean rate of a depot in bytes per second, during the time in
 * which it delivered bytes. */
double profile_rate(const struct profile *p, const struct profile_depot *d);

#endif
