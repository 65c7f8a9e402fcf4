/* SPDX-License-Identifier: MIT */
/*
 * Derives the verdict about a replica from the facts found.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_AUDIT_VERDICT_H
#define XD_PUBLISH_AUDIT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdpublish/audit.h>

#include "base/time.h"

/* A usable depot gives its first answer within this time: seven round trips to
 * the other side of the world, two of them for TLS, and a disk that has to spin
 * up. */
#define XD_AUDIT_ANSWER_MOST (2 * XD_SECOND)

/* A depot is slow if it delivers less than 1/4 of the median rate of all
 * depots.  The rate of one depot varies less than that from minute to
 * minute. */
#define XD_AUDIT_SLOW_PART 4

/* A depot whose transfers took less time than this is not slow, whatever its
 * rate. */
#define XD_AUDIT_SLOW_TIME (XD_SECOND / 2)

/* Number of bytes that must have been received before a rate is computed. */
#define XD_AUDIT_RATE_BYTES ((uint64_t)32 << 10)

/* Shorter transfer times are rounded up to this one, because the bytes may have
 * come from buffers. */
#define XD_AUDIT_RATE_TIME (50 * XD_MS)

/* The facts about a replica. */
struct xd_audit_facts {
    bool is_left_out; /* excluded by the options */
    bool has_answered;
    bool is_refused; /* the depot says that the object does not exist */
    /* The depot says that the object has expired.  Or the depot refuses access,
     * and the expiry time in the manifest has passed. */
    bool is_expired;
    bool differs_in_size; /* the object has another size, or is too short */
    bool is_disputed;     /* depots state different sizes, without a majority */
    bool has_changed;     /* the object changed during the audit */
    /* the replica was modified before all other replicas, whose modification
     * times agree */
    bool is_older;
    bool has_no_ranges;
    /* a read failed for any reason other than missing support of ranges */
    bool has_failed;
    bool is_denied; /* has_failed, but all failures are "permission denied" */
    /* the depot never answered: either the depot or the connection of this
     * machine is down */
    bool is_unanswered;
    /* no depot answers, so the connection of this machine is down */
    bool is_line_down;
    /* number of bytes read that are wrong, and that are disputed */
    uint64_t bytes_wrong, bytes_disputed;
    /* The depot of the replica. */
    /* shortest time to a first byte; XD_NEVER: unknown */
    xd_usec answered_after;
    xd_usec received_in; /* total time in which bytes were received */
    /* rate of the depot; 0 if it sent no bytes, or if a rate limit slowed it
     * down */
    double bytes_per_s;
    /* median rate of all depots that delivered bytes, or 0 */
    double median_bytes_per_s;
};

enum xd_audit_verdict xd_audit_judge(const struct xd_audit_facts *f);

/* Returns bytes per second; 0 if there are too few bytes for a rate. */
double xd_audit_rate(uint64_t bytes, xd_usec time);

/* Returns the median of the numbers that are not 0, or 0 if all are 0.  Of two
 * middle numbers it returns the higher one.  Sorts the list. */
double xd_audit_median(double *list, size_t n);

#endif
