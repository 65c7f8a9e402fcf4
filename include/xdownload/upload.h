/* SPDX-License-Identifier: MIT */
/*
 * An upload places copies of a file on stores, and writes the manifest that names
 * them.
 *
 *     new -> start -> running -> done | failed | canceled -> free
 *
 * The file is cut into extents, each an object of its own; no store gets two
 * copies of one.  What is on a store was read back, as to its size and a sample,
 * before it counts.
 *
 * In place of copies bytes may get parity (`code`): the extents are then shards, of
 * which no host gets two of one stripe (xdownload-manifest(5)).
 *
 * Two manifests are written, each under a temporary name that is then exchanged:
 * the one to hand out, once every byte has a copy, and a private one beside it
 * (xd_upload_private_path()), from the first extent on.  That one has the secrets
 * by which the copies are managed, and until the end what is needed to go on: an
 * upload that was interrupted continues when the same one is started again, and
 * sends at most one extent to each store a second time.
 *
 * A store is a folder of a web server that takes PUT ("https://HOST/DIR/"), a
 * bucket ("s3://BUCKET/PREFIX", with the options s3-*) or an IBP depot
 * ("ibp://HOST:PORT").  Objects have random names; none that is there is
 * overwritten.  The options user and others send credentials only to hosts that
 * auth-host names.
 *
 * Threads: every function here may be called from any thread at any time, as
 *          long as the upload lives.
 */
#ifndef XDOWNLOAD_UPLOAD_H
#define XDOWNLOAD_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/download.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_upload;

/* What is wanted.  The caller sets struct_size; zeros and NULL are the
 * defaults.  Everything is copied. */
struct xd_upload_wish {
    size_t struct_size;
    const char *const *stores; /* URLs */
    size_t n_stores;
    const char *manifest; /* the path of the one to hand out */
    const char
        *format;     /* "exnode" or "metalink"; NULL: by the end of that path,
                           ".meta4", ".metalink" or any other */
    unsigned copies; /* of each byte; 0: one on each store, or one with
                        `stripes` */
    bool stripes; /* extents go to whichever store is free, so that all end at
                     the same time; else the first stores get whole copies, and
                     others take the place of those that fail */
    uint64_t extent_bytes; /* 0: 256 MiB, or with `stripes` about 32 for each
                              store, but 1 MiB at least */
    uint64_t
        presign_s; /* the URLs in the manifest are presigned for so long, by
                           stores that can (S3): anybody can read by them, though
                           the bucket is private; 0: they are plain */
    uint64_t
        lifetime_s;   /* of objects on stores that let them expire; 0: as long
                            as the store allows, a day at most */
    const char *code; /* "K+M": of each K shards of data M shards of parity are
                         computed, all of which lie on different hosts: any M of
                         them may be lost.  extent_bytes is the length of a shard
                         then (0: 1 MiB, or as fits the file), and `copies` is 0.
                         NULL: there is no parity */
};

/* The structs below are filled in by the library and may grow: the caller
 * sets struct_size first, and gets that many bytes. */

struct xd_upload_progress {
    size_t struct_size;
    uint64_t bytes_total;   /* of all copies that are wanted */
    uint64_t bytes_done;    /* of them, on stores and read back */
    uint64_t bytes_resumed; /* of these, those of an earlier run */
    uint64_t bytes_sent;    /* by this one, those that were sent again too */
    double seconds;         /* since start() */
    double bytes_per_s;     /* of bytes_sent, over the last few seconds */
    uint64_t file_bytes;    /* of the file */
    size_t n_extents;
    unsigned copies;          /* of each that are wanted */
    size_t n_missing;         /* copies of extents that are not there yet */
    uint64_t bytes_under_way; /* of these: sent so far, and not counted above */
    unsigned code_k;          /* as `code` of the wish; 0: there is no parity */
    unsigned code_m;          /* likewise */
    uint64_t parity_bytes;    /* of bytes_total; its shards are extents above */
};

enum xd_store_state {
    XD_STORE_IDLE, /* nothing for it to do, or not asked yet */
    XD_STORE_BUSY,
    XD_STORE_PAUSED, /* failed a moment ago, will be tried again */
    XD_STORE_FAILED  /* given up in this run: see last_error */
};

struct xd_store_stats {
    size_t struct_size;
    const char *url; /* without secrets; lives as long as the upload */
    enum xd_store_state state;
    uint64_t bytes;      /* on it, and read back */
    uint64_t bytes_sent; /* by this run */
    size_t extents;      /* on it */
    unsigned failures;
    double bytes_per_s;         /* sent, over the last few seconds */
    struct xd_error last_error; /* code XD_OK if there was none */
    uint64_t
        bytes_under_way; /* of extents that are not on it yet: sent so far */
};

/* One object that was sent, or not: for -v, reports and traces. */
struct xd_upload_record {
    size_t struct_size;
    unsigned store;      /* index for xd_upload_store() */
    uint64_t begin, end; /* bytes of the file */
    double start_s;      /* since the start of the upload */
    double end_s;        /* likewise: read back, or failed */
    enum xd_code code;   /* 0, or why it failed */
    unsigned shard;      /* of parity: its number in the stripe of those bytes;
                            else 0 */
};

XD_BEGIN_DECLS

