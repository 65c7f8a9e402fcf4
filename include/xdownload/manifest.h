/* SPDX-License-Identifier: MIT */
/*
 * Manifests list files, and say which servers hold which bytes of each file.
 *
 * A manifest is parsed from an exNode, a Metalink (RFC 5854, or version 3) or a
 * list of URLs, or it is made from URLs.  A download takes one of its files.
 *
 *     #include <stdio.h>
 *     #include <xdownload/xdownload.h>
 *
 *     int print_files(const char *path)
 *     {
 *         struct xd_file f;
 *         struct xd_manifest *m;
 *         struct xd_error err;
 *         int rc = xd_manifest_open(&m, &path, 1, NULL, &err);
 *
 *         if (rc < 0) {
 *             fprintf(stderr, "%s\n", err.msg);
 *             return rc;
 *         }
 *         for (size_t i = 0; xd_manifest_file(m, i, &f) == 0; i++)
 *             printf("%s\n", f.path ? f.path : "(no name)");
 *         xd_manifest_unref(m);
 *         return 0;
 *     }
 *
 * xd_manifest_open() opens whatever a URL or a path leads to, a manifest or a
 * file.  It also takes the URLs of several copies of one file:
 *
 *     #include <xdownload/xdownload.h>
 *
 *     int open_mirrors(struct xd_manifest **out, struct xd_error *err)
 *     {
 *         const char *mirrors[] = {"https://a.example/disk.iso",
 *                                  "https://b.example/disk.iso"};
 *
 *         return xd_manifest_open(out, mirrors, 2, NULL, err);
 *     }
 *
 * Two other functions never wait: xd_manifest_parse() parses a manifest in
 * memory, and xd_manifest_from_urls() makes a manifest of URLs that it does not
 * request.
 *
 * A file consists of extents, which may overlap.  Together they cover the file
 * without a gap.  All replicas of an extent hold the same bytes.
 *
 *     file       |0 ........................................ size)
 *     extents    |-------------a-------------|
 *                       |------b------|------c----------------|
 *     replicas    a: depot 1, depot 2    b: depot 3    c: depot 3, depot 4
 *
 * A depot is a server that holds copies; it is identified by its scheme, host
 * and port.  An object is the data that a depot stores under one URL.  A
 * replica is the part of an object that holds the bytes of an extent.
 *
 * A manifest may have hashes of a whole file, and hashes of its pieces: parts
 * of equal length, except the last one.  With piece hashes, a download can find
 * and replace individual wrong pieces.
 *
 * Manifests are immutable.  Functions that add something return a new manifest.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Ownership: strings that functions return live as long as the manifest.
 * Threads:   any thread may call all functions here, and any number of threads
 *            may use one manifest at the same time (but not one set of options:
 *            options.h).  Transfers run on a thread that ends before the call
 *            returns.
 */
#ifndef XDOWNLOAD_MANIFEST_H
#define XDOWNLOAD_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>
#include <xdownload/options.h>

struct xd_manifest;

/* Size of a file if the size is not known before a depot states it. */
#define XD_SIZE_UNKNOWN UINT64_MAX

/* The library fills in the structs below.  Later releases may add fields at
 * their end.  Macros with the same names as the functions set struct_size
 * before each call (see version.h), and the library never writes more than
 * struct_size bytes. */

/* Facts about a whole manifest. */
struct xd_manifest_info {
    size_t struct_size;
    const char *format; /* "exnode", "metalink4", "metalink3" or "urls" */
    size_t n_files;     /* number of files, at least 1 */
    size_t n_warnings;  /* number of warnings: see xd_manifest_warning() */
    /* number of files that were left out because none of their sources can be
     * used; there is a warning for each */
    size_t n_left_out;
};

/* One file of a manifest. */
struct xd_file {
    size_t struct_size;
    const char *name; /* the last component of `path`, or NULL */
    uint64_t size;    /* size in bytes, or XD_SIZE_UNKNOWN */
    /* Number of extents, which are sorted by offset, then by length.  It is 1
     * if the size is unknown.  It is 0 if the file is empty, or if copies of it
     * are listed only in other Metalinks: see xd_manifest_open(). */
    size_t n_extents;
    size_t n_hashes;      /* hashes of the whole file; the strongest is first */
    size_t n_pieces;      /* 0: there are no piece hashes */
    uint64_t piece_bytes; /* length of every piece but the last */
    const char *piece_algorithm; /* "sha-256", or NULL */
    /* largest number of connections to all depots together; 0: no limit
     * given */
    unsigned max_connections;
    /* Where the manifest wants the file to be stored, or NULL if it gives no
     * usable path.  The path is relative and has no ".." components.  No two
     * files of a manifest have the same path.  A directory in it may be a
     * symbolic link on this machine; xd_download_new() refuses such a
     * path. */
    const char *path;
    /* Detached OpenPGP or minisign signature of the whole file, in its original
     * form, or NULL.  It has not been verified: see the options keyring and
     * public-key. */
    const void *signature;
    size_t signature_bytes;
    size_t n_stripes; /* stripes of parity: see xdpublish/parity.h; or 0 */
    /* True if xd_download_new_set() and xd_download_add_file() accept the file.
     * The file must not be empty, each of its replicas must hold all of it, and
     * one of these conditions must be true:
     * - Its size is known, and it has either one hash or one list of piece
     *   hashes.  Two hashes are too many, for example after
     *   xd_checksums_apply() has added them.
     * - It has no hash and only one replica.  Its size may then be unknown. */
    bool can_join;
};

