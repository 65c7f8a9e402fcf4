/* SPDX-License-Identifier: MIT */
/*
 * A manifest says what files are made of and where copies of each part lie.
 *
 *     file       |0 ........................................ size)
 *     extents    |-------------a-------------|
 *                       |------b------|------c----------------|
 *     replicas    a: depot 1, depot 2    b: depot 3    c: depot 3, depot 4
 *
 * Extents may be of any size and may overlap; together they cover the file
 * without a hole.  The replicas of an extent hold the same bytes.
 *
 * Life:     parse -> share -> unref.
 * Threads:  immutable once made; any number of threads may read one.
 *           Strings that a getter hands out live as long as the manifest.
 */
#ifndef XDOWNLOAD_MANIFEST_H
#define XDOWNLOAD_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

struct xd_manifest;

#define XD_SIZE_UNKNOWN UINT64_MAX /* no manifest said it: a depot will */

/* The structs below are filled in by the library and may grow: the caller
 * sets struct_size first, and gets that many bytes. */

struct xd_file {
    size_t struct_size;
    const char *name; /* the last component of `path`, or NULL */
    uint64_t size;    /* bytes, or XD_SIZE_UNKNOWN */
    size_t n_extents; /* sorted by offset, then length; 1 if size is unknown */
    size_t n_hashes;  /* of the whole file, strongest first */
    size_t n_pieces;  /* 0: no piece hashes */
    uint64_t piece_bytes;        /* length of every piece but the last */
    const char *piece_algorithm; /* "sha-256", or NULL */
    unsigned max_connections;    /* to all depots together; 0: not given */
    /* Where the manifest wants it: safe components with '/' between, none
     * of them ".." and nothing before the first; another for each file; or NULL if the
     * manifest gives none that can be used.  A component may be a symbolic link
     * by now: xd_download_new_in() follows none. */
    const char *path;
    /* A detached signature of the whole file, OpenPGP or minisign, as the bytes
     * that came; or NULL.  Nothing has verified it: see the options keyring and
     * public-key. */
    const void *signature;
    size_t signature_bytes;
    size_t n_stripes; /* by ascending offset; 0: no bytes have parity */
};

/* One hash by the name its standard gives it ("sha-256", "md5", "crc32c"),
 * also one that this library cannot compute. */
struct xd_hash {
    size_t struct_size;
    const char *algorithm;
    const char *hex; /* lower case */
    bool is_given;   /* added by xd_checksums_apply(), and so always
                        compared; if not, the manifest's own */
    bool is_offered; /* it is the word of the server that the file comes from,
                         beside its bytes: not a hash from elsewhere */
    const char *signed_by; /* the key by which the text that it stands in was
                              signed, which was verified
                              (xd_checksums_read_signed()); or NULL */
};

struct xd_extent {
    size_t struct_size;
    uint64_t offset, length; /* the bytes of the file that it covers */
    size_t n_replicas;       /* at least 1; best first */
    const char *sha256;      /* hex, of exactly these bytes, or NULL */
};

/* How an object holds its data: as frames, each behind its own checksum. */
struct xd_framing {
    uint64_t data_bytes;   /* of data in each frame but the last */
    uint64_t stored_bytes; /* of each frame but the last */
    uint64_t offset;       /* of the first frame in the object */
    uint64_t length;       /* of all frames together */
};

struct xd_replica {
    size_t struct_size;
    const char *url;          /* of the object at the depot */
    uint64_t offset;          /* of the extent's first byte in that object */
    uint64_t object_size;     /* of that object, or XD_SIZE_UNKNOWN */
    unsigned priority;        /* 1 is best; XD_PRIORITY_NONE if not given */
    const char *location;     /* ISO 3166-1 country code, or NULL */
    unsigned max_connections; /* to its depot, for this file; 0: not given */
    /* NULL: the object holds the data itself.  Else `offset` counts bytes of
     * data, and `object_size` is XD_SIZE_UNKNOWN. */
    const struct xd_framing *framing;
    /* What an exNode says of its allocation: which capabilities it has, until
     * when it lives as that was recorded, and the functions that its bytes went
     * through, such as "checksum".  NULL: nothing. */
    unsigned rights; /* XD_MAY_READ and others */
    const char *expires, *functions;
    uint64_t expires_at; /* `expires` in seconds since 1970, taken for UTC; 0:
                            not known */
};

