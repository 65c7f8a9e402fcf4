/* SPDX-License-Identifier: MIT */
/*
 * Builds a manifest from the items that a reader finds in the text.  All checks
 * are here, so they are the same for every format.
 *
 *    reader --file, size, hash, piece, source--> builder --> struct xd_manifest
 *
 * Errors that could lead to wrong bytes or wrong paths make the reader fail.
 * Errors that only cost a source or a checksum are warnings, and the item is
 * dropped.  A failed allocation is remembered and reported by the next call
 * that can fail; until then, functions that return a pointer may return NULL.
 *
 * Threads: not thread-safe.
 */
#ifndef XD_MANIFEST_BUILDER_H
#define XD_MANIFEST_BUILDER_H

#include <stdbool.h>
#include <stdint.h>
#include <xdownload/manifest.h>

#include "base/reach.h"
#include "base/span.h"
#include "base/url.h"
#include "manifest/model.h"

/* The largest size of a file: the limit of off_t. */
#define XD_FILE_MAX ((uint64_t)INT64_MAX)

#define XD_WARNINGS_MAX 100
#define XD_HASHES_MAX 32
#define XD_PIECE_LISTS_MAX 8
#define XD_METAURLS_MAX 4 /* largest number of metaurl elements of a file */

/* A place from which bytes of the file can be fetched. */
struct xd_source {
    /* position in the file; length XD_SIZE_UNKNOWN: the whole file */
    uint64_t offset, length;
    struct xd_span url; /* URL of the object, may be relative */
    uint64_t object_offset, object_size;
    unsigned priority;
    const char *location; /* country, or NULL; in the manifest's pool */
    /* SHA-256 of these bytes, or NULL; in the manifest's pool */
    const char *sha256;
    unsigned max_connections;
    /* each of these may be NULL; in the manifest's pool */
    const struct xd_framing *framing;
    const char *expires, *functions;
    struct xd_exnode_part *part;
    unsigned rights;
    uint64_t expires_at;
    enum xd_reach reach; /* networks in which its server may be */
};

/* A source that passed the checks. */
struct xd_mapping {
    uint64_t offset, length;
    uint64_t url_hash; /* hash of the URL, for a quick comparison */
    size_t order;      /* order in the manifest */
    struct xd_replica row;
    struct xd_url url; /* row.url, parsed */
    const char *sha256;
    struct xd_exnode_part *part; /* original text, or NULL; in the pool */
    enum xd_reach reach;
};

/* Bytes of the file that a dropped source would have provided. */
struct xd_loss {
    uint64_t offset, length;
    const char *reason; /* in the manifest's pool */
};

struct xd_draft_stripe {
    struct xd_model_stripe row;
    size_t order; /* order in the manifest */
};

struct xd_piece_list {
    const struct xd_algorithm *algorithm;
    uint64_t piece_bytes;
    /* strings of equal length, each with its NUL, one after the other */
    char *hex;
    size_t n, hex_bytes, capacity;
    bool bad;
};

/* The file that is being read. */
struct xd_draft {
    char *path; /* path, made safe (manifest/names.h), or NULL */
    uint64_t size;
    bool size_is_contradicted;
    unsigned max_connections;
    /* signature of the whole file; in the pool */
    struct xd_span signature;
    /* parts to write back unchanged; linked list in the pool */
    struct xd_exnode_part *parts, *last_part;
    /* linked list in the pool, in reverse order; or NULL */
    const struct xd_metaurl *metaurls;
    size_t n_metaurls, n_torrents;
    bool is_exnode;
    const char *upload; /* as in struct xd_model_rare */
    /* the hashes come from the response headers of a server */
    bool is_offered;
    /* hex is NULL if the manifest has two different values */
    struct xd_model_hash hashes[XD_HASHES_MAX];
    size_t n_hashes;
    struct xd_piece_list lists[XD_PIECE_LISTS_MAX];
    size_t n_lists;
    struct xd_mapping *mappings;
    size_t n_mappings, mappings_capacity;
    struct xd_loss *losses;
    size_t n_losses, losses_capacity;
    struct xd_draft_stripe *stripes;
    size_t n_stripes, stripes_capacity;
};

struct xd_builder {
    /* Set by xd_builder_init(). */
    const char *origin; /* or NULL */
    char *origin_said;  /* origin for messages, without secrets */
    char *base;         /* base of relative URLs, or NULL */
    /* the origin is a local file, so it may name other local files */
    bool origin_is_path;
    struct xd_manifest *manifest;
    struct xd_error *err;
    /* Set by the reader: the position, for messages. */
    const char *unit;        /* unit of the position, such as "line" */
    unsigned long number;    /* position in that unit; 0: no particular place */
    const char *server_name; /* file name from the server's response, or NULL */
    /* Private. */
    bool out_of_memory;
    /* number of warnings, including those dropped for space */
    size_t n_warnings;
    /* number of the first warning about a dropped source, from 1; 0: none */
    size_t first_dropped_source;
    struct xd_draft draft;
};

/* Initializes a builder.  `origin` is the URL or path of the manifest, "-", or
 * NULL.  `origin` and `err` (or NULL) must outlive the builder.  After success,
 * call fini() in the end, also after finish().  Errors: NOMEM. */
int xd_builder_init(struct xd_builder *b, const char *origin,
                    struct xd_error *err);
void xd_builder_fini(struct xd_builder *b);

/* Fails with MANIFEST and a message that starts with the origin and the line;
 * or with NOMEM if an earlier allocation failed. */
int xd_builder_fail(struct xd_builder *b, const char *format, ...)
    XD_PRINTF(2, 3);

