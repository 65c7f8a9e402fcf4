/* SPDX-License-Identifier: MIT */
/*
 * What URLs lead to, found out by asking: a manifest, or a copy of a file.
 *
 * xd_manifest_fetch() is the opener for URLs, as xd_manifest_read() is for the
 * path of a file and xd_manifest_parse() for memory: none of them takes the one
 * for the other, whatever the text looks like.
 */
#ifndef XDOWNLOAD_INSPECT_H
#define XDOWNLOAD_INSPECT_H

#include <stdbool.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_inspection;

struct xd_inspected {
    size_t struct_size;           /* set by the caller */
    struct xd_manifest *manifest; /* NULL: it is no manifest */
    uint64_t size;                /* of the object, or XD_SIZE_UNKNOWN */
    struct xd_error error; /* why nothing is known of it; code XD_OK: it is */
};

XD_BEGIN_DECLS

/*
 * Ask all URLs at once.  The first 64 KiB of what comes decide: if they are
 * the beginning of an exNode or a Metalink, the rest is read too, up to
 * 64 MiB, and understood.  With `are_manifests` that is not asked: each must
 * be a manifest, and may then be a list of URLs.
 *
 * A URL that has not answered some time after the first has (500 ms, or twice
 * what that took) is left: code AGAIN.  If one of them is a manifest, and with
 * `are_manifests`, all are waited for, each for as long as the option `silence`
 * allows between bytes.
 *
 * Of a single URL the first MiB is asked for.  If that is a file's, it is not
 * thrown away: its answer waits, with its connection, for a download or a source of
 * that URL with the same options, which goes on with it.  It is ended after five
 * seconds, when a further URL is inspected with these options, or when they are
 * freed.
 *
 * Ownership: *out is the caller's, to release with xd_inspection_free();
 *            `urls` must live as long.
 * Threads:   any.  Works on a thread of its own, which has ended on return.
 * Blocks:    until all have answered, failed or been left.
 *            A cancel of the options ends it.
 * Errors:    NOMEM, INVAL (no URL), CANCELED.  What is wrong with one URL
 *            stands with it: NET, MANIFEST, AGAIN, NOREPLICA (its host is
 *            excluded), DIFFERENT (a web page came, of type text/html, though
 *            the URL ends in the extension of a manifest, archive, package,
 *            image or film; not with the option accept-html).
 */
XD_API XD_MUST_CHECK int xd_inspect(struct xd_inspection **out,
                                    const char *const *urls, size_t n,
                                    bool are_manifests,
                                    const struct xd_options *o,
                                    struct xd_error *err);

/* The i-th URL; 0, or INVAL past the last.  The manifest lives as long as the
 * inspection, and longer for a caller that takes a reference. */
XD_API int xd_inspection_get(const struct xd_inspection *in, size_t i,
                             struct xd_inspected *out);

/*
 * How many manifests the URLs stand for: one each; or 1, of which all are
 * copies.
 * Errors: INVAL (one is a manifest, and another a copy of a file); the failure
 * of
 *         the first, if none could be reached.
 */
XD_API int64_t xd_inspection_n_manifests(const struct xd_inspection *in,
                                         struct xd_error *err);

/*
 * The i-th of these: what was found at a URL, or the list of all URLs but those
 * with DIFFERENT, with the size that their depots agree on.
 * Ownership: *out is the caller's, to release with xd_manifest_unref().
 * Errors:    those of n_manifests(), and of the URL; INVAL past the last; NOMEM.
 */
XD_API XD_MUST_CHECK int xd_inspection_manifest(struct xd_manifest **out,
                                                const struct xd_inspection *in,
                                                size_t i, struct xd_error *err);

XD_API void xd_inspection_free(struct xd_inspection *in); /* NULL: nothing */

/*
 * Find the copies of a file, before it is fetched: the URLs of a list are checked,
 * and then the Metalinks that the manifest names are followed, as
 * xd_manifest_follow() does.
 *
 * That the URLs of a list are copies of one file is checked as follows.
 * Only a list of URLs is checked (xd_manifest_format() "urls"), of at least
 * two, and only without a hash of the file, which would decide; any other
 * manifest is taken as it is.
 *
 * Each URL is asked for its size and for three samples of 32 KiB, both ends
 * among them; of a file below 1 MiB for all of it.  Each host has one vote for
 * each file that it has.  If the last components of the URLs (query included)
 * are the same, or the option `same-file` is set, the file for which more than
 * half of the votes are is meant: *out is the list without the other URLs,
 * with the file's size and a warning for each URL that was left out.  If the
 * names differ, all must agree.
 *
 * A URL that does not answer within 500 ms of the first one, or within twice
 * the time that the first one took, is left out if the names differ or if the
 * file is shorter than 1 MiB.  If no URL answers within 5 s, the list
 * is taken as it is; if the names differ, that is an error.
 *
 * Ownership: *out is the caller's, to release with xd_manifest_unref(); `m`
 *            stays the caller's.
 * Threads:   any.  Works on a thread of its own, which has ended on return.
 * Blocks:    until all have answered, failed or been left out; a cancel of the
 *            options ends it.
 * Errors:    CORRUPT (the files differ, and there is no majority), INVAL (they
 *            differ, and so do the names), NET, AGAIN and others (no URL
 *            answers, and the names differ), NOMEM, IO (a file of the options).
 */
XD_API XD_MUST_CHECK int xd_copies_find(struct xd_manifest **out,
                                        struct xd_manifest *m,
                                        const struct xd_options *o,
                                        struct xd_error *err);

/*
 * The Metalinks that a manifest names for its files (the metaurl elements of
 * RFC 5854) are fetched, all at once, and the copies that they name are added
 * behind those that are there.  *out is `m` itself where there are none, or with
 * the option `no-metalink`.
 *
 * Only of a file with a hash, SHA-256 or better, and only copies: what such a
 * Metalink says else is compared, and makes it of no use where it differs.  At
 * most 32 are asked, and they are waited for a second, or longer where a file
 * has no copy without them.  A public server cannot name copies in private
 * networks.  What could not be used is a warning.
 *
 * Ownership: *out is the caller's, to release with xd_manifest_unref(); `m`
 *            stays the caller's.
 * Threads:   any.  Works on a thread of its own, which has ended on return.
 * Blocks:    as said; a cancel of the options ends it.
 * Errors:    NOMEM, IO (a file of the options), CANCELED.
 */
XD_API XD_MUST_CHECK int xd_manifest_follow(struct xd_manifest **out,
                                            struct xd_manifest *m,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/*
 * The manifest at a URL, or that of a file of which the URLs are copies, as one
 * call: xd_inspect(), its only manifest and xd_copies_find().
 * Ownership: *out is the caller's, to release with xd_manifest_unref().
 * Blocks:    as these do.
 * Errors:    theirs; INVAL (several URLs, and manifests among them).
 */
XD_API XD_MUST_CHECK int xd_manifest_fetch(struct xd_manifest **out,
                                           const char *const *urls, size_t n,
                                           const struct xd_options *o,
                                           struct xd_error *err);

XD_END_DECLS

#endif
