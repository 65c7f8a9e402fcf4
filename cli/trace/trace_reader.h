/* SPDX-License-Identifier: MIT */
/*
 * Reads what trace.c has written, an event at a time, in bounded memory.  Events
 * of other programs in the same array are passed over, and so are members that
 * are not known.  A trace whose end is missing ends with its last whole event.
 */
#ifndef CLI_TRACE_READER_H
#define CLI_TRACE_READER_H

#include "trace/json_reader.h"

#define TRACE_TEXT 256 /* of a name; longer ones are cut */

enum trace_kind {
    TRACE_RUN,     /* name */
    TRACE_LANE,    /* name */
    TRACE_BEGIN,   /* algorithm in name, is_virtual */
    TRACE_REQUEST, /* all of its fields; name is the outcome */
    TRACE_BYTES,   /* in_order, stored, received */
    TRACE_DEPOT,   /* depot, received */
    TRACE_PLAYER,  /* in_order is its position, is_stalled */
    TRACE_LOG,     /* name is the line */
    TRACE_END      /* outcome in name, size, error */
};

/* Times are in seconds since the trace began, durations in seconds. */
struct trace_event {
    enum trace_kind kind;
    unsigned run; /* from 1 on */
    unsigned depot, lane, thread;
    double at, lasts;
    char name[TRACE_TEXT], host[TRACE_TEXT], reason[16], error[TRACE_TEXT];
    uint64_t begin, end, received, duplicate, in_order, stored, size, lost;
    double queued, first_byte, name_lookup, connect; /* first_byte < 0: none */
    bool is_virtual, is_stalled;
};

struct trace_reader {
    struct json_reader json;
    const char *path;
    bool has_begun, has_ended;
    bool is_torn; /* the closing bracket is missing */
};

void trace_reader_init(struct trace_reader *r, FILE *from, const char *path);

/* The next event: 1, 0 at the end, or -1: it is no trace that this version reads,
 * and `why` says so. */
int trace_reader_next(struct trace_reader *r, struct trace_event *out,
                      char *why, size_t size);

#endif