/*
 * Prepare the upload of the regular file at `path`.  Sends nothing, and writes
 * only a file beside the manifest that keeps other uploads from it.
 * Ownership: *out is the caller's, to release with xd_upload_free(); copies
 *            `wish` and `o` (NULL: the defaults).
 * Blocks:    on the disk.
 * Errors:    INVAL (no store, URLs that no store presigns for so long, one twice, more copies than stores, an URL that is
 *            none of a store; a code that is none, is given with `copies` or for a
 *            Metalink, or needs more hosts than the stores are on), IO (the file cannot be read; a manifest is there
 *            already, and the option force does not replace it; another upload
 *            writes it), MANIFEST (what
 *            is there of an earlier upload cannot be understood), STATE (that
 *            was of another file or with another code, or this one has changed since), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_upload_new(struct xd_upload **out, const char *path,
                                       const struct xd_upload_wish *wish,
                                       const struct xd_options *o,
                                       struct xd_error *err);

/*
 * The same for more copies of a file that a manifest names (wish->manifest, which is
 * changed), from the replicas that there are: one on each store, or as `copies` and
 * `stripes` say.  A store that has a copy of some bytes already gets no other.
 * With `code` it gets no copies, but parity, or what it lacks of that: of each stripe on
 * hosts that have no other shard of it, and are not the only ones to have some of its
 * bytes.
 * Errors: as above, but: IO (there is no such manifest), STATE (a put or a heal of it,
 * or its parity, is not complete), INVAL also where it describes several files, MANIFEST
 * where it does not say the size.
 */
XD_API XD_MUST_CHECK int xd_upload_new_copies(struct xd_upload **out,
                                              const struct xd_upload_wish *wish,
                                              const struct xd_options *o,
                                              struct xd_error *err);

/*
 * The same in place of the replicas that `audit` has found to be unusable, of as
 * many bytes as another depot has a good copy of; those leave the manifest once they
 * are replaced.  `copies` and `stripes` of the wish do not matter: each extent goes
 * to whichever store is free.  An extent that no replica has right as a whole stays as
 * it is.  One that was broken off goes on, also where nothing is bad any
 * more; copies that an addition has made until it was broken off stay.
 * Ownership: `audit`, which was of xd_upload_manifest(), need not outlive the call.
 * Errors:    also STATE (the manifest has changed since).
 */
struct xd_audit;
XD_API XD_MUST_CHECK int xd_upload_new_heal(struct xd_upload **out,
                                            const struct xd_audit *audit,
                                            const struct xd_upload_wish *wish,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/* Whether a heal of the manifest at `path` was broken off, with which new_heal() goes on:
 * nothing else may change the manifest before.  Blocks: on the disk. */
XD_API bool xd_upload_has_heal(const char *path);

/* The manifest that an upload of `path` goes on from: the private one beside it, if
 * that is there and only the user's, else `path` itself.
 * Ownership: *out is the caller's, to release with xd_manifest_unref().
 * Errors:    IO, MANIFEST, NOMEM. */
XD_API XD_MUST_CHECK int xd_upload_manifest(struct xd_manifest **out,
                                            const char *path,
                                            struct xd_error *err);

/*
 * `m`, of the file whose manifest is at `path`, as its user may read it: of objects in
 * S3 that the private manifest beside `path` records, and that are at the endpoint
 * of the options s3-* or of the environment, the URLs are presigned with the user's
 * credentials, for twelve hours.  Replicas are numbered as before.  Such URLs are
 * secrets: nothing is to be written of them.
 * Ownership: *out is the caller's, to release with xd_manifest_unref(); it may be
 *            `m` itself.  `o` may be NULL: the defaults.
 * Blocks:    on the disk.
 * Errors:    NOMEM.
 */
XD_API XD_MUST_CHECK int xd_upload_readable(struct xd_manifest **out,
                                            struct xd_manifest *m,
                                            const char *path,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/*
 * Start its threads.  Errors: NOMEM, IO (a file that the options name), STATE
 * (started before).
 */
XD_API XD_MUST_CHECK int xd_upload_start(struct xd_upload *u,
                                         struct xd_error *err);

/*
 * Wait for the end, at most timeout_ms (-1: for ever, 0: only look).
 * Returns 0 when all copies are there, AGAIN while it is still running, else the
 * code that ended it, the same at every call: NET (a store failed, and no other
 * can take its place: what is there stays, and is in the private manifest), IO
 * (the file has changed, or a manifest cannot be written), CANCELED, TIMEOUT,
 * NOMEM; STATE before start().
 */
XD_API XD_MUST_CHECK int xd_upload_wait(struct xd_upload *u, int timeout_ms,
                                        struct xd_error *err);

/* Ask it to stop.  Blocks: no; wait() then returns CANCELED, soon. */
XD_API void xd_upload_cancel(struct xd_upload *u);

/* How far it is.  Blocks: no. */
XD_API void xd_upload_progress(struct xd_upload *u,
                               struct xd_upload_progress *out);

/* The i-th store, in the order of the wish; 0, or INVAL past the last.
 * Blocks: no. */
XD_API int xd_upload_store(struct xd_upload *u, size_t i,
                           struct xd_store_stats *out);

/* The next record of a queue of 4096, of which the oldest is lost when it is
 * full; false when there is none now.  Kept only if the option `records` is set.
 * Blocks: no. */
XD_API bool xd_upload_next_record(struct xd_upload *u,
                                  struct xd_upload_record *out);

/* Where its private manifest is: that of the wish with ".private" before its
 * ending, which is ".xnd".  Lives as long as the upload. */
XD_API const char *xd_upload_private_path(const struct xd_upload *u);

/* Cancels it, joins its threads and releases it; NULL does nothing.  What was
 * placed stays, and is in the private manifest.
 * Blocks: less than a second, as xd_download_unref() does. */
XD_API void xd_upload_free(struct xd_upload *u);

XD_END_DECLS

#endif
