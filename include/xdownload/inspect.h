/* SPDX-License-Identifier: MIT */
/*
 * Find out what URLs lead to: a manifest, or copies of a file.
 *
 * xd_manifest_fetch() is enough for most programs.  It returns a manifest that
 * is ready for xd_download_new().
 *
 *     #include <xdownload/xdownload.h>
 *
 *     int open_url(struct xd_manifest **out, struct xd_error *err)
 *     {
 *         const char *mirrors[] = {"https://a.example/disk.iso",
 *                                  "https://b.example/disk.iso"};
 *
 *         return xd_manifest_fetch(out, mirrors, 2, NULL, err);
 *     }
 *
 * xd_inspect() reports each URL separately.  xd_copies_find() and
 * xd_manifest_follow() look for the copies of the files of a manifest.
 *
 * To open a manifest, use xd_manifest_fetch() for a URL, xd_manifest_read() for
 * a path, and xd_manifest_parse() for a manifest in memory.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: any thread may call all functions here.  Transfers run on a thread
 *          that ends before the call returns.
 */
#ifndef XDOWNLOAD_INSPECT_H
#define XDOWNLOAD_INSPECT_H

#include <stdbool.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_inspection;

/* What was found at one URL. */
struct xd_inspected {
    size_t struct_size; /* see version.h */
    /* NULL if the URL does not lead to a manifest.  The manifest lives as long
     * as the inspection, or longer if the caller takes a reference. */
    struct xd_manifest *manifest;
    uint64_t size; /* size of the object in bytes, or XD_SIZE_UNKNOWN */
    /* The reason if nothing could be learned about the URL; otherwise the code
     * is XD_OK.  Codes:
     * - NET: the server cannot be reached, or has refused the request; or the
     *   string is not a URL.
     * - AGAIN: the server was too slow.
     * - TIMEOUT: the time of the option max-time passed before the server
     *   answered.
     * - MANIFEST: the URL leads to an invalid manifest; or `are_manifests` was
     *   true and the URL does not lead to a manifest.
     * - NOREPLICA: the options exclude the host of the URL, or its scheme is
     *   not supported.
     * - DIFFERENT: the server sent a web page, although the URL names an
     *   archive, an image or another kind of data.  The option accept-html
     *   turns this check off. */
    struct xd_error error;
};

XD_BEGIN_DECLS

/*
 * Requests `n` URLs at once to see what they lead to.
 *
 * - The first bytes of a response (up to 64 KiB) decide: if they are the
 *   beginning of a manifest, all of it (up to 64 MiB) is read and parsed.
 * - If `are_manifests` is true, every URL must lead to a manifest.  A plain
 *   list of URLs is accepted as a manifest only if `are_manifests` is true or
 *   its server declares it as text/uri-list.
 * - A URL is skipped, with the code AGAIN, if its server does not answer soon
 *   after the first server: within 300 ms, or within twice the time of the
 *   first server if that is longer.  But if a URL leads to a manifest, or
 *   `are_manifests` is true, the call waits for each server as long as the
 *   option silence allows.
 * - If there is only one URL and it leads to a file, the call requests the
 *   first MiB, and `o` keeps this request open.  A download or source of the
 *   URL with the same `o` continues the request if it starts within five
 *   seconds, so the inspection costs no extra request.  Otherwise the request
 *   ends with the next inspection, or when `o` is freed.  If `o` is NULL, the
 *   request is not kept.
 *
 * Ownership: the caller releases *out with xd_inspection_free().  The URLs are
 *            copied.  `o` may be NULL for the defaults.
 * Blocks:    until all URLs have answered, failed or been skipped, or the time
 *            of the option max-time has passed.  xd_cancel_trigger() ends the
 *            call early.
 * Errors:    INVAL (`n` is 0), CANCELED, NOMEM, IO (a file named in the options
 *            cannot be read).  Failures of individual URLs are reported in
 *            struct xd_inspected.
 */
XD_API XD_MUST_CHECK int xd_inspect(struct xd_inspection **out,
                                    const char *const *urls, size_t n,
                                    bool are_manifests,
                                    const struct xd_options *o,
                                    struct xd_error *err);

/* Reports what was found at URL number `i`, from 0.  Returns 0, or INVAL if `i`
 * is out of range. */
XD_API int xd_inspection_get(const struct xd_inspection *in, size_t i,
                             struct xd_inspected *out);

/*
 * Returns the number of manifests for xd_inspection_manifest().  If the URLs
 * lead to manifests, or `are_manifests` was true, this is the number of URLs,
 * including URLs that failed.  If they lead to files, it is 1, because the
 * library assumes that all URLs lead to copies of one file.
 * Errors:
 * - INVAL: one URL leads to a manifest, and another URL leads to a file.
 * - The error of the first URL, if nothing is known about any URL.
 */
XD_API int64_t xd_inspection_n_manifests(const struct xd_inspection *in,
                                         struct xd_error *err);

