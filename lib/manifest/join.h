/* SPDX-License-Identifier: MIT */
/*
 * Presents several files as one file, in which each is an extent with its hash
 * and replicas.
 *
 *     files    0        1              0
 *     joined   |========|==============|======|
 *
 * A file of unknown size gets an extent of XD_JOINED_PLACE bytes, which it need
 * not fill.
 */
#ifndef XD_MANIFEST_JOIN_H
#define XD_MANIFEST_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>

/* Size of the extent for a file of unknown size.  It is small enough that every
 * policy requests the file with a single request. */
#define XD_JOINED_PLACE ((uint64_t)1 << 20)

/*
 * Joins these files of `m`, in this order, to the only file of *out.
 * xd_manifest_can_join() must be true for each.
 * Ownership: *out is the caller's; it holds a reference to `m`.
 * Errors: MANIFEST (longer than a file can be), NOMEM.
 */
int xd_manifest_join(struct xd_manifest **out, struct xd_manifest *m,
                     const size_t *files, size_t n, struct xd_error *err);

/* The hashes that verify one of the files: of its pieces, or of the whole file
 * as a single piece. */
struct xd_joined_proof {
    const char *algorithm;
    uint64_t piece_bytes;
    size_t n; /* number of pieces; 0: no hash */
    const char *hex;
    size_t stride; /* bytes from one hash to the next */
};

/* Returns the number of the file that is this extent of `joined`, and its
 * manifest. */
size_t xd_manifest_joined_file(const struct xd_manifest *joined, size_t extent,
                               const struct xd_manifest **out_of);

/* Returns whether a joinable file of `m` has hashes. */
bool xd_manifest_has_proof(const struct xd_manifest *m, size_t file);

/* Returns the hashes of a joinable file of `m`. */
void xd_manifest_file_proof(const struct xd_manifest *m, size_t file,
                            struct xd_joined_proof *out);

/* Returns the hashes of the file that is this extent of `m`.  False if `m` is
 * not a joined manifest. */
bool xd_manifest_joined_proof(const struct xd_manifest *m, size_t extent,
                              struct xd_joined_proof *out);

#endif
