/*
 * Several files as one, in which they lie one behind the other: each is an
 * extent, with its hash and its replicas.
 *
 *     files    0        1              0
 *     joined   |========|==============|======|
 */
#ifndef XD_MANIFEST_JOIN_H
#define XD_MANIFEST_JOIN_H

#include <stddef.h>
#include <xdownload/manifest.h>

/*
 * Those files of `m`, in this order, as the only file of *out.  Each is one of
 * which xd_manifest_can_join() says so.
 * Ownership: *out is the caller's, and holds a reference to `m`.
 * Errors: MANIFEST (together they are longer than a file can be), NOMEM.
 */
int xd_manifest_join(struct xd_manifest **out, struct xd_manifest *m,
                     const size_t *files, size_t n, struct xd_error *err);

#endif
