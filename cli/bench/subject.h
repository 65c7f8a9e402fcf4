/* SPDX-License-Identifier: MIT */
/*
 * The file that a sweep downloads, with the depots of a manifest or of a
 * scenario.
 */
#ifndef CLI_SUBJECT_H
#define CLI_SUBJECT_H

#include <xdownload/manifest.h>

#include "args/args.h"
#include "bench/row.h"
#include "bench/subset.h"
#include "lab/checksum.h"

struct subject {
    char *name;     /* as given by the user, without passwords */
    char *scenario; /* text of the scenario; NULL: the subject is a manifest */
    struct xd_manifest *manifest;
    size_t file;                       /* number in the manifest */
    uint64_t size;                     /* or XD_SIZE_UNKNOWN */
    char digest[XD_CHECKSUM_HEX_SIZE]; /* hash of the text */
    char **depots;                     /* names of the depots, in order */
    size_t n_depots;
};

/* Return 0; after a failure, print the error and return the exit status.
 * Ownership: in any case release *s with subject_fini(). */
int subject_of_scenario(struct subject *s, const struct args *a,
                        const char *word);
int subject_of_manifest(struct subject *s, const struct args *a);
void subject_fini(struct subject *s);

/* Fills in the cells that say which file and which depots a run uses. */
void subject_describe(const struct subject *s, subset depots, struct row *row);

#endif