/* Of a replica. */
#define XD_MAY_READ 1u
#define XD_MAY_WRITE 2u
#define XD_MAY_MANAGE 4u

/* Bytes of the file with parity: any `k` of `n` shards give them back.  Shards 0 to
 * k - 1 are its bytes themselves, shard_bytes each, for which the extents say
 * where they lie; the last ones may have fewer, or none, and are coded as if zeros
 * filled them.  The others are parity (xdownload-manifest(5)). */
struct xd_stripe {
    size_t struct_size;
    uint64_t number; /* as the manifest, and its warnings, call it */
    uint64_t offset, length;
    uint64_t shard_bytes;
    unsigned k, n;     /* 1 <= k < n <= 255 */
    unsigned n_losses; /* shards that it bears the loss of: those of parity of
                          which the manifest names a replica */
};

struct xd_shard {
    size_t struct_size;
    uint64_t offset;    /* of data: of its first byte in the file; else 0 */
    uint64_t length;    /* of data: how many bytes of the file it has; else
                           shard_bytes */
    const char *sha256; /* hex, of exactly these bytes, or NULL */
    size_t n_replicas;  /* of parity; of data 0, for extents have them */
};

#define XD_ALL_FILES SIZE_MAX

#define XD_PRIORITY_NONE 999999u /* RFC 5854, section 4.2.16: the last */

XD_BEGIN_DECLS

/*
 * Parse `len` bytes at `data`: an exNode, a Metalink or a list of URLs,
 * recognised by content.  `origin` is where the text came from (a path, "-" for
 * standard input, or an URL), or NULL: for error sentences and relative URLs,
 * and only what comes from a path may name files of this machine.
 *
 * Ownership: *out is the caller's, to release with xd_manifest_unref(); it is
 *            NULL after an error.  Nothing passed in is kept.
 * Errors:    MANIFEST (with the line, or the hole), NOMEM.
 * Blocks:    no.  Never opens a file or a socket, whatever the text names.
 */
XD_API XD_MUST_CHECK int xd_manifest_parse(struct xd_manifest **out,
                                           const void *data, size_t len,
                                           const char *origin,
                                           struct xd_error *err);

/*
 * The same for a file; "-" is standard input.  At most 64 MiB are read.
 * Errors: also IO.  Blocks: on the disk, or on the writer of the pipe.
 */
XD_API XD_MUST_CHECK int xd_manifest_read(struct xd_manifest **out,
                                          const char *path,
                                          struct xd_error *err);

/* One file of `size` bytes (XD_SIZE_UNKNOWN: the depots will tell), of which
 * every URL is a whole copy; the name is the last path component of the first.
 * Errors: MANIFEST, NOMEM. */
XD_API XD_MUST_CHECK int xd_manifest_from_urls(struct xd_manifest **out,
                                               const char *const *urls,
                                               size_t n, uint64_t size,
                                               struct xd_error *err);

/* Threads: any.  ref() returns its argument; unref(NULL) does nothing. */
XD_API struct xd_manifest *xd_manifest_ref(struct xd_manifest *m);
XD_API void xd_manifest_unref(struct xd_manifest *m);

/* "exnode", "metalink4", "metalink3" or "urls". */
XD_API const char *xd_manifest_format(const struct xd_manifest *m);

/* Whether two files with the same hash can be made, as is known of "md5" and
 * "sha-1": such a one shows accidents, but no forgery.  Threads: any. */
XD_API bool xd_hash_is_weak(const char *algorithm);

/* What was dropped and why, one sentence each; NULL past the last one. */
XD_API const char *xd_manifest_warning(const struct xd_manifest *m, size_t i);

/* How many files; at least 1. */
XD_API size_t xd_manifest_n_files(const struct xd_manifest *m);