/* One hash of a whole file. */
struct xd_hash {
    size_t struct_size;
    /* Standard name of the algorithm, such as "sha-256", "md5" or "crc32c".
     * The library may be unable to compute the hash.  "md5" and "sha-1" have
     * known collisions: they detect damage, but not forgery. */
    const char *algorithm;
    const char *hex; /* the hash in lower-case hexadecimal */
    /* True if xd_checksums_apply() added the hash.  Such a hash is always
     * compared.  False if the manifest already had the hash. */
    bool is_given;
    /* True if the server of the file itself announced the hash.  Such a hash
     * detects damage, but not a malicious server. */
    bool is_offered;
    /* Key that signed the checksum file with this hash, if
     * xd_checksums_read_signed() verified the signature; otherwise NULL */
    const char *signed_by;
};

/* A range of bytes of a file, and how many replicas hold it. */
struct xd_extent {
    size_t struct_size;
    /* position and length of the range in the file, in bytes; length may be
     * XD_SIZE_UNKNOWN */
    uint64_t offset, length;
    size_t n_replicas;  /* number of replicas, at least 1; the best is first */
    const char *sha256; /* SHA-256 of exactly these bytes in hex, or NULL */
};

/* Layout of an object that stores its data in frames, each with its own
 * checksum. */
struct xd_framing {
    uint64_t data_bytes;   /* bytes of data in each frame but the last */
    uint64_t stored_bytes; /* length of each frame but the last, in bytes */
    uint64_t offset; /* position of the first frame in the object, in bytes */
    uint64_t length; /* length of all frames together, in bytes */
};

/* One copy of an extent, or of a parity shard. */
struct xd_replica {
    size_t struct_size;
    /* URL of the object.  It may contain a password or a signature: do not
     * show it. */
    const char *url;
    uint64_t offset; /* position of the extent's first byte in the object */
    uint64_t object_size; /* size of the object in bytes, or XD_SIZE_UNKNOWN */
    unsigned priority;    /* 1 is best; XD_PRIORITY_NONE if not given */
    const char *location; /* ISO 3166-1 country code, or NULL */
    /* largest number of connections to its depot for this file; 0: no limit
     * given */
    unsigned max_connections;
    /* NULL: the object holds the data itself.  Otherwise `offset` counts bytes
     * of data, and object_size is XD_SIZE_UNKNOWN. */
    const struct xd_framing *framing;
    /* For an exNode: `rights` says which capabilities for the allocation the
     * exNode has (a sum of XD_MAY_READ, XD_MAY_WRITE and XD_MAY_MANAGE).
     * `expires` is the expiry time of the allocation as text, and `functions`
     * names the functions applied to the bytes, such as "checksum"; both are
     * NULL if not given.  For other manifests the fields are XD_MAY_READ, NULL
     * and NULL. */
    unsigned rights;
    const char *expires, *functions;
    /* `expires` in seconds since 1970 (UTC); 0: not known */
    uint64_t expires_at;
};

/* Bits of xd_replica.rights. */
#define XD_MAY_READ 1u
#define XD_MAY_WRITE 2u
#define XD_MAY_MANAGE 4u

/* Stands for all files of a manifest, in place of a file number. */
#define XD_ALL_FILES SIZE_MAX

/* The lowest priority of a replica: RFC 5854, section 4.2.16. */
#define XD_PRIORITY_NONE 999999u

XD_BEGIN_DECLS

