/* SPDX-License-Identifier: MIT */
/*
 * Test every copy of a file: find out whether its server answers, and whether
 * its bytes are right.
 *
 *     #include <stdio.h>
 *     #include <xdpublish/xdpublish.h>
 *
 *     int audit(struct xd_manifest *m, struct xd_error *err)
 *     {
 *         const struct xd_audit_options what = {
 *             XD_SIZED(struct xd_audit_options), .is_full = false};
 *         struct xd_audited_depot d;
 *         struct xd_audit *a;
 *         int rc = xd_audit_new(&a, m, 0, &what, NULL, err);
 *
 *         if (rc < 0)
 *             return rc;
 *         for (size_t i = 0; xd_audit_depot(a, i, &d) == 0; i++)
 *             printf("%s: %s\n", d.name, xd_audit_verdict_name(d.verdict));
 *         xd_audit_free(a);
 *         return 0;
 *     }
 *
 * An audit reads from depots only.  It writes nothing, neither to depots nor to
 * this machine.  xd_upload_new_heal() can replace the bad copies that an audit
 * has found.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Ownership: strings that functions return live as long as the audit.
 * Threads:   an audit does not change after xd_audit_new(), so any number of
 *            threads may read it.
 */
#ifndef XDPUBLISH_AUDIT_H
#define XDPUBLISH_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_audit;

/* The verdict on a replica.  After SKIPPED, the values are ordered from good to
 * bad.  The verdict on a depot is the highest value among its replicas. */
enum xd_audit_verdict {
    /* Not tested: the options exclude its host, or it is a file: URL and the
     * option allow-file is not set. */
    XD_AUDIT_SKIPPED,
    XD_AUDIT_OK,
    /* Its depot took more than 2 s to answer.  Or its transfers took at least
     * half a second and ran at less than a quarter of the median rate of all
     * depots.  With the option limit-rate, rates are not compared. */
    XD_AUDIT_SLOW,
    XD_AUDIT_UNRANGED, /* its depot ignores range requests */
    /* Its bytes differ from the bytes of another replica, and neither a hash
     * nor a majority shows which bytes are right.  Or its size differs, and the
     * size of the file is not known. */
    XD_AUDIT_DISPUTED,
    /* its bytes are wrong, according to a hash or to the majority of the
     * depots */
    XD_AUDIT_LYING,
    /* It is another version: its size differs, or its bytes differ and it is
     * older than all other replicas, or it changed during the audit. */
    XD_AUDIT_STALE,
    XD_AUDIT_EXPIRED, /* its allocation or its presigned URL has expired */
    /* Its depot refuses access (401, 403).  Its bytes are not known, and a
     * heal does not replace it. */
    XD_AUDIT_DENIED,
    XD_AUDIT_DEAD, /* it cannot be read */
    /* Not known: no depot could be reached, so this machine is probably
     * offline.  If there is only one depot, this verdict is used only if the
     * machine has no route to the outside; otherwise the verdict is DEAD. */
    XD_AUDIT_UNREACHED
};

/* Settings of an audit. */
struct xd_audit_options {
    size_t struct_size; /* see version.h */
    bool is_full;       /* true: read every byte; false: read samples */
};

/* The library fills in the structs below.  Later releases may add fields at
 * their end.  Macros with the same names as the functions set struct_size
 * before each call (see version.h), and the library never writes more than
 * struct_size bytes. */

/* Result for one replica. */
struct xd_audited {
    size_t struct_size;
    enum xd_audit_verdict verdict;
    const char *reason; /* one sentence; NULL if nothing is wrong */
    size_t depot;       /* index for xd_audit_depot() */
    /* size in bytes that its depot states, or XD_SIZE_UNKNOWN */
    uint64_t object_size;
    const char *validator; /* ETag or Last-Modified from its depot, or NULL */
    int64_t modified; /* last modification, seconds since 1970; 0: not known */
    bool has_answered, has_no_ranges;
    /* Expiry time in seconds since 1970; 0 if the replica never expires or the
     * time is not known.  If the depot states a time, the time in the manifest
     * is ignored. */
    uint64_t expires_at;
    uint64_t bytes_read; /* bytes read for the comparison */
    /* bytes that match a hash, or on which most depots agree */
    uint64_t bytes_right;
    uint64_t bytes_wrong, bytes_disputed;
    size_t n_wrong; /* number of ranges of wrong bytes: see xd_audit_wrong() */
    const char *depot_name; /* as in struct xd_audited_depot */
};

