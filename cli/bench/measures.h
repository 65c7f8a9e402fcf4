/* SPDX-License-Identifier: MIT */
/*
 * What a run came to, as the cells of its row.
 */
#ifndef CLI_MEASURES_H
#define CLI_MEASURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <xdownload/download.h>

#include "args/args.h"
#include "bench/row.h"

/* The cells that have a value for each depot, with blanks between. */
struct measures {
    FILE *names, *bytes, *duplicate; /* memory streams; NULL: no memory */
    char *text[3];
    size_t len[3];
    uint64_t all_duplicate;
    unsigned failures;
};

void measures_init(struct measures *m);
void measures_depot(struct measures *m, const char *name, uint64_t bytes,
                    uint64_t duplicate, unsigned failures);

/* Into the row; false: no memory.  Releases what init() made. */
bool measures_end(struct measures *m, struct row *row);

/* The requests of a run. */
struct records {
    struct xd_fetch_record *items; /* from malloc() */
    size_t n;
    bool is_torn; /* some are missing */
};

bool records_add(struct records *r, const struct xd_fetch_record *record);

/*
 * For how long what canceled requests had under way may still come and take room
 * on the wire.  That is at most what a request lacked, and at most what its depot
 * had delivered and a first window, since TCP's window at most grows by what has
 * arrived; and it comes as fast as before.  Of a request that had received
 * nothing only its age is known.
 */
double records_drain_s(const struct records *r);

/* For how long a player of each --rate would have waited that begins after
 * --prebuffer; nothing for a run that failed. */
bool measures_delays(struct row *row, const struct args *a, uint64_t size,
                     const struct records *records);

/* When, and by what: the versions of this program, libcurl and the kernel. */
bool measures_provenance(struct row *row);

/* The kernel's default for TCP; nothing where it does not say. */
bool measures_congestion_control(struct row *row);

#endif
