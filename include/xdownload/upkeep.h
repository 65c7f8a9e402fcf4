/* SPDX-License-Identifier: MIT */
/*
 * Replicas that an upload has made: fewer of them, or for longer.
 *
 * Both go by two manifests, as <xdownload/upload.h> has them: that which is handed
 * out, and the private one beside it, which says by what the replicas are managed.
 * The private one is acted upon only if no other user can have written it: it
 * is a regular file and no link to one, belongs to the effective user, and no other
 * may read or write it.  What the other one says makes nothing happen at a store.
 *
 * One call at a time works on a manifest, and no upload meanwhile.
 */
#ifndef XDOWNLOAD_UPKEEP_H
#define XDOWNLOAD_UPKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_upkeep;

struct xd_drop_wish {
    size_t struct_size;   /* set by the caller */
    const char *manifest; /* the path of the one that is handed out */
    const char *from;     /* the URL of a store, or the host of a depot, as HOST
                             or HOST:PORT */
    bool keeps_objects;   /* they are only not named any more */
};

struct xd_renew_wish {
    size_t struct_size;
    const char *manifest;
    uint64_t lifetime_s;       /* from now on, at least */
    const char *const *stores; /* URLs of those whose presigned URLs may be made
                                  anew: "s3://BUCKET/PREFIX" */
    size_t n_stores;
};

enum xd_upkeep_state {
    XD_UPKEEP_DONE,    /* dropped, and its object is gone; or renewed */
    XD_UPKEEP_KEPT,    /* dropped, and its object is where it was: wished, or
                           nothing says by what it is managed */
    XD_UPKEEP_ENDLESS, /* not renewed: it does not expire */
    XD_UPKEEP_BEYOND,  /* not renewed: its store keeps objects for `limit_s` at
                           most */
    XD_UPKEEP_UNMANAGED, /* not renewed: nothing that may be used says by what it
                            is managed */
    XD_UPKEEP_FAILED     /* dropped, but its object could not be removed; or not
                           renewed: see `error` */
};

/* One replica, or an object that an earlier call was to remove.  Strings live as
 * long as what they were got from. */
struct xd_upkept {
    size_t struct_size; /* set by the caller */
    enum xd_upkeep_state state;
    const char *url;     /* by which it was read, without secrets */
    const char *store;   /* its name; NULL: no store was asked */
    uint64_t begin, end; /* bytes of the file; of parity, those of its stripe */
    uint64_t expires_at; /* renewed: seconds since 1970 */
    uint64_t limit_s;    /* with BEYOND; 0: not known */
    const char
        *error;     /* one sentence, also of what is done and to be known, as of
                          a bucket that keeps versions; or NULL */
    bool is_parity; /* of this shard of a stripe, by its number */
    uint64_t stripe;
    unsigned shard;
};

struct xd_upkeep_sum {
    size_t struct_size;    /* set by the caller */
    size_t n;              /* replicas, for xd_upkeep_replica() */
    uint64_t bytes_proved; /* read of what stays, before objects were removed */
    bool has_private;      /* there is a private manifest */
    const char *private_path; /* where it is, or would be */
};

XD_BEGIN_DECLS

/*
 * Drop the replicas on a host or a store, of parity too: both manifests are written
 * without them, and then their objects are removed, which needs the private manifest;
 * without it, nothing is.
 *
 * An object is removed only at the store that was named, or at that very host, and
 * only if it has the name of an object of an upload.  Before that every byte is
 * read from the replicas that stay, and held against a hash of the manifest that
 * is not weak (xd_hash_is_weak()).  So is it where objects are kept, if there is
 * parity and such a hash: k good shards of each stripe stay, whatever is dropped.
 *
 * Interrupted, it has done nothing, or is completed by the same call.
 *
 * Ownership: *out is the caller's, to release with xd_upkeep_free(); copies what
 *            it is given.  `o` may be NULL: the defaults.
 * Threads:   any.  Works on threads of its own, which have ended on return.
 * Blocks:    until all is read and removed; a cancel of the options ends it.
 * Errors:    INVAL (no replica is there; they are all that there is of some bytes, or
 *            a stripe would have fewer than k shards; objects cannot be removed under
 *            these rules: wish keeps_objects),
 *            IO (a manifest cannot be read or written, or another call works on
 *            it; the private one may be another user's), MANIFEST, STATE (an upload
 *            is not complete, or the two are of different files), CORRUPT,
 *            NOREPLICA and others of xd_reader_read() (what stays is not right: all
 *            is as it was), CANCELED, TIMEOUT, NOMEM.  That an object could not be
 *            removed is none.
 */
XD_API XD_MUST_CHECK int xd_replicas_drop(struct xd_upkeep **out,
                                          const struct xd_drop_wish *wish,
                                          const struct xd_options *o,
                                          struct xd_error *err);

/*
 * Have all replicas that expire, of parity too, live longer, by what the private
 * manifest says; until when is written into both.  URLs that S3 presigned are made
 * anew, at the stores of the wish alone.
 *
 * Ownership, Threads, Blocks: as xd_replicas_drop().
 * Errors:    INVAL (no lifetime; no URL of a store), IO, MANIFEST, STATE (also:
 *            there is no private manifest), CANCELED, TIMEOUT, NOMEM.  That one
 *            was not renewed is none.
 */
XD_API XD_MUST_CHECK int xd_replicas_renew(struct xd_upkeep **out,
                                           const struct xd_renew_wish *wish,
                                           const struct xd_options *o,
                                           struct xd_error *err);

XD_API void xd_upkeep_get(const struct xd_upkeep *u, struct xd_upkeep_sum *out);

/* What became of the i-th replica; 0, or INVAL past the last. */
XD_API int xd_upkeep_replica(const struct xd_upkeep *u, size_t i,
                             struct xd_upkept *out);

XD_API void xd_upkeep_free(struct xd_upkeep *u); /* NULL does nothing */

XD_END_DECLS

#endif
