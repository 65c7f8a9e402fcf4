/* SPDX-License-Identifier: MIT */
/*
 * What a sweep is about: the depots of a manifest, or those of a scenario.
 */
#ifndef CLI_SUBJECT_H
#define CLI_SUBJECT_H

#include <xdownload/checksums.h>
#include <xdownload/manifest.h>

#include "args/args.h"
#include "bench/row.h"
#include "bench/subset.h"

struct subject {
    char *name;     /* as it was given, without passwords */
    char *scenario; /* its text; NULL: it is a manifest */
    struct xd_manifest *manifest;
    size_t file;                       /* of the manifest */
    uint64_t size;                     /* or XD_SIZE_UNKNOWN */
    char digest[XD_CHECKSUM_HEX_SIZE]; /* of the text */
    char **depots;                     /* their names, in order */
    size_t n_depots;
};

/* Returns 0, or a status after the reason was said.
 * Ownership: whatever they return, to release with subject_fini(). */
int subject_of_scenario(struct subject *s, const struct args *a,
                        const char *word);
int subject_of_manifest(struct subject *s, const struct args *a);
void subject_fini(struct subject *s);

/* Fill in the cells that say what a run with these depots is about. */
bool subject_describe(const struct subject *s, subset depots, struct row *row);

#endif
