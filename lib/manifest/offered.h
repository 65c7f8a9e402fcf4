/* SPDX-License-Identifier: MIT */
/* Makes a manifest from the response headers of a server. */
#ifndef XD_MANIFEST_OFFERED_H
#define XD_MANIFEST_OFFERED_H

#include <xdownload/manifest.h>

#include "base/offer.h"

/* A Metalink that the server's headers point to. */
struct xd_description {
    struct xd_manifest *manifest; /* or NULL */
    enum xd_reach reach;          /* networks to which its URLs may point */
};

/*
 * Makes a manifest of the file at `url` with `size` bytes (may be unknown).
 * Its hashes come from `offer` and from the file in the Metalink `described`,
 * if any.  Other copies are used only if there is a hash of SHA-256 or better,
 * and rank after `url`.
 *
 * In `described`, the file with the name from `url` is used, or else the only
 * file.  It is ignored, with a warning, if its size differs or a hash
 * contradicts `offer`.
 *
 * For `server_name` see xd_manifest_of_urls().  The format is that of a list of
 * URLs.
 * Ownership: release *out with xd_manifest_unref().
 * Errors: MANIFEST, NOMEM.
 */
int xd_manifest_offered(struct xd_manifest **out, const struct xd_url *url,
                        uint64_t size, const struct xd_offer *offer,
                        const struct xd_description *described,
                        const char *server_name, struct xd_error *err);

#endif
