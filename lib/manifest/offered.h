/* SPDX-License-Identifier: MIT */
/* A manifest of what a server offers beside the bytes of a file. */
#ifndef XD_MANIFEST_OFFERED_H
#define XD_MANIFEST_OFFERED_H

#include <xdownload/manifest.h>

#include "base/offer.h"

/* What the server's Metalink says. */
struct xd_description {
    struct xd_manifest *manifest; /* or NULL: there is none */
    enum xd_reach reach;          /* how near what it names may be */
};

/*
 * The file at `url`, of `size` bytes perhaps: its hashes are those of `offer`
 * and, if there is one, of the only file of `described`; other copies count
 * only where one of these is SHA-256 or better, and come after `url`.
 *
 * Of `described` the file counts that is called as `url` calls it, or else the
 * only one; it must have that size, and no hash that `offer` contradicts, or
 * all of it is ignored, with a warning.
 *
 * `server_name` is as in xd_manifest_of_urls().
 *
 * Its format is that of a list of URLs.
 * Ownership: *out is the caller's, to release with xd_manifest_unref().
 * Errors:    MANIFEST, NOMEM.
 */
int xd_manifest_offered(struct xd_manifest **out, const struct xd_url *url,
                        uint64_t size, const struct xd_offer *offer,
                        const struct xd_description *described,
                        const char *server_name, struct xd_error *err);

#endif
