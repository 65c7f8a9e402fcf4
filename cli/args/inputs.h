/* SPDX-License-Identifier: MIT */
/*
 * What the arguments stand for: manifests, which are read from files or found
 * at URLs, or one that says that all the URLs are copies of one file.
 */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include <xdownload/checksums.h>
#include <xdownload/inspect.h>

#include "args/args.h"

struct inputs {
    const struct args *args;
    size_t n; /* manifests; each belongs to the argument of its number */
    struct xd_inspection *found; /* what URLs lead to; NULL: none was asked */
    struct xd_checksums *checksums; /* of these inputs; NULL: there are none */
    /* The same of all inputs that there are, the caller's; or NULL. */
    const struct xd_checksums *common;
    char why[500]; /* in short, why init() failed */
};

/* What --checksum names, or NULL.  Returns 0, or a status after the reason was
 * said, which is also in *err.
 * Ownership: *out is the caller's, whatever it returns. */
int inputs_checksums(struct xd_checksums **out, const struct args *a,
                     struct xd_error *err);

/*
 * Find out what is there; URLs are asked for that, files are not opened yet,
 * but those of --checksum are.  `common` is for the member of this name.
 * Returns 0, or a status after the reason was said.
 * Ownership: whatever it returns, to release with inputs_fini().
 */
int inputs_init(struct inputs *in, const struct args *a,
                const struct xd_checksums *common);
void inputs_fini(struct inputs *in);

/* The i-th manifest, with the checksums of what is wanted of it; the URLs of a
 * list are asked whether they are copies of one file, and the Metalinks that it
 * names for further copies.  Ownership and errors: as with xd_manifest_read(),
 * xd_checksums_apply() and xd_copies_find(). */
int inputs_manifest(const struct inputs *in, size_t i, struct xd_manifest **out,
                    struct xd_error *err);

/* The same for a caller that cannot go on without it: the reason was said, and so were
 * its warnings, unless --quiet.  Returns 0, or a status. */
int inputs_require_manifest(const struct inputs *in, size_t i,
                            struct xd_manifest **out);

#endif
