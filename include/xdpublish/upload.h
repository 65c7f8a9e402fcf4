/* SPDX-License-Identifier: MIT */
/*
 * Upload copies of a file to servers, and write a manifest that lists the
 * copies.
 *
 *     #include <stdio.h>
 *     #include <xdpublish/xdpublish.h>
 *
 *     int publish(const char *path, struct xd_error *err)
 *     {
 *         const char *stores[] = {"https://a.example/pub/", "s3://bucket/pub"};
 *         const struct xd_upload_wish wish = {XD_SIZED(struct xd_upload_wish),
 *                                             .stores = stores,
 *                                             .n_stores = 2,
 *                                             .manifest = "disk.iso.meta4"};
 *         struct xd_upload *u;
 *         int rc = xd_upload_new(&u, path, &wish, NULL, err);
 *
 *         if (rc < 0)
 *             return rc;
 *         rc = xd_upload_start(u, err);
 *         if (rc == 0)
 *             rc = xd_upload_wait(u, -1, err);
 *         printf("secrets are in %s\n", xd_upload_private_path(u));
 *         xd_upload_free(u);
 *         return rc;
 *     }
 *
 * A store is a place that takes uploads:
 * - "https://HOST/DIR/": a directory of a web server that allows PUT;
 * - "s3://BUCKET/PREFIX": a bucket, with the options s3-*;
 * - "ibp://HOST:PORT": an IBP depot.
 *
 * How it works:
 * - The file is cut into extents.  Each copy of an extent is a separate object
 *   with a random name.  Existing objects are never overwritten.  No store gets
 *   two copies of one extent.
 * - An object counts as uploaded only after its size and a sample of its bytes
 *   have been read back and compared.
 * - Instead of copies, an upload can make parity (`code`).  Then the extents
 *   are shards, and no host gets two shards of one stripe.  See struct
 *   xd_stripe.
 *
 * The upload writes two manifests.  It replaces them atomically whenever they
 * change:
 * - The public manifest is for everybody who downloads the file.  It is written
 *   as soon as every byte has a copy.
 * - The private manifest is in the same directory (xd_upload_private_path()).
 *   It exists from the first extent on, and holds the secrets that are needed
 *   to renew or remove the copies.  Keep it.
 *
 * If an upload is interrupted, create and start it again with the same
 * arguments.  The new upload resumes the old one, and sends at most two extents
 * to each store a second time.
 *
 * Credentials are sent only to the hosts that the option auth-host lists.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: any thread may call all functions here at any time, as long as the
 *          upload exists.
 */
#ifndef XDPUBLISH_UPLOAD_H
#define XDPUBLISH_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/download.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_upload;

/* What to upload, and to which stores.  XD_SIZED sets struct_size; the caller
 * leaves other fields at 0 or NULL for their defaults.  The upload copies
 * everything. */
struct xd_upload_wish {
    size_t struct_size;
    const char *const *stores; /* URLs of the stores */
    size_t n_stores;
    const char *manifest; /* path of the public manifest */
    /* "exnode" or "metalink".  NULL: a Metalink if the path ends in ".meta4" or
     * ".metalink", else an exNode. */
    const char *format;
    /* Number of copies of each byte.  0: one copy on each store, or a single
     * copy with `stripes`. */
    unsigned copies;
    /* True: each extent goes to the next free store, so that all stores finish
     * at the same time.  False: the first stores get whole copies, and the
     * other stores are used only to replace stores that fail. */
    bool stripes;
    /* Length of an extent in bytes.  0: the library chooses the length:
     * - 256 MiB for an exNode;
     * - with `stripes`, about 32 extents for each store, at least 1 MiB long;
     * - for a Metalink, the whole file.
     * Extents are shortened so that each piece is within one extent.  Shards
     * are shortened so that all stripes have the same length.  If the pieces of
     * the manifest are longer than extent_bytes, each extent is one piece. */
    uint64_t extent_bytes;
    /* Seconds until the presigned URLs in the manifest expire, on stores that
     * can presign (S3).  Anybody who has a presigned URL can read the object,
     * even in a private bucket.  0: plain URLs. */
    uint64_t presign_s;
    /* Lifetime of objects in seconds, on stores that let them expire.  0: the
     * longest lifetime that the store allows, but at most one day. */
    uint64_t lifetime_s;
    /* "K+M" makes M parity shards for every K data shards.  All K+M shards go
     * to different hosts.  Any M of the K+M shards may be lost.  extent_bytes
     * is the length of a shard (0: about 1 MiB, chosen to suit the file), and
     * `copies` must be 0.  NULL: no parity. */
    const char *code;
};

/* The library fills in the structs below.  Later releases may add fields at
 * their end.  Macros with the same names as the functions set struct_size
 * before each call (see version.h), and the library never writes more than
 * struct_size bytes. */

