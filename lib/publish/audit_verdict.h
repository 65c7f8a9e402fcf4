/* SPDX-License-Identifier: MIT */
/*
 * What is to be thought of a replica, from what was found of it.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_AUDIT_VERDICT_H
#define XD_PUBLISH_AUDIT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/audit.h>

#include "base/time.h"

/* The first answer of a usable depot comes sooner: seven round trips, with two
 * for TLS, to the other side of the world and a server that has to wake a disk. */
#define XD_AUDIT_ANSWER_MOST (2 * XD_SECOND)

/* A depot is slow that delivers less than this part of the median of all; what a
 * depot delivers varies by less from minute to minute. */
#define XD_AUDIT_SLOW_PART 4

/* What took less time to receive is not slow, whatever its rate. */
#define XD_AUDIT_SLOW_TIME (XD_SECOND / 2)

/* Of fewer bytes there is no rate. */
#define XD_AUDIT_RATE_BYTES ((uint64_t)32 << 10)

/* Of what took less, a rate is taken as if it had: it lay in buffers. */
#define XD_AUDIT_RATE_TIME (50 * XD_MS)

/* Of a replica. */
struct xd_audit_facts {
    bool is_left_out; /* as the options have it */
    bool has_answered;
    bool is_refused; /* by its depot, which has not got it */
    bool is_expired; /* its depot says so, or refuses it, and the manifest has
                           it so */
    bool differs_in_size; /* its object has another size, or holds too little */
    bool is_disputed; /* of the sizes that depots state none is that of most */
    bool has_changed; /* while it was read */
    bool is_older;    /* its time of modification is before that of the others,
                           which agree */
    bool has_no_ranges;
    bool has_failed; /* something of it could not be read, ranges apart, */
    bool is_denied;  /* for want of rights alone */
    bool
        is_unanswered; /* by its depot, to the last: it, or the line, is silent */
    bool is_line_down;                    /* so it is with all depots */
    uint64_t bytes_wrong, bytes_disputed; /* of what was read */
    /* Of its depot. */
    xd_usec answered_after;    /* XD_NEVER: it is not known */
    xd_usec received_in;       /* for how long bytes came */
    double bytes_per_s;        /* 0: none came, or a limit held them back */
    double median_bytes_per_s; /* of all depots from which bytes came; or 0 */
};

enum xd_audit_verdict xd_audit_judge(const struct xd_audit_facts *f);

/* Bytes per second; 0: they are too few to tell. */
double xd_audit_rate(uint64_t bytes, xd_usec time);

/* The median of the `n` numbers that are not 0, the higher one of two, which are
 * sorted for it; 0 if there is none. */
double xd_audit_median(double *list, size_t n);

#endif
