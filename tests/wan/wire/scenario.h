/* SPDX-License-Identifier: MIT */
/*
 * What the lines of an emulated wide area are like, and when they change.
 *
 *     client rate=100mbit queue=512k
 *     link NAME rate=30mbit queue=256k
 *     depot NAME ADDRESS rate=20mbit rtt=70ms queue=256k loss=0.1% jitter=2ms
 *           via=LINK down
 *     at 5s NAME|client rate=2mbit loss=1% down
 *
 * One statement a line, # begins a comment.  tests/wan/README.md explains it.
 */
#ifndef WIRE_SCENARIO_H
#define WIRE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_LINES = 96, MAX_CHANGES = 4096, NAME_BYTES = 32 };

#define SECOND INT64_C(1000000000) /* times are in nanoseconds */

enum line_kind { LINE_CLIENT, LINE_SHARED, LINE_DEPOT };

struct quality {
    double bytes_per_s; /* 0: no limit */
    double queue_bytes; /* what is too much for it is dropped */
    double loss;        /* of packets to the client */
    double window;      /* bytes that a connection has in flight, or 0 */
    int64_t delay;      /* one way */
    int64_t jitter;     /* up to this much is added on the way to the client */
    bool is_down;       /* drops everything, both ways */
};

struct line {
    char name[NAME_BYTES];
    enum line_kind kind;
    uint32_t address; /* of a depot, in network order */
    int via;          /* of a depot: the shared line behind its own, or -1 */
    struct quality quality;
};

/* From `at` after the first packet of the client on. */
struct change {
    int64_t at;
    unsigned line;
    char key[12], value[NAME_BYTES];
};

struct scenario {
    struct line lines[MAX_LINES]; /* the first is the client's */
    unsigned n_lines;
    struct change changes[MAX_CHANGES]; /* by time */
    unsigned n_changes;
};

/* Ends the program with a sentence that names the file and the line, if the
 * text makes no sense. */
void scenario_read(struct scenario *s, const char *path);

/* Changes were checked when they were read. */
void quality_change(struct quality *q, const struct change *c);

_Noreturn void die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