/* Result for one depot. */
struct xd_audited_depot {
    size_t struct_size;
    const char *name; /* "host" or "host:port" */
    enum xd_audit_verdict verdict;
    /* `reason` of the first replica with this verdict; NULL if nothing is
     * wrong */
    const char *reason;
    size_t n_replicas, n_usable;
    uint64_t bytes_held; /* bytes of the file, according to the manifest */
    uint64_t bytes_read, bytes_wrong;
    /* earliest expiry time of its replicas, in seconds since 1970; 0 if no
     * replica expires */
    uint64_t expires_at;
    /* Shortest time to an answer, in microseconds; XD_SIZE_UNKNOWN if the depot
     * did not answer */
    uint64_t answer_usec;
    double bytes_per_s; /* rate of its transfers; 0: not measured */
};

/* Result for one stripe.  All numbers are 0 if no depot could be reached. */
struct xd_audited_stripe {
    size_t struct_size;
    /* Number of complete shards.  A data shard is complete if each of its bytes
     * has a good copy, or if it is empty.  A parity shard is complete if it has
     * a usable replica. */
    unsigned n_good;
    /* Number of shards that may still be lost: n_good minus k.  A negative
     * number is the number of additional shards that are needed to restore the
     * lost bytes. */
    int n_losses;
};

/* Result for the file. */
struct xd_audit_sum {
    size_t struct_size;
    uint64_t size; /* size of the file, or XD_SIZE_UNKNOWN */
    bool is_full;  /* true if every byte was read */
    /* Algorithm of the hashes that the bytes were compared with.  NULL: the
     * replicas were only compared with each other. */
    const char *algorithm;
    size_t n_depots, n_replicas, n_usable, n_skipped; /* including parity */
    /* bytes_with_one: number of bytes that are lost as soon as one more depot
     * fails.  bytes_with_none: number of bytes that are lost now.  Both are
     * counted only if the size of the file is known.
     * - Good copies are usable replicas.  If every byte was read, the right
     *   bytes of lying or disputed replicas count as well.
     * - Without parity, bytes_with_one counts the bytes that have good copies
     *   on only one depot, and bytes_with_none counts the bytes without a good
     *   copy.
     * - Parity restores the bytes of a stripe as long as k of its shards are
     *   good. */
    uint64_t bytes_with_one, bytes_with_none;
    /* number of ranges of these bytes: see xd_audit_at_risk() */
    size_t n_with_one, n_with_none;
    /* True if no depot could be reached.  Then the number of good copies is not
     * known. */
    bool is_line_down;
    size_t n_of_parity; /* parity replicas; included in n_replicas */
    size_t n_stripes;
    /* smallest n_losses of all stripes; 0 without stripes, and if is_line_down
     * is true */
    int n_losses;
    /* number of bytes without a good copy that parity can restore */
    uint64_t bytes_restorable;
    /* number of ranges of these bytes: see xd_audit_restorable() */
    size_t n_restorable;
};

XD_BEGIN_DECLS

/*
 * Tests all replicas of file number `file` of `m`, including the replicas of
 * parity shards.  For each replica it finds out whether the depot answers and
 * sends ranges, how large the object is, when it expires, and whether its bytes
 * are right.
 *
 * `what` says whether to read all bytes or only samples; NULL: samples.  The
 * samples of an extent are:
 * - If the manifest has piece hashes: up to 8 pieces with at most 16 MiB
 *   together, but at least two pieces.
 * - Otherwise: 64 KiB at each of 8 positions, or all bytes if the extent is
 *   shorter than 1 MiB.
 *
 * Bytes that have a hash are verified with it.  The hash of an extent or of the
 * whole file is used only if every byte is read.  Bytes without a hash are
 * compared between depots, and the version that more than half of the depots
 * have counts as right.
 *
 * A depot is a server that holds replicas.  Each depot gets one request at a
 * time.  Several depots are read at once, as many as the option max-depots
 * allows (0: 16).  The log function gets XD_LOG_STATUS lines about the
 * progress.
 *
 * - A depot that sends nothing for the time of the option silence is asked
 *   again.  The option retry limits the attempts, including the first one.  A
 *   depot that has never answered gets at most two attempts.
 * - A depot that sends less than 10 KiB in 10 s is given up, unless the option
 *   limit-rate is set.
 *
 * The call succeeds even if replicas are bad.
 *
 * Ownership: the caller releases *out with xd_audit_free().  The audit holds a
 *            reference to `m`.  `o` may be NULL for the defaults.
 * Threads:   any.  The transfers run on a thread that ends before the call
 *            returns.
 * Blocks:    until every depot has answered or failed.  xd_cancel_trigger()
 *            ends the call early.
 * Errors:
 * - INVAL: there is no such file; its extents overlap in too many ways to be
 *   compared; or its parity is longer than a file can be.
 * - TIMEOUT: the time of the option max-time has passed.
 * - IO: a file named in the options cannot be read.
 * - CANCELED, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_audit_new(struct xd_audit **out,
                                      struct xd_manifest *m, size_t file,
                                      const struct xd_audit_options *what,
                                      const struct xd_options *o,
                                      struct xd_error *err);

/* Reports the result for the file.  Blocks: no. */
XD_API void xd_audit_get(const struct xd_audit *a, struct xd_audit_sum *out);

