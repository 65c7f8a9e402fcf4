/* SPDX-License-Identifier: MIT */
/*
 * Remove copies that an upload has made, or extend their lifetime.
 *
 *     #include <stdio.h>
 *     #include <xdpublish/xdpublish.h>
 *
 *     int keep_for_a_week(const char *manifest, struct xd_error *err)
 *     {
 *         const struct xd_renew_wish wish = {XD_SIZED(struct xd_renew_wish),
 *                                            .manifest = manifest,
 *                                            .lifetime_s = 7 * 86400};
 *         struct xd_upkept r;
 *         struct xd_upkeep *u;
 *         int rc = xd_replicas_renew(&u, &wish, NULL, err);
 *
 *         if (rc < 0)
 *             return rc;
 *         for (size_t i = 0; xd_upkeep_replica(u, i, &r) == 0; i++)
 *             if (r.state == XD_UPKEEP_FAILED)
 *                 printf("%s: %s\n", r.url, r.error);
 *         xd_upkeep_free(u);
 *         return 0;
 *     }
 *
 * Both functions use the two manifests of an upload (upload.h): the public one,
 * and the private one beside it, which holds the secrets for managing the
 * copies.  For F.xnd it is F.private.xnd, and F.xnd.lock locks both.  The
 * private manifest is used only if no other user can have written it: it must
 * be a regular file, be owned by the effective user, and give other users no
 * access.  With the public manifest alone, these functions change nothing on a
 * store.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: any thread may call all functions here.  Only one upload,
 *          xd_replicas_drop() or xd_replicas_renew() can work on a manifest at
 *          a time; a second call fails with IO.
 */
#ifndef XDPUBLISH_UPKEEP_H
#define XDPUBLISH_UPKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_upkeep;

/* Which copies to remove. */
struct xd_drop_wish {
    size_t struct_size;   /* see version.h */
    const char *manifest; /* path of the public manifest */
    const char *from;     /* URL of a store, or a host: HOST or HOST:PORT */
    /* true: keep the objects, and only remove the replicas from the
     * manifests */
    bool keeps_objects;
};

/* How long to keep copies. */
struct xd_renew_wish {
    size_t struct_size;   /* see version.h */
    const char *manifest; /* path of the public manifest */
    /* shortest remaining lifetime wanted, in seconds from now */
    uint64_t lifetime_s;
    /* URLs of the S3 stores ("s3://BUCKET/PREFIX") whose presigned URLs may
     * be replaced by new ones */
    const char *const *stores;
    size_t n_stores;
};

/* The result for one copy. */
enum xd_upkeep_state {
    /* The replica was renewed, or the replica and its object were removed. */
    XD_UPKEEP_DONE,
    /* The replica was removed from the manifests, but its object still exists,
     * for one of these reasons: keeps_objects is true, no manifest says how to
     * manage the object, or a remaining replica is in the same object. */
    XD_UPKEEP_KEPT,
    XD_UPKEEP_ENDLESS, /* not renewed: it does not expire */
    /* Not renewed: the requested lifetime is longer than the store allows
     * (limit_s). */
    XD_UPKEEP_BEYOND,
    /* Not renewed: no usable manifest says how to manage the object. */
    XD_UPKEEP_UNMANAGED,
    /* The replica was not renewed.  Or it was removed from the manifests, but
     * its object could not be deleted.  `error` says why. */
    XD_UPKEEP_FAILED
};

/* The result for one replica, or for an object that an earlier call should have
 * removed.  Strings live as long as the struct xd_upkeep. */
struct xd_upkept {
    size_t struct_size; /* see version.h */
    enum xd_upkeep_state state;
    const char *url;   /* URL for reading the replica, without secrets */
    const char *store; /* name of the store; NULL if no store was contacted */
    /* range of the replica in the file; for a parity shard, the range of its
     * stripe; `end` is excluded */
    uint64_t begin, end;
    uint64_t expires_at; /* new expiry time if renewed, in seconds since 1970 */
    /* for XD_UPKEEP_BEYOND: longest lifetime that the store allows, in seconds;
     * 0: not known */
    uint64_t limit_s;
    /* One sentence that says why it failed, or NULL.  After success it may be a
     * warning, for example that the bucket keeps old versions. */
    const char *error;
    /* true for a replica of parity shard number `shard` of stripe number
     * `stripe` */
    bool is_parity;
    uint64_t stripe;
    unsigned shard;
};

