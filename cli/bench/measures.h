/* SPDX-License-Identifier: MIT */
/*
 * Writes the results of a run to the cells of its row.
 */
#ifndef CLI_MEASURES_H
#define CLI_MEASURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <xdownload/download.h>

#include "args/args.h"
#include "bench/row.h"

struct xd_fetch_record;

/* The cells that have one value per depot, separated by blanks. */
struct measures {
    FILE *names, *bytes, *duplicate; /* memory streams; NULL: out of memory */
    char *text[3];
    size_t len[3];
    uint64_t all_duplicate;
    unsigned failures;
};

void measures_init(struct measures *m);
void measures_depot(struct measures *m, const char *name, uint64_t bytes,
                    uint64_t duplicate, unsigned failures);

/* Fills in the row and releases the memory of `m`. */
void measures_end(struct measures *m, struct row *row);

/* The records of all requests of a run. */
struct records {
    struct xd_fetch_record *items; /* from malloc() */
    size_t n;
    bool is_torn; /* some records are missing */
};

bool records_add(struct records *r, const struct xd_fetch_record *record);

/*
 * Estimates for how many seconds servers may still send bytes of canceled
 * requests.  The result is the longest time among these requests.
 *
 * For each request, two limits apply to the bytes still to come: the bytes
 * that it had not received, and the bytes that the depot had delivered plus an
 * initial window of TCP.  (The window grows by no more than the bytes that
 * were acknowledged.)  The smaller limit is divided by the rate of the request
 * so far.  If the request had received nothing, its age is the estimate.
 */
double records_drain_s(const struct records *r);

/* Fills in the time that a player would have waited, for each --rate, if it
 * started after --prebuffer.  Failed runs get no value. */
void measures_delays(struct row *row, const struct args *a, uint64_t size,
                     const struct records *records);

/* Fills in the date, and the versions of this program, libcurl and the
 * kernel. */
void measures_provenance(struct row *row);

/* Fills in the kernel's TCP congestion control, if it is known. */
void measures_congestion_control(struct row *row);

#endif
