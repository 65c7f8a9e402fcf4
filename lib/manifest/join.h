/* SPDX-License-Identifier: MIT */
/*
 * Several files as one, in which they lie one behind the other: each is an
 * extent, with its hash and its replicas.
 *
 *     files    0        1              0
 *     joined   |========|==============|======|
 *
 * A file of unknown size gets a place of XD_JOINED_PLACE, which it may fill or
 * not.
 */
#ifndef XD_MANIFEST_JOIN_H
#define XD_MANIFEST_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>

/* No policy asks for less of a file than this at first, so that one request has
 * all of it. */
#define XD_JOINED_PLACE ((uint64_t)1 << 20)

/*
 * Those files of `m`, in this order, as the only file of *out.  Each is one of
 * which xd_manifest_can_join() says so.
 * Ownership: *out is the caller's, and holds a reference to `m`.
 * Errors: MANIFEST (together they are longer than a file can be), NOMEM.
 */
int xd_manifest_join(struct xd_manifest **out, struct xd_manifest *m,
                     const size_t *files, size_t n, struct xd_error *err);

/* The hashes that prove one of the files: those of its pieces, or that of all of
 * it as its only piece. */
struct xd_joined_proof {
    const char *algorithm;
    uint64_t piece_bytes;
    size_t n; /* pieces; 0: nothing proves it */
    const char *hex;
    size_t stride; /* from one hash to the next */
};

/* The file that is that extent of `joined`, as its number in *out_of. */
size_t xd_manifest_joined_file(const struct xd_manifest *joined, size_t extent,
                               const struct xd_manifest **out_of);

/* Whether a file of `m` that can be joined has any. */
bool xd_manifest_has_proof(const struct xd_manifest *m, size_t file);

/* Of a file of `m` that can be joined. */
void xd_manifest_file_proof(const struct xd_manifest *m, size_t file,
                            struct xd_joined_proof *out);

/* Of the file that is that extent of `m`.  False: `m` was not joined. */
bool xd_manifest_joined_proof(const struct xd_manifest *m, size_t extent,
                              struct xd_joined_proof *out);

#endif