/* How many more it names, of which no source can be used: a warning names each,
 * and they are not among its files. */
XD_API size_t xd_manifest_n_left_out(const struct xd_manifest *m);

/* Getters: 0, or INVAL when an index is past the last.  Threads: any. */
XD_API int xd_manifest_file(const struct xd_manifest *m, size_t file,
                            struct xd_file *out);
XD_API int xd_manifest_hash(const struct xd_manifest *m, size_t file,
                            size_t hash, struct xd_hash *out);
XD_API int xd_manifest_extent(const struct xd_manifest *m, size_t file,
                              size_t extent, struct xd_extent *out);
XD_API int xd_manifest_replica(const struct xd_manifest *m, size_t file,
                               size_t extent, size_t replica,
                               struct xd_replica *out);

/* Likewise; `shard` is its number, 0 to n - 1.  Of a replica of parity the offset is
 * that of the shard in its object. */
XD_API int xd_manifest_stripe(const struct xd_manifest *m, size_t file,
                              size_t stripe, struct xd_stripe *out);
XD_API int xd_manifest_shard(const struct xd_manifest *m, size_t file,
                             size_t stripe, size_t shard, struct xd_shard *out);
XD_API int xd_manifest_shard_replica(const struct xd_manifest *m, size_t file,
                                     size_t stripe, size_t shard,
                                     size_t replica, struct xd_replica *out);

/* Whether the file can be one of many for xd_download_new_set(): it is not
 * empty, its replicas hold all of it, and its bytes are to be
 * held against one hash each: not against two that were given
 * (xd_checksums_apply()), or one and a stronger one of the manifest.  Without any
 * it has one replica, for copies would have to be compared; only then its size may
 * be unknown. */
XD_API bool xd_manifest_can_join(const struct xd_manifest *m, size_t file);

/*
 * A manifest of `n` files: number i is file `files[i]` of `manifests[i]`, at the
 * path `paths[i]`, which the caller chooses and answers for, or at its own, where
 * that is NULL or `paths` is.  So files of several manifests can be one set for
 * xd_download_new_set().
 * Ownership: *out is the caller's, to release with xd_manifest_unref(); it holds
 *            the manifests.
 * Errors:    INVAL (no file, or one that its manifest does not have), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_gather(
    struct xd_manifest **out, struct xd_manifest *const *manifests,
    const size_t *files, const char *const *paths, size_t n,
    struct xd_error *err);

/*
 * The text of a manifest that says the same, in UTF-8: "metalink" (version 4)
 * or "exnode".  `file` is the number of one file, or XD_ALL_FILES, which an
 * exNode has room for only if there is one.
 *
 * Ownership: *out, which ends with a NUL, is the caller's, to release with
 *            xd_manifest_text_free().  *out_len (may be NULL) is its length
 *            without the NUL.
 * Errors:    INVAL (no such file or format; or what the format cannot say: in
 *            a Metalink copies of a part of the file, in an exNode an unknown
 *            size), NOMEM.  Stripes are left out of a Metalink: its copies are
 *            complete without.
 */
XD_API XD_MUST_CHECK int xd_manifest_write(char **out,
                                           const struct xd_manifest *m,
                                           size_t file, const char *format,
                                           size_t *out_len,
                                           struct xd_error *err);

/*
 * The same with the secrets that an exNode holds beside what it takes to read:
 * its write and manage capabilities, which xd_manifest_write() leaves out.
 * has_secrets() says whether there are any; XD_ALL_FILES for all files.
 */
XD_API XD_MUST_CHECK int xd_manifest_write_secrets(
    char **out, const struct xd_manifest *m, size_t file, const char *format,
    size_t *out_len, struct xd_error *err);
XD_API bool xd_manifest_has_secrets(const struct xd_manifest *m, size_t file);

XD_API void xd_manifest_text_free(char *text); /* NULL does nothing */

/* The hash of one piece in lower-case hex, or NULL past the last. */
XD_API const char *xd_manifest_piece(const struct xd_manifest *m, size_t file,
                                     size_t piece);

XD_END_DECLS

#endif
