/* SPDX-License-Identifier: MIT */
/*
 * What depots say of the allocations that a manifest names: how long each of
 * them lives, and how many bytes it holds.  Only IBP depots know that.
 */
#ifndef XDOWNLOAD_PROBE_H
#define XDOWNLOAD_PROBE_H

#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_probe;

/* What became of one replica. */
enum xd_probe_state {
    XD_PROBE_NONE,     /* its depot has no such question: nothing was asked */
    XD_PROBE_ANSWERED, /* the numbers are the depot's */
    XD_PROBE_FAILED    /* `error` says why there are none */
};

struct xd_probed {
    size_t struct_size; /* set by the caller */
    enum xd_probe_state state;
    unsigned right;      /* of the capability that was shown to the depot:
                            XD_MAY_MANAGE, or XD_MAY_READ if the manifest has no
                            manage capability; 0: none was */
    uint64_t lifetime_s; /* seconds until the allocation expires */
    uint64_t written, allocated; /* bytes: that it holds, and has room for */
    const char *error; /* one sentence that names the depot, or NULL; lives as
                          long as the probe */
};

XD_BEGIN_DECLS

/*
 * Ask the depots of file number `file` of `m`, each about each allocation that
 * it holds, of parity too, by its manage capability.  The question is put once: a depot that
 * is silent for as long as the option `silence` allows has failed.
 *
 * Ownership: *out is the caller's, to release with xd_probe_free(); it holds a
 *            reference to `m`.  `o` may be NULL: the defaults.
 * Threads:   any.  Works on a thread of its own, which has ended on return.
 * Blocks:    until each depot has answered or failed, or the option `max-time`
 *            is over; a cancel of the options ends it.
 * Errors:    INVAL (no such file), CANCELED, NOMEM, IO (a file that the options
 *            name).  That a depot does not answer is none.
 */
XD_API XD_MUST_CHECK int xd_probe_new(struct xd_probe **out,
                                      struct xd_manifest *m, size_t file,
                                      const struct xd_options *o,
                                      struct xd_error *err);

/* What became of a replica of the file; 0, or INVAL past the last. */
XD_API int xd_probe_get(const struct xd_probe *p, size_t extent, size_t replica,
                        struct xd_probed *out);

/* Likewise of a replica of parity. */
XD_API int xd_probe_get_shard(const struct xd_probe *p, size_t stripe,
                              size_t shard, size_t replica,
                              struct xd_probed *out);

XD_API void xd_probe_free(struct xd_probe *p); /* NULL does nothing */

XD_END_DECLS

#endif
