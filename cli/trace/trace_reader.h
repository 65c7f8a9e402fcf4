/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace that trace.c has written, one event at a time, in bounded
 * memory.  Events of other programs in the same array are skipped, and so are
 * unknown members.  If the end of a trace is missing, the last complete event
 * is the end.
 */
#ifndef CLI_TRACE_READER_H
#define CLI_TRACE_READER_H

#include "common/json_reader.h"

#define TRACE_TEXT 256 /* longer names are truncated */

enum trace_kind {
    TRACE_NAME,    /* name of a run (in `text`) or of a lane */
    TRACE_REQUEST, /* sets all fields; `name` is the outcome */
    TRACE_BYTES,   /* sets in_order */
    TRACE_DEPOT,   /* sets depot and received */
    TRACE_END,     /* sets size and lost */
    TRACE_OTHER    /* an instant event of another kind */
};

/* Times are seconds since the start of the trace. */
struct trace_event {
    enum trace_kind kind;
    unsigned run; /* number of the run, from 1 */
    unsigned depot, format;
    double at, lasts;
    char phase[8], category[16];
    char name[TRACE_TEXT], text[TRACE_TEXT], host[TRACE_TEXT],
        error[TRACE_TEXT];
    uint64_t received, in_order, lost;
    uint64_t size; /* or XD_SIZE_UNKNOWN */
    /* seconds; first_byte is < 0 if no byte arrived */
    double first_byte, name_lookup, connect;
};

struct trace_reader {
    struct json_reader json;
    const char *path;
    bool has_begun, has_ended;
    bool is_torn; /* the closing bracket is missing */
};

void trace_reader_init(struct trace_reader *r, FILE *from, const char *path);

/* Reads the next event.  Returns 1; 0 at the end of the trace; or -1 if the
 * trace cannot be read, with the reason in `why`. */
int trace_reader_next(struct trace_reader *r, struct trace_event *out,
                      char *why, size_t size);

#endif
