/* SPDX-License-Identifier: MIT */
/* Manifests that another manifest names. */
#ifndef XD_ENGINE_NAMED_MANIFESTS_H
#define XD_ENGINE_NAMED_MANIFESTS_H

#include "base/reach.h"
#include "base/time.h"
#include "engine/options.h"

/* For so long what a server, or a manifest, says of a file elsewhere is waited
 * for, before its bytes: what is slower would not make up for it. */
#define XD_NAMED_GRACE XD_SECOND

struct xd_named_manifest {
    const struct xd_url *url;
    enum xd_reach reach; /* how near its server may be; then how near what it
                            names may be */
    struct xd_manifest *manifest; /* the caller's reference; or NULL, */
    struct xd_error error;        /* for this reason */
};

/* All at once, and no longer than `patience` (XD_NEVER: as long as it takes).
 * Errors, threads, blocks: as with xd_inspect(). */
int xd_named_manifests_fetch(struct xd_named_manifest *list, size_t n,
                             xd_usec patience, const struct xd_options *o,
                             struct xd_error *err);

#endif
