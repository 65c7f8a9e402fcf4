/* SPDX-License-Identifier: MIT */
/*
 * Downloads a file or a set of files, and displays the progress.
 */
#ifndef CLI_FETCH_H
#define CLI_FETCH_H

#include <stdio.h>

#include <xdownload/download.h>

#include "args/args.h"
#include "args/target.h"

/* A file, or a set of files, to download. */
struct job {
    const struct args *args;
    struct xd_manifest *manifest;
    size_t file;       /* number in the manifest */
    const size_t *set; /* numbers of the files of a set, or NULL */
    size_t n_set;
    const char *name; /* name for messages */
    struct target *target;
    FILE *report; /* NULL: no report is written */
    /* For a set: receives the number of failed files, and the list of files
     * that must be downloaded separately.  The list has room for all files. */
    size_t *n_failed, *left, *n_left;
    uint64_t *left_sizes; /* sizes of the files in `left`, or XD_SIZE_UNKNOWN */
};

/* Creates the download of a job without starting it.  Ownership and errors:
 * like xd_download_new(). */
int fetch_new(struct xd_download **out, const struct job *job,
              struct xd_error *err);

/* Downloads the job, displays the result, and writes the report.  Returns a
 * status. */
int fetch_file(const struct job *job);

#endif
