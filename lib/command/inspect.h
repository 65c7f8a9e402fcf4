/* SPDX-License-Identifier: MIT */
/*
 * Find out what each of several URLs leads to, a manifest or a file.  Programs
 * use xd_manifest_open(), which does all of this in one call.
 *
 * After xd_inspect(), keep the options until the download has been started with
 * them: they may hold a request that the download continues.
 *
 * Ownership: strings that functions return live as long as the inspection.
 * Threads:   any thread may call all functions here, and any number of threads
 *            may use one inspection at the same time.  Transfers run on a
 *            thread that ends before the call returns.
 */
#ifndef XD_COMMAND_INSPECT_H
#define XD_COMMAND_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>
#include <xdownload/options.h>

struct xd_inspection;
struct xd_manifest;

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
XD_MUST_CHECK int xd_inspect(struct xd_inspection **out,
                             const char *const *urls, size_t n,
                             bool are_manifests, const struct xd_options *o,
                             struct xd_error *err);

/* Reports what was found at URL number `i`, from 0.  Returns 0, or INVAL if `i`
 * is out of range. */
int xd_inspection_get(const struct xd_inspection *in, size_t i,
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
int64_t xd_inspection_n_manifests(const struct xd_inspection *in,
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
XD_MUST_CHECK int xd_inspection_manifest(struct xd_manifest **out,
                                         const struct xd_inspection *in,
                                         size_t i, struct xd_error *err);

/* Releases an inspection; NULL does nothing. */
void xd_inspection_free(struct xd_inspection *in);

#endif
