/* SPDX-License-Identifier: MIT */
/*
 * The manifests for the arguments.  A manifest is read from a file or a URL, or
 * is made from the URLs of copies of one file.
 */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include <xdownload/check.h>
#include <xdownload/manifest.h>

#include "args/args.h"

struct inputs {
    const struct args *args;
    size_t n; /* number of manifests, in the order of the arguments */
    struct xd_inspection
        *found; /* responses for the URLs; NULL: no URL was requested */
    struct xd_checksums *checksums; /* checksums of these inputs, or NULL */
    /* Checksums that apply to the inputs of all lines of a list, or NULL.
     * Owned by the caller. */
    const struct xd_checksums *common;
    char why[500]; /* why inputs_init() failed */
};

/* Reads the checksums of --checksum into *out; NULL if there are none.  Returns
 * 0, or a status after printing what is wrong, which is also in *err.
 * Ownership: *out is the caller's, even after a failure. */
int inputs_checksums(struct xd_checksums **out, const struct args *a,
                     struct xd_error *err);

/*
 * Finds out what the arguments are.  Requests the URLs, and reads the files of
 * --checksum, but does not read manifests yet.  Keeps the pointer `common` (see
 * the field of that name).  Returns 0, or a status after printing what is
 * wrong.
 * Ownership: call inputs_fini(), even after a failure.
 * Blocks: until the servers have answered.
 */
int inputs_init(struct inputs *in, const struct args *a,
                const struct xd_checksums *common);
void inputs_fini(struct inputs *in);

/*
 * Makes manifest number `i`, with its checksums.  Finds out whether the URLs of
 * a line of a list are copies of one file, and follows Metalinks in the
 * manifest to more copies.
 * Ownership: on success the caller releases *out with xd_manifest_unref().
 * Errors: those of xd_manifest_open() and xd_checksums_apply().
 */
int inputs_manifest(const struct inputs *in, size_t i, struct xd_manifest **out,
                    struct xd_error *err);

/* Like inputs_manifest(), but prints the error.  Unless --quiet is given, also
 * prints the warnings of the manifest.  Returns 0, or a status. */
int inputs_require_manifest(const struct inputs *in, size_t i,
                            struct xd_manifest **out);

#endif