/* Progress of an upload. */
struct xd_upload_progress {
    size_t struct_size;
    uint64_t bytes_total; /* bytes of all requested copies and of parity */
    uint64_t bytes_done;  /* bytes uploaded and read back */
    /* bytes that an earlier, interrupted upload sent; included in bytes_done */
    uint64_t bytes_resumed;
    /* bytes sent by this upload, including bytes sent again */
    uint64_t bytes_sent;
    /* seconds from xd_upload_start() until now, or until the end */
    double seconds;
    double bytes_per_s;  /* bytes sent per second, averaged over the last 4 s */
    uint64_t file_bytes; /* bytes of the file */
    size_t n_extents;    /* number of extents, or of shards */
    unsigned copies;     /* number of requested copies of each extent */
    size_t n_missing;    /* number of copies of extents that are not complete */
    /* bytes already sent for incomplete copies; not included in bytes_done */
    uint64_t bytes_under_way;
    unsigned code_k;       /* K of the code; 0: there is no parity */
    unsigned code_m;       /* M of the code */
    uint64_t parity_bytes; /* bytes of parity; included in bytes_total */
};

enum xd_store_state {
    XD_STORE_IDLE,   /* nothing to do, or not contacted yet */
    XD_STORE_BUSY,   /* an object is being sent or read back */
    XD_STORE_PAUSED, /* failed a moment ago; a retry follows */
    XD_STORE_FAILED  /* given up for the rest of the upload: see last_error */
};

/* Statistics of one store. */
struct xd_store_stats {
    size_t struct_size;
    const char *url; /* without secrets; it lives as long as the upload */
    enum xd_store_state state;
    uint64_t bytes;      /* bytes uploaded and read back */
    uint64_t bytes_sent; /* bytes sent by this upload */
    size_t extents;      /* number of extents uploaded and read back */
    unsigned failures;
    double bytes_per_s; /* bytes sent per second, averaged over the last 4 s */
    struct xd_error last_error; /* code XD_OK if nothing has failed */
    uint64_t bytes_under_way;   /* bytes already sent for incomplete extents */
};

/* One finished attempt to upload an object. */
struct xd_upload_record {
    size_t struct_size;
    unsigned store; /* index for xd_upload_store() */
    /* range in the file; for a parity shard, the range of its stripe; `end` is
     * excluded */
    uint64_t begin, end;
    double start_s; /* seconds since xd_upload_start() */
    /* time at which the object was read back, or at which the attempt failed;
     * in seconds since xd_upload_start() */
    double end_s;
    enum xd_code code; /* XD_OK, or the code of the failure */
    unsigned shard;    /* number of the parity shard in its stripe, else 0 */
};

XD_BEGIN_DECLS

/*
 * Creates an upload of the regular file at `path`.  It sends nothing yet.  It
 * creates a lock file beside the manifest, MANIFEST.lock, so that no other
 * upload writes the same manifest.
 *
 * With the option force, an existing manifest is replaced.  The objects of the
 * old upload stay on their stores, so the old private manifest, which lists
 * them, is saved under another name.  A log line states the name.
 *
 * Ownership: the caller releases *out with xd_upload_free().  `wish` and `o`
 *            (NULL: the defaults) are copied.
 * Blocks:    on disk I/O.
 * Errors:
 * - INVAL: there is no store or no manifest path, a URL is not a store, or a
 *   store is listed twice.
 * - INVAL: there are more copies than stores, or presign_s is too long for a
 *   store.
 * - INVAL: `code` is wrong, is used together with `copies` or a Metalink, or
 *   needs more hosts than the stores have.
 * - INVAL: the manifest would be longer than 64 MiB; use longer extents.
 * - IO: the file cannot be read, the manifest exists and the option force is
 *   not set, or another upload is writing it.
 * - MANIFEST: the private manifest of an earlier upload cannot be understood.
 * - STATE: an earlier upload with this manifest was of another file or had
 *   another code, or the file has changed since.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_upload_new(struct xd_upload **out, const char *path,
                                       const struct xd_upload_wish *wish,
                                       const struct xd_options *o,
                                       struct xd_error *err);

/*
 * Creates an upload that adds copies to the existing manifest wish->manifest.
 * It reads the bytes from the existing replicas.
 *
 * - By default each store gets one copy.  wish->copies and wish->stripes change
 *   this.
 * - No store gets a second copy of bytes that it already has.
 * - With `code`, the upload adds parity instead of copies, or completes it.
 *   The host of a parity shard must have no other shard of the stripe, and must
 *   not be the only host with some of the bytes of the stripe.
 *
 * Ownership, Blocks: as for xd_upload_new().
 * Errors: as for xd_upload_new(), except:
 * - IO: there is no such manifest.
 * - INVAL: the manifest describes several files.
 * - MANIFEST: the manifest does not state the size of the file.
 * - STATE: an upload or a heal of the manifest is not complete, or the manifest
 *   already has all parity, or has parity with another code.
 */
XD_API XD_MUST_CHECK int xd_upload_new_copies(struct xd_upload **out,
                                              const struct xd_upload_wish *wish,
                                              const struct xd_options *o,
                                              struct xd_error *err);