/*
 * Opens what `n` sources lead to:
 * - One source may be the path of a manifest on this machine; "-" is standard
 *   input.  At most 64 MiB are read.
 * - One URL may lead to a manifest or to a file.  The beginning of the response
 *   decides.  For a file, the manifest also lists the mirrors and hashes that
 *   its server announced (RFC 6249), unless the option no-metalink is set.
 * - Several URLs must lead to copies of one file.
 * A text with SCHEME:// at its beginning is a URL, every other text is a path.
 * A program that passes on text from others should check that it is a URL.
 *
 * If the result is a list of at least two URLs of one file, without a hash of
 * the file, the call compares the copies, so that a wrong URL does no harm:
 * - It requests the size and the first 8 KiB from each URL.  If the sizes or
 *   the last components of the URLs differ, two more samples of 8 KiB are
 *   compared.  Files smaller than 1 MiB are compared completely.
 * - Each host has one vote for each different file that it delivers.
 * - If the last component (with the query) is the same in all URLs, or the
 *   option same-file is set, the file with more than half of the votes wins.
 *   URLs that lead to other files are left out, with a warning for each.
 * - If the last components differ, all URLs must lead to the same file.
 * - A server may answer much later than the first one: after 300 ms, or after
 *   twice the time of the first one if that is longer.  Its URL is kept if the
 *   last components are the same and the file has at least 1 MiB.  Otherwise
 *   the URL is left out.
 * - If no server answers within 5 s, the list stays unchanged.  But if the last
 *   components differ, the call fails.
 * Files that were not compared completely are compared again while they are
 * downloaded.
 *
 * If the manifest refers to Metalinks (the metaurl elements of RFC 5854), the
 * call also fetches these and appends the copies that they list, unless the
 * option no-metalink is set:
 * - Only the Metalinks of files that have a SHA-256 or stronger hash are
 *   fetched.
 * - Only copies are added.  A Metalink that contradicts the manifest is
 *   ignored, with a warning.
 * - At most 32 Metalinks are fetched.  The call waits one second for them, and
 *   longer if a file has no other copies.
 * - A Metalink on a public server cannot add copies in private networks.
 *
 * If there is only one URL and it leads to a file, `o` keeps the request open.
 * A download or source of this file with the same `o` continues the request if
 * it starts within five seconds, so that opening costs no extra request.
 * Otherwise the request ends with the next call, or when `o` is freed.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  The sources
 *            are copied.  `o` may be NULL for the defaults.
 * Blocks:    on disk I/O or on the writer of a pipe, and until all servers have
 *            answered, failed or been left out, or the time of the option
 *            max-time has passed.  xd_cancel_trigger() ends the call early.
 *            There is no version that does not block: a program with an event
 *            loop calls it on another thread.
 * Errors:
 * - MANIFEST: the manifest is not valid (see xd_manifest_parse()).
 * - INVAL: `n` is 0, a source is NULL or empty, or options contradict each
 *   other.
 * - INVAL: one of several URLs leads to a manifest.
 * - INVAL: the URLs lead to different files, and their last components differ.
 * - INVAL: the manifest is a list of several files, one of which has several
 *   URLs and no hash.
 * - CORRUPT: the URLs lead to different files, and no file has a majority.
 * - DIFFERENT: the server sent a web page, although the URL names an archive,
 *   an image or another kind of data.  The option accept-html turns this check
 *   off.
 * - NET: the server cannot be reached, or has refused the request.
 * - NOREPLICA: the options exclude the host of the URL, or its scheme is not
 *   supported.
 * - IO: the manifest, or a file named in the options, cannot be read.
 * - AGAIN: the servers are too slow.
 * - TIMEOUT, CANCELED, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_open(struct xd_manifest **out,
                                          const char *const *sources, size_t n,
                                          const struct xd_options *o,
                                          struct xd_error *err);

/*
 * Checks whether the URLs of a list are copies of one file, and adds copies
 * that other Metalinks list.  Call it before you download from a list of URLs
 * that may lead to different files, or from a manifest that was parsed from
 * memory.  xd_manifest_open() does the same.
 *
 * The call compares URLs only if the manifest is a list of at least two URLs of
 * one file (its format is "urls", see xd_manifest_info()) and has no hash of
 * the file.
 * The URLs of other manifests are not compared.  Then the call
 * fetches the Metalinks to which the manifest refers (metaurl elements of RFC
 * 5854), and appends the copies that they list.
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
 * - If a server answers too late, its URL is kept if the
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
 * Makes one manifest from files of several manifests, so that
 * xd_download_new_set() can download them together.  File `i` of the result is
 * file `files[i]` of `manifests[i]`.
 *
 * The path of file `i` is `paths[i]`.  It is not checked, so the caller must
 * make sure that it is safe and unique.  If `paths` or `paths[i]` is NULL, the
 * file keeps its path.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  The new
 *            manifest holds references to the manifests; the paths are copied.
 * Errors:    INVAL (`n` is 0, or a file does not exist), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_gather(
    struct xd_manifest **out, struct xd_manifest *const *manifests,
    const size_t *files, const char *const *paths, size_t n,
    struct xd_error *err);

/*
 * Parses a manifest from memory: an exNode, a Metalink or a list of URLs.  The
 * library recognises the format by the content.
 *
 * `origin` is the place from which the manifest was read: a path, "-" for
 * standard input, a URL, or NULL.  It appears in error messages, and relative
 * URLs are resolved against it.  Only a manifest from a path may refer to files
 * on this machine.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  The manifest
 *            keeps no pointers to `data` and `origin`.
 * Blocks:    no.  It opens no file and no connection.
 * Errors:
 * - MANIFEST: the data is not a manifest, is not valid, is longer than 64 MiB,
 *   or has a zero byte.  The message names the line, or the byte range that no
 *   replica holds.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_parse(struct xd_manifest **out,
                                           const void *data, size_t len,
                                           const char *origin,
                                           struct xd_error *err);

/*
 * Makes a manifest of one file from `n` URLs.  Each URL must lead to a copy of
 * the whole file.  `size` may be XD_SIZE_UNKNOWN.  The name of the file is the
 * last path component of the first URL.  The URLs are not requested;
 * xd_manifest_open() compares them.
 * Ownership: the caller releases *out with xd_manifest_unref().  The URLs are
 *            copied.
 * Blocks:    no.
 * Errors:    MANIFEST (no usable URL), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_from_urls(struct xd_manifest **out,
                                               const char *const *urls,
                                               size_t n, uint64_t size,
                                               struct xd_error *err);

/*
 * xd_manifest_ref() takes another reference to a manifest and returns its
 * argument.  xd_manifest_unref() releases a reference, and frees the manifest
 * with the last one; NULL does nothing.
 * Threads: any.
 */