/* Reports the result for depot number `i`, in the order of the manifest.
 * Returns 0, or INVAL if `i` is out of range. */
XD_API int xd_audit_depot(const struct xd_audit *a, size_t i,
                          struct xd_audited_depot *out);

/* Reports the result for one replica, numbered as in the manifest.  Returns 0,
 * or INVAL if a number is out of range. */
XD_API int xd_audit_replica(const struct xd_audit *a, size_t extent,
                            size_t replica, struct xd_audited *out);

/*
 * Reports range number `i` of the wrong bytes of a replica, as offsets in the
 * file: from *out_begin up to, but not including, *out_end.  Only bytes that
 * were read are reported.
 * Returns: 0, or INVAL if `i` is out of range.
 */
XD_API int xd_audit_wrong(const struct xd_audit *a, size_t extent,
                          size_t replica, size_t i, uint64_t *out_begin,
                          uint64_t *out_end);

/* Reports range number `i` of the bytes that are lost now (if `n_depots` is 0),
 * or that are lost as soon as one more depot fails (if `n_depots` is 1).
 * Returns 0, or INVAL if `n_depots` is above 1 or `i` is out of range. */
XD_API int xd_audit_at_risk(const struct xd_audit *a, size_t n_depots, size_t i,
                            uint64_t *out_begin, uint64_t *out_end);

/* Reports range number `i` of the bytes that only parity can restore.  Returns
 * 0, or INVAL if `i` is out of range. */
XD_API int xd_audit_restorable(const struct xd_audit *a, size_t i,
                               uint64_t *out_begin, uint64_t *out_end);

/* Reports range number `i` of the bytes whose only good copies are in replicas
 * that are damaged in other places.  A download can still use these copies, but
 * a heal cannot.  Returns 0, or INVAL if `i` is out of range. */
XD_API int xd_audit_scattered(const struct xd_audit *a, size_t i,
                              uint64_t *out_begin, uint64_t *out_end);

/* Reports the result for one stripe.  Returns 0, or INVAL if `stripe` is out of
 * range. */
XD_API int xd_audit_stripe(const struct xd_audit *a, size_t stripe,
                           struct xd_audited_stripe *out);

/* Returns true if a data or parity shard is complete (see struct
 * xd_audited_stripe). */
XD_API bool xd_audit_shard_is_good(const struct xd_audit *a, size_t stripe,
                                   size_t shard);

/* xd_audit_shard_replica() reports the result for one replica of a parity
 * shard.  xd_audit_shard_wrong() reports range number `i` of its wrong bytes,
 * as offsets in the shard.  Both return 0, or INVAL if a number is out of
 * range. */
XD_API int xd_audit_shard_replica(const struct xd_audit *a, size_t stripe,
                                  size_t shard, size_t replica,
                                  struct xd_audited *out);
XD_API int xd_audit_shard_wrong(const struct xd_audit *a, size_t stripe,
                                size_t shard, size_t replica, size_t i,
                                uint64_t *out_begin, uint64_t *out_end);

/* Returns the name of a verdict: "ok", "slow", "unranged", "disputed", "lying",
 * "stale", "expired", "denied", "dead", "unreached" or "skipped".  The string
 * is static. */
XD_API const char *xd_audit_verdict_name(enum xd_audit_verdict verdict);

/* Returns true if a download can use a replica with this verdict: OK, SLOW or
 * UNRANGED. */
XD_API bool xd_audit_verdict_is_usable(enum xd_audit_verdict verdict);

/* Releases an audit; NULL does nothing. */
XD_API void xd_audit_free(struct xd_audit *a);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_audit_sum)
XD_FILLS(xd_audited_depot)
XD_FILLS(xd_audited)
XD_FILLS(xd_audited_stripe)
#define xd_audit_get(a, out) xd_audit_get(a, xd_audit_sum_sized(out))
#define xd_audit_depot(a, i, out) \
    xd_audit_depot(a, i, xd_audited_depot_sized(out))
#define xd_audit_replica(a, extent, replica, out) \
    xd_audit_replica(a, extent, replica, xd_audited_sized(out))
#define xd_audit_stripe(a, stripe, out) \
    xd_audit_stripe(a, stripe, xd_audited_stripe_sized(out))
#define xd_audit_shard_replica(a, stripe, shard, replica, out) \
    xd_audit_shard_replica(a, stripe, shard, replica, xd_audited_sized(out))
#endif

XD_END_DECLS

#endif
