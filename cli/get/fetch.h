/* SPDX-License-Identifier: MIT */
/*
 * One file is fetched while a person watches.
 */
#ifndef CLI_FETCH_H
#define CLI_FETCH_H

#include <stdio.h>

#include <xdownload/download.h>

#include "args/args.h"
#include "args/target.h"

/* One file that is wanted, or a set of them, each at its place. */
struct job {
    const struct args *args;
    struct xd_manifest *manifest;
    size_t file;       /* of the manifest */
    const size_t *set; /* in its place, or NULL */
    size_t n_set;
    const char *name; /* what to call it before people */
    struct target *target;
    FILE *report; /* NULL: none is wanted */
    /* Of a set: where to write how many files have failed, and which are to be
     * fetched alone, with room for all, and how many. */
    size_t *n_failed, *left, *n_left;
    uint64_t *left_sizes; /* or XD_SIZE_UNKNOWN */
};

/* The download of a job, not started.  Ownership and errors: as with
 * xd_download_new(). */
int fetch_new(struct xd_download **out, const struct job *job,
              struct xd_error *err);

/* Fetch it, say how it went, report.  Returns a status. */
int fetch_file(const struct job *job);

#endif