/*
 * Returns manifest number `i`, counted as in xd_inspection_n_manifests().  If
 * the URLs lead to files, the manifest lists all URLs except the URLs that
 * failed with DIFFERENT, and has the size on which the servers agree.  For a
 * single URL the manifest also has the mirrors and hashes that the server
 * announced (RFC 6249), unless the option no-metalink is set.
 * Ownership: the caller releases *out with xd_manifest_unref().
 * Errors:    the errors of xd_inspection_n_manifests(); the error of the URL;
 *            INVAL if `i` is out of range; NOMEM.
 */
XD_API XD_MUST_CHECK int xd_inspection_manifest(struct xd_manifest **out,
                                                const struct xd_inspection *in,
                                                size_t i, struct xd_error *err);

/* Releases an inspection; NULL does nothing. */
XD_API void xd_inspection_free(struct xd_inspection *in);

/*
 * Checks whether the URLs of a list are copies of one file, and adds copies
 * that other Metalinks list.  Call it before you download from a list of URLs
 * that may lead to different files.
 *
 * The call compares URLs only if the manifest is a list of at least two URLs of
 * one file (xd_manifest_format() returns "urls") and has no hash of the file.
 * The URLs of other manifests are not compared.  Then the call follows
 * Metalinks like xd_manifest_follow().
 *
 * How URLs are compared:
 * - The call requests the size and the first 8 KiB from each URL.  If the sizes
 *   differ, or the last components of the URLs differ, two more samples of 8
 *   KiB are compared.  Files smaller than 1 MiB are compared completely.
 * - Each host has one vote for each different file that it delivers.
 * - If the last component (with the query) is the same in all URLs, or the
 *   option same-file is set, the file with more than half of the votes wins.
 *   URLs that lead to other files are left out, with a warning for each.
 * - If the last components differ, all URLs must lead to the same file.
 * - If a server answers too late (see xd_inspect()), its URL is kept if the
 *   last components are the same and the file has at least 1 MiB.  Otherwise
 *   the URL is left out.
 * - If no server answers within 5 s, the list stays unchanged.  But if the last
 *   components differ, the call fails.
 *
 * Files that were not compared completely are compared again while they are
 * downloaded.
 *
 * Ownership: the caller releases *out with xd_manifest_unref(), and keeps its
 *            reference to `m`.  `o` may be NULL for the defaults.
 * Blocks:    until all URLs have answered, failed or been left out, or the time
 *            of the option max-time has passed.  xd_cancel_trigger() ends the
 *            call early.
 * Errors:
 * - CORRUPT: the URLs lead to different files, and no file has a majority.
 * - INVAL: the URLs lead to different files, and their last components differ.
 * - INVAL: the list has several files, one of which has several URLs and no
 *   hash.
 * - NET, AGAIN and others: no server answers, and the last components of the
 *   URLs differ.
 * - IO: a file named in the options cannot be read.
 * - CANCELED, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_copies_find(struct xd_manifest **out,
                                        struct xd_manifest *m,
                                        const struct xd_options *o,
                                        struct xd_error *err);

/*
 * Fetches the Metalinks to which a manifest refers (the metaurl elements of RFC
 * 5854), all at once, and appends the copies that they list to the copies in
 * the manifest.  If the manifest refers to no Metalinks, or the option
 * no-metalink is set, *out is `m` itself.
 *
 * - Only the Metalinks of files that have a SHA-256 or stronger hash are
 *   fetched.
 * - Only copies are added.  A Metalink that contradicts the manifest is
 *   ignored, with a warning.
 * - At most 32 Metalinks are fetched.  The call waits one second for them, and
 *   longer if a file has no other copies.
 * - A Metalink on a public server cannot add copies in private networks.
 *
 * Ownership: the caller releases *out with xd_manifest_unref(), and keeps its
 *            reference to `m`.  `o` may be NULL for the defaults.
 * Blocks:    until the Metalinks have arrived, but no longer than the time
 *            above, and no longer than the option max-time allows.
 *            xd_cancel_trigger() ends the call early.
 * Errors:    CANCELED, NOMEM, IO (a file named in the options cannot be read).
 */
XD_API XD_MUST_CHECK int xd_manifest_follow(struct xd_manifest **out,
                                            struct xd_manifest *m,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/*
 * Opens a manifest at a URL, or makes a manifest from several URLs of one file.
 * This combines xd_inspect(), xd_inspection_manifest() and xd_copies_find() in
 * one call.
 * Ownership: the caller releases *out with xd_manifest_unref().  `o` may be
 *            NULL for the defaults.
 * Blocks:    like these functions.
 * Errors:    the errors of these functions; INVAL also if several URLs lead to
 *            manifests.
 */
XD_API XD_MUST_CHECK int xd_manifest_fetch(struct xd_manifest **out,
                                           const char *const *urls, size_t n,
                                           const struct xd_options *o,
                                           struct xd_error *err);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_inspected)
#define xd_inspection_get(in, i, out) \
    xd_inspection_get(in, i, xd_inspected_sized(out))
#endif

XD_END_DECLS

#endif