XD_API struct xd_manifest *xd_manifest_ref(struct xd_manifest *m);
XD_API void xd_manifest_unref(struct xd_manifest *m);

/* Reports facts about a manifest.  Threads: any. */
XD_API void xd_manifest_info(const struct xd_manifest *m,
                             struct xd_manifest_info *out);

/* Returns warning number `i`: one sentence that says which part of the manifest
 * was ignored, and why.  Returns NULL if `i` is out of range. */
XD_API const char *xd_manifest_warning(const struct xd_manifest *m, size_t i);

/*
 * Report one file, hash, extent or replica.  Numbers start at 0.
 * Returns: 0, or INVAL if a number is out of range.
 * Threads: any.
 */
XD_API int xd_manifest_file(const struct xd_manifest *m, size_t file,
                            struct xd_file *out);
XD_API int xd_manifest_hash(const struct xd_manifest *m, size_t file,
                            size_t hash, struct xd_hash *out);
XD_API int xd_manifest_extent(const struct xd_manifest *m, size_t file,
                              size_t extent, struct xd_extent *out);
XD_API int xd_manifest_replica(const struct xd_manifest *m, size_t file,
                               size_t extent, size_t replica,
                               struct xd_replica *out);

/*
 * Writes a manifest as text in UTF-8.  `format` is one of these:
 * - "metalink": a Metalink of version 4.  It cannot describe parity, which is
 *   left out.
 * - "exnode": an exNode without the secrets of IBP depots, which are write and
 *   manage capabilities.
 * - "private-exnode": an exNode with these secrets.  Keep it private.
 *
 * `file` is the number of one file, or XD_ALL_FILES; an exNode can describe
 * only one file.  URLs are written as they are, with their passwords and
 * signatures.
 *
 * Ownership: the caller releases *out, which ends with a NUL, with
 *            xd_manifest_text_free().  *out_len (may be NULL) is its length
 *            without the NUL.
 * Errors:
 * - INVAL: there is no such file or format.
 * - INVAL: the format cannot describe the file.  A Metalink cannot describe
 *   copies of a part of a file, and an exNode cannot describe a file of unknown
 *   size.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_write(char **out,
                                           const struct xd_manifest *m,
                                           size_t file, const char *format,
                                           size_t *out_len,
                                           struct xd_error *err);

/* Releases a string returned by xd_manifest_write(); NULL does nothing. */
XD_API void xd_manifest_text_free(char *text);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_manifest_info)
XD_FILLS(xd_file)
XD_FILLS(xd_hash)
XD_FILLS(xd_extent)
XD_FILLS(xd_replica)
#define xd_manifest_info(m, out) \
    xd_manifest_info(m, xd_manifest_info_sized(out))
#define xd_manifest_file(m, file, out) \
    xd_manifest_file(m, file, xd_file_sized(out))
#define xd_manifest_hash(m, file, hash, out) \
    xd_manifest_hash(m, file, hash, xd_hash_sized(out))
#define xd_manifest_extent(m, file, extent, out) \
    xd_manifest_extent(m, file, extent, xd_extent_sized(out))
#define xd_manifest_replica(m, file, extent, replica, out) \
    xd_manifest_replica(m, file, extent, replica, xd_replica_sized(out))
#endif

XD_END_DECLS

#endif