/* Summary of a call. */
struct xd_upkeep_sum {
    size_t struct_size; /* see version.h */
    size_t n;           /* number of results, for xd_upkeep_replica() */
    /* Bytes of remaining copies that were read and verified before objects
     * were removed */
    uint64_t bytes_proved;
    bool has_private; /* true if the private manifest exists */
    /* path of the private manifest, even if it does not exist */
    const char *private_path;
};

XD_BEGIN_DECLS

/*
 * Removes all replicas on a host or a store, including replicas of parity
 * shards.  The call first removes the replicas from both manifests, then
 * deletes their objects.  Without the private manifest it deletes no objects.
 *
 * Safety:
 * - An object is deleted only on the named store or host, and only if its name
 *   has the form of names that uploads choose.
 * - Before anything is deleted, every byte of the remaining copies is read and
 *   compared with a hash of the manifest other than MD5 or SHA-1.
 * - With keeps_objects, the bytes are compared only if the file has parity and
 *   a hash that is not weak.  This makes sure that k good shards of each stripe
 *   remain.
 * - If a call is interrupted, repeat it to complete the removal.
 *
 * If an object cannot be deleted, the call still returns 0, and
 * xd_upkeep_replica() reports the error.
 *
 * Ownership: the caller releases *out with xd_upkeep_free().  Arguments are
 *            copied.  `o` may be NULL for the defaults.
 * Threads:   any.  The work runs on threads that end before the call returns.
 * Blocks:    until everything is read and deleted.  xd_cancel_trigger() ends
 *            the call early.
 * Errors:
 * - INVAL: the path of the manifest is NULL or leads to a private manifest.
 * - INVAL: no replica is on that host or store.
 * - INVAL: some bytes have no other copy, or a stripe would be left with fewer
 *   than k shards.
 * - INVAL: the rules above forbid the deletion of an object, or the manifest
 *   has no strong hash.  Use keeps_objects.
 * - IO: a manifest cannot be read or written, another call is working on it, or
 *   other users can access the private manifest.
 * - MANIFEST: a manifest cannot be understood or changed.  The public one must
 *   be an exNode or a Metalink of version 4, with one file.
 * - STATE: the upload is not complete, or the two manifests describe different
 *   files.
 * - CORRUPT, NOREPLICA and the other errors of xd_reader_read(): the remaining
 *   copies are bad.  Nothing was changed.
 * - CANCELED, TIMEOUT, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_replicas_drop(struct xd_upkeep **out,
                                          const struct xd_drop_wish *wish,
                                          const struct xd_options *o,
                                          struct xd_error *err);

/*
 * Extends the lifetime of all replicas that expire, including replicas of
 * parity shards.  It uses the secrets in the private manifest, and writes the
 * new expiry times to both manifests.  A presigned S3 URL is replaced by a new
 * one only if its store is in wish->stores.  If a replica already expires later
 * than requested, its expiry time is left unchanged and its state is
 * XD_UPKEEP_DONE.
 *
 * If a replica cannot be renewed, the call still returns 0, and
 * xd_upkeep_replica() reports the error.  Replicas that were renewed before a
 * cancel stay renewed, and their new expiry times are in the manifests.
 *
 * Ownership, Threads, Blocks: as for xd_replicas_drop().
 * Errors:
 * - INVAL: lifetime_s is 0 or longer than 100 years, a URL is not a store, or
 *   the path of the manifest is NULL or leads to a private manifest.
 * - STATE: there is no private manifest, or a reason given for
 *   xd_replicas_drop() applies.
 * - IO, MANIFEST, CANCELED, TIMEOUT, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_replicas_renew(struct xd_upkeep **out,
                                           const struct xd_renew_wish *wish,
                                           const struct xd_options *o,
                                           struct xd_error *err);

/* Reports the summary.  Blocks: no. */
XD_API void xd_upkeep_get(const struct xd_upkeep *u, struct xd_upkeep_sum *out);

/* Reports result number `i`.  Returns 0, or INVAL if `i` is out of range.
 * Blocks: no. */
XD_API int xd_upkeep_replica(const struct xd_upkeep *u, size_t i,
                             struct xd_upkept *out);

/* Releases the results; NULL does nothing. */
XD_API void xd_upkeep_free(struct xd_upkeep *u);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_upkeep_sum)
XD_FILLS(xd_upkept)
#define xd_upkeep_get(u, out) xd_upkeep_get(u, xd_upkeep_sum_sized(out))
#define xd_upkeep_replica(u, i, out) \
    xd_upkeep_replica(u, i, xd_upkept_sized(out))
#endif

XD_END_DECLS

#endif
