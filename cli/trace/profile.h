/* SPDX-License-Identifier: MIT */
/*
 * One run of a trace, in an amount of memory that does not depend on how long the
 * trace is: time is cut into slots, and what happened in a slot is added up.  The
 * file is read twice, first for how long the run lasts and which its depots are.
 */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include <stddef.h>

#include "trace/trace_reader.h"

#define PROFILE_SLOTS 1336 /* two for each pixel of the picture */
#define PROFILE_DEPOTS 2000
#define PROFILE_LANES 2000

/* What a lane did in a slot; of several the last one counts. */
enum profile_state {
    PROFILE_IDLE,
    PROFILE_WAITING,   /* for the first byte */
    PROFILE_RECEIVING, /* bytes that were kept */
    PROFILE_CANCELED,  /* bytes of a request that was stopped */
    PROFILE_DUPLICATE, /* bytes that were here already, most of them */
    PROFILE_FAILED,
    PROFILE_STATES
};

struct profile_lane {
    unsigned depot, number; /* `depot` counts those of the profile */
    unsigned char states[PROFILE_SLOTS];
    unsigned char begins[PROFILE_SLOTS]; /* a request began there */
};

struct profile_depot {
    unsigned number; /* the trace's */
    char host[TRACE_TEXT];
    unsigned n_lanes;
    unsigned requests, failures, canceled, connections;
    uint64_t received, duplicate;
    double name_lookup, connect, first_byte; /* sums, in seconds */
    unsigned n_first_bytes;
    double least_connect, least_first_byte; /* < 0: there was none */
    double begin, end; /* of its first byte, and of its last; < 0: none came */
    bool has_given_up; /* its last request failed */
    char error[TRACE_TEXT];
    double bytes[PROFILE_SLOTS];
    bool is_receiving[PROFILE_SLOTS];
    bool has_counters;
    double counted_at, counted; /* when its counter was read last */
};

struct profile {
    unsigned n_runs, run; /* of the trace; which of them this is */
    bool is_torn, is_virtual;
    char name[TRACE_TEXT], algorithm[32], outcome[32], error[TRACE_TEXT];
    double begin, end; /* of the run, in seconds since the trace began */
    uint64_t size;     /* of the file, or what was stored at last */
    uint64_t received, duplicate;
    uint64_t requests, lost;
    double probed; /* until the first request that was no probe; since begin */
    struct profile_depot **depots;
    size_t n_depots, n_depots_more; /* and those for which there is no room */
    struct profile_lane **lanes;    /* by depot, and by their number */
    size_t n_lanes, n_lanes_more;
    double frontier[PROFILE_SLOTS], stored[PROFILE_SLOTS],
        player[PROFILE_SLOTS]; /* bytes; < 0: not known */
    bool is_stalled[PROFILE_SLOTS];
};

/*
 * Read run number `run` of the trace at `path` (0: the first that has requests).
 * Returns 0, or a status after the reason was said.
 * Ownership: *out is the caller's, to release with profile_free().
 */
int profile_read(struct profile **out, const char *path, unsigned run);
void profile_free(struct profile *p);

/* The same of a stream that can be read from its beginning again. */
int profile_read_stream(struct profile **out, FILE *from, const char *path,
                        unsigned run);

/* The seconds that a slot lasts. */
double profile_slot_s(const struct profile *p);

/* Bytes per second of the depot while it delivered. */
double profile_rate(const struct profile *p, const struct profile_depot *d);

/* The least time in which depots that deliver as these did, each from its first
 * byte on and without a pause, have delivered the file. */
double profile_least_s(const struct profile *p);

#endif
