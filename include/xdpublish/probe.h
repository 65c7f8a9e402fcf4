/* SPDX-License-Identifier: MIT */
/*
 * Ask IBP depots how long the copies of a file will live.
 *
 * An IBP depot stores bytes in allocations, which expire.  Other kinds of
 * depots are not asked.
 *
 *     #include <inttypes.h>
 *     #include <stdio.h>
 *     #include <xdpublish/xdpublish.h>
 *
 *     int print_lifetime(struct xd_manifest *m, struct xd_error *err)
 *     {
 *         struct xd_probed r;
 *         struct xd_probe *p;
 *         int rc = xd_probe_new(&p, m, 0, NULL, err);
 *
 *         if (rc < 0)
 *             return rc;
 *         if (xd_probe_get(p, 0, 0, &r) == 0 && r.state == XD_PROBE_ANSWERED)
 *             printf("%" PRIu64 " s left\n", r.lifetime_s);
 *         xd_probe_free(p);
 *         return 0;
 *     }
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: a probe does not change after xd_probe_new(), so any number of
 *          threads may read it.
 */
#ifndef XDPUBLISH_PROBE_H
#define XDPUBLISH_PROBE_H

#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_probe;

enum xd_probe_state {
    XD_PROBE_NONE, /* the depot is not an IBP depot, so it was not asked */
    /* the depot has answered; the numbers in struct xd_probed are from its
     * answer */
    XD_PROBE_ANSWERED,
    /* The depot gave no usable answer, or the options exclude it.  `error` says
     * why. */
    XD_PROBE_FAILED
};

/* The answer about one replica. */
struct xd_probed {
    size_t struct_size; /* see version.h */
    enum xd_probe_state state;
    /* Kind of capability that was sent to the depot: XD_MAY_MANAGE, or
     * XD_MAY_READ if the manifest has no manage capability.  0: no capability
     * was sent. */
    unsigned right;
    /* seconds until the allocation expires; 0: it has expired */
    uint64_t lifetime_s;
    /* number of bytes stored, and size of the allocation in bytes */
    uint64_t written, allocated;
    /* If the depot failed, a sentence that names the depot and says why;
     * otherwise NULL.  It lives as long as the probe. */
    const char *error;
};

XD_BEGIN_DECLS

/*
 * Asks the IBP depots about all allocations of file number `file` of `m`,
 * including the allocations of parity shards.  Each allocation is queried only
 * once.  A depot fails if it sends nothing for the time of the option silence,
 * or if it has not answered within the time of the option max-time.
 *
 * Ownership: the caller releases *out with xd_probe_free().  The probe holds a
 *            reference to `m`.  `o` may be NULL for the defaults.
 * Threads:   any.  The transfers run on a thread that ends before the call
 *            returns.
 * Blocks:    until every depot has answered or failed, or the time of the
 *            option max-time has passed.  xd_cancel_trigger() ends the call
 *            early.
 * Errors:    INVAL (there is no such file), CANCELED, NOMEM, IO (a file named
 *            in the options cannot be read).  The call succeeds even if depots
 *            do not answer.
 */
XD_API XD_MUST_CHECK int xd_probe_new(struct xd_probe **out,
                                      struct xd_manifest *m, size_t file,
                                      const struct xd_options *o,
                                      struct xd_error *err);

/* Reports the answer about one replica of an extent.  Returns 0, or INVAL if a
 * number is out of range.  Blocks: no. */
XD_API int xd_probe_get(const struct xd_probe *p, size_t extent, size_t replica,
                        struct xd_probed *out);

/* Reports the answer about one replica of a parity shard.  Returns 0, or INVAL
 * if a number is out of range.  Blocks: no. */
XD_API int xd_probe_get_shard(const struct xd_probe *p, size_t stripe,
                              size_t shard, size_t replica,
                              struct xd_probed *out);

/* Releases a probe; NULL does nothing. */
XD_API void xd_probe_free(struct xd_probe *p);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_probed)
#define xd_probe_get(p, extent, replica, out) \
    xd_probe_get(p, extent, replica, xd_probed_sized(out))
#define xd_probe_get_shard(p, stripe, shard, replica, out) \
    xd_probe_get_shard(p, stripe, shard, replica, xd_probed_sized(out))
#endif

XD_END_DECLS

#endif