/*
 * Creates an upload that replaces the bad replicas of an audit (audit.h).  It
 * copies the bytes from a good replica, or computes the parity shard again, and
 * then removes the bad replica from the manifest.
 *
 * - Each extent goes to the next free store.  wish->copies and wish->stripes
 *   are ignored.
 * - An extent is not changed if it has no replica that is completely good.
 * - An interrupted heal is resumed, even if nothing is bad any more.
 *
 * The audit must have tested a manifest that xd_upload_manifest() returned.
 *
 * Ownership, Blocks: as for xd_upload_new().  The audit may be freed after the
 *                    call.
 * Errors:    as for xd_upload_new_copies(); STATE also if the manifest has
 *            changed since the audit.
 */
struct xd_audit;
XD_API XD_MUST_CHECK int xd_upload_new_heal(struct xd_upload **out,
                                            const struct xd_audit *audit,
                                            const struct xd_upload_wish *wish,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/*
 * Returns true if a heal of the manifest at `path` was interrupted.
 * xd_upload_new_heal() resumes it.  Until then, all other changes of the
 * manifest fail.
 * Blocks: on disk I/O.
 */
XD_API bool xd_upload_has_heal(const char *path);

/*
 * Reads the manifest for xd_upload_new_copies() and xd_upload_new_heal().  This
 * is the private manifest in the directory of `path` if it exists and other
 * users cannot access it; otherwise it is the manifest at `path`.
 * Ownership: the caller releases *out with xd_manifest_unref().
 * Blocks:    on disk I/O.
 * Errors:    IO, MANIFEST, NOMEM; STATE if the two manifests describe different
 *            files.
 */
XD_API XD_MUST_CHECK int xd_upload_manifest(struct xd_manifest **out,
                                            const char *path,
                                            struct xd_error *err);

/*
 * Makes the replicas in private S3 buckets readable for the user, for example
 * for an audit.  `m` is a manifest of the file whose public manifest is at
 * `path`.
 *
 * The result has presigned URLs for the objects in the private manifest that
 * are at the S3 endpoint of the options or the environment.  They are signed
 * with the user's credentials and expire after twelve hours.  Replicas keep
 * their numbers.
 *
 * Presigned URLs are secrets: do not write the result to a file.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  *out may be
 *            `m` itself.  `o` may be NULL for the defaults.
 * Blocks:    on disk I/O.
 * Errors:    NOMEM.
 */
XD_API XD_MUST_CHECK int xd_upload_readable(struct xd_manifest **out,
                                            struct xd_manifest *m,
                                            const char *path,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/*
 * Starts the upload.
 * Errors: STATE (started before), IO (a file named in the options cannot be
 *         read), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_upload_start(struct xd_upload *u,
                                         struct xd_error *err);

/*
 * Waits for the end of the upload, at most `timeout_ms` milliseconds.  -1 waits
 * without limit, and 0 returns at once.
 * Returns: 0 when all copies are complete, AGAIN while the upload is running,
 *          or the code that ended it.  After the end, every call returns the
 *          same code.
 * Errors:
 * - NET: a store failed and no other store can replace it.  The private
 *   manifest lists the copies that are complete.
 * - IO: the file has changed, or a manifest cannot be written.
 * - CANCELED, TIMEOUT, NOMEM; STATE if the upload was not started.
 *
 * Treat every other negative code like these: the upload has ended.
 */
XD_API XD_MUST_CHECK int xd_upload_wait(struct xd_upload *u, int timeout_ms,
                                        struct xd_error *err);

/* Asks the upload to stop.  xd_upload_wait() then returns CANCELED soon.
 * Blocks: no. */
XD_API void xd_upload_cancel(struct xd_upload *u);

/* Reports the progress of the upload.  Blocks: no. */
XD_API void xd_upload_progress(struct xd_upload *u,
                               struct xd_upload_progress *out);

/* Reports the statistics of store number `i`, in the order of wish->stores.
 * Returns 0, or INVAL if `i` is out of range.
 * Blocks: no. */
XD_API int xd_upload_store(struct xd_upload *u, size_t i,
                           struct xd_store_stats *out);

/*
 * Removes the oldest record from the queue and copies it to *out.  Records are
 * kept only if the option records is set.  The queue holds 4096 records.  When
 * it is full, the oldest record is lost.
 * Returns: false if there is no record now.
 * Blocks:  no.
 */
XD_API bool xd_upload_next_record(struct xd_upload *u,
                                  struct xd_upload_record *out);

/* Returns the path of the private manifest: the path of the public manifest
 * with ".private.xnd" in place of its ending.  It lives as long as the
 * upload. */
XD_API const char *xd_upload_private_path(const struct xd_upload *u);

/*
 * Cancels the upload, joins its threads and frees it; NULL does nothing.
 * Complete copies stay on their stores and in the private manifest.
 * Blocks: for less than a second, like the last xd_download_unref().
 */
XD_API void xd_upload_free(struct xd_upload *u);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_upload_progress)
XD_FILLS(xd_store_stats)
XD_FILLS(xd_upload_record)
#define xd_upload_progress(u, out) \
    xd_upload_progress(u, xd_upload_progress_sized(out))
#define xd_upload_store(u, i, out) \
    xd_upload_store(u, i, xd_store_stats_sized(out))
#define xd_upload_next_record(u, out) \
    xd_upload_next_record(u, xd_upload_record_sized(out))
#endif

XD_END_DECLS

#endif
