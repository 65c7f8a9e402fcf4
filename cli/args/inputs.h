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
    /* What URLs lead to, one entry for each; NULL: none was asked. */
    struct xd_inspected *asked;
    bool are_replicas;              /* the URLs, of one file */
    uint64_t size;                  /* of that file, if all agree, or
                                       XD_SIZE_UNKNOWN */
    struct xd_checksums *checksums; /* of --checksum; NULL: there are none */
    char why[500];                  /* in short, why init() failed */
};

/*
 * Find out what is there; URLs are asked for that, files are not opened yet,
 * but those of --checksum are.
 * Returns 0, or a status after the reason was said.
 * Ownership: whatever it returns, to release with inputs_fini().
 */
int inputs_init(struct inputs *in, const struct args *a);
void inputs_fini(struct inputs *in);

/* The i-th manifest, with the checksums of what is wanted of it; the URLs of a
 * list are asked whether they are copies of one file.  Ownership and errors: as
 * with xd_manifest_read(), xd_checksums_apply() and xd_copies_check(). */
int inputs_manifest(const struct inputs *in, size_t i, struct xd_manifest **out,
                    struct xd_error *err);

/* The same for who goes no further without it: the reason was said, and so were
 * its warnings, unless --quiet.  Returns 0, or a status. */
int inputs_say_manifest(const struct inputs *in, size_t i,
                        struct xd_manifest **out);

#endif
