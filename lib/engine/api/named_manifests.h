/* SPDX-License-Identifier: MIT */
/* Fetches manifests to which another manifest or a server refers. */
#ifndef XD_ENGINE_NAMED_MANIFESTS_H
#define XD_ENGINE_NAMED_MANIFESTS_H

#include "base/reach.h"
#include "base/time.h"
#include "engine/options.h"

/* Maximum time for which a download waits for the manifests that its own
 * manifest names.  Waiting longer would take more time than additional copies
 * save. */
#define XD_NAMED_GRACE XD_SECOND

struct xd_named_manifest {
    const struct xd_url *url;
    enum xd_reach reach; /* network scope allowed for its server; after the
                            fetch, the scope for the URLs that it names */
    struct xd_manifest *manifest; /* the caller's reference, or NULL after an
                                     error */
    struct xd_error error;        /* why `manifest` is NULL */
};

/*
 * Fetches all manifests in parallel, within `patience` (XD_NEVER: no limit).
 * Errors, threads, blocks: as with xd_inspect().
 */
int xd_named_manifests_fetch(struct xd_named_manifest *list, size_t n,
                             xd_usec patience, const struct xd_options *o,
                             struct xd_error *err);

#endif