/* Adds a warning.  Its text begins with the position, such as the line number,
 * and is cut if it is very long.  At most XD_WARNINGS_MAX warnings are kept; if
 * there are more, the last one says how many are missing. */
void xd_builder_warn(struct xd_builder *b, const char *format, ...)
    XD_PRINTF(2, 3);

/* Copies `s` to the manifest's pool.  Returns NULL if out of memory. */
const char *xd_builder_copy(struct xd_builder *b, struct xd_span s);

/* Set name and size of the current file.  The last name counts.  It is made
 * safe, or ignored with a warning if that is impossible.  A size above
 * XD_FILE_MAX is dropped; if two sizes differ, both are dropped. */
void xd_builder_name(struct xd_builder *b, struct xd_span name);
void xd_builder_size(struct xd_builder *b, uint64_t size);

/* Uses `server_name` as the name of the current file.  Returns false if there
 * is none, or if it is not safe as it is (with a warning). */
bool xd_builder_server_name(struct xd_builder *b);

/* Adds a hash of the whole file, as written in the manifest. */
void xd_builder_hash(struct xd_builder *b, struct xd_span type,
                     struct xd_span hex);

/* Sets the detached signature of the whole file; empty and later ones are
 * ignored. */
void xd_builder_signature(struct xd_builder *b, struct xd_span text);

/* Begin a list of piece hashes, and add one piece to it.  Call piece() and
 * piece_number() only after pieces() for the same file.  A list with an unknown
 * algorithm, without a length or with an invalid hash is not used.  If there
 * are several lists, xd_builder_end_file() keeps the one with the strongest
 * hash. */
void xd_builder_pieces(struct xd_builder *b, struct xd_span type,
                       uint64_t piece_bytes);
void xd_builder_piece(struct xd_builder *b, struct xd_span hex);

/* Checks the number that the manifest gives to the next piece, counted from
 * 0. */
void xd_builder_piece_number(struct xd_builder *b, struct xd_span number);

/* Parses a priority from `least` to `most`.  Returns 0 with a warning if it is
 * not valid.  `name` is the manifest's term for it. */
unsigned xd_builder_rank(struct xd_builder *b, const char *name,
                         struct xd_span text, unsigned least, unsigned most);

/* Parses a number of connections, at least 1.  Returns 0 with a warning if it
 * is not valid. */
unsigned xd_builder_connections(struct xd_builder *b, struct xd_span text);

/* Limits the connections of the current file to all servers together. */
void xd_builder_max_connections(struct xd_builder *b, unsigned n);

/* Returns a SHA-256 in lower case; NULL with a warning if it is not valid. */
const char *xd_builder_sha256(struct xd_builder *b, struct xd_span hex);

/* Returns a country code in lower case; NULL if it is not valid. */
const char *xd_builder_location(struct xd_builder *b, struct xd_span code);

/* Keeps a part of an exNode, to be written back unchanged. */
void xd_builder_keep_part(struct xd_draft *d, struct xd_exnode_part *part);

/* Returns the URL in the pool.  A relative one is made absolute if the base is
 * known.  NULL if the text is empty, too long or not a URL, or if memory has
 * run out. */
const char *xd_builder_resolve(struct xd_builder *b, struct xd_span url);

/* Resolves and parses a URL from which bytes may be fetched.  Returns NULL if
 * the URL may be used, or the reason why not ("it has ...").  Sets *out, which
 * points into the pool, in either case. */
const char *xd_builder_url(struct xd_builder *b, struct xd_span text,
                           struct xd_url *out);

/* Adds a source.  Its offset + length must be at most XD_FILE_MAX, or it must
 * cover the whole file.  If its URL may not be used, calls xd_builder_loss() or
 * xd_builder_drop_source() instead. */
void xd_builder_source(struct xd_builder *b, const struct xd_source *s);

/* Records that a source of the whole file cannot be used, and why ("it is
 * ..."). */
void xd_builder_drop_source(struct xd_builder *b, const char *why);

/* Records that a mapping of these bytes cannot be used, and why ("it is ...").
 * Gives a warning; if the bytes have no other source, the error message says so
 * too. */
void xd_builder_loss(struct xd_builder *b, uint64_t offset, uint64_t length,
                     const char *format, ...) XD_PRINTF(4, 5);

/* Adds a well-formed stripe.  Everything that it points to must live as long as
 * the manifest. xd_builder_end_file() checks its position. */
void xd_builder_stripe(struct xd_builder *b, const struct xd_model_stripe *s);

/* Adds another manifest of the current file.  `name` is the name of the file in
 * that manifest (empty: the same as here).  `reach` limits where its server may
 * be.  Only the first XD_METAURLS_MAX are kept.  Torrents are only counted. */
void xd_builder_metaurl(struct xd_builder *b, struct xd_span url,
                        struct xd_span name, enum xd_reach reach);
void xd_builder_torrent(struct xd_builder *b);

/*
 * Checks the current file, keeps it, and begins the next one.  A file without
 * any source is left out with a warning, and 0 is returned.  Exceptions, which
 * are kept: an empty file, a file that is being uploaded, and a file with a
 * metaurl and a strong hash.
 * Errors: MANIFEST (bytes without a source), NOMEM.
 */
int xd_builder_end_file(struct xd_builder *b);

/* Returns the finished manifest, which the caller then owns.  `format` must
 * outlive it.  Errors: MANIFEST (no file is left, or two files have the same
 * path), NOMEM; *out is unchanged then. */
int xd_builder_finish(struct xd_builder *b, const char *format,
                      struct xd_manifest **out);

#endif
