/* SPDX-License-Identifier: MIT */
/*
 * What every reader does with what it reads: says where it is, hands it over
 * piece by piece, and has it checked in one place.
 *
 *     reader --file, size, hash, piece, source--> builder --> struct xd_manifest
 *
 * Strict in what decides bytes or places (the reader fails), lenient in what
 * only costs a source or a check (dropped, with a warning).  Memory that runs
 * out is remembered, and said by the next call that can fail.
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

/* No file is longer: an off_t holds no more. */
#define XD_FILE_MAX ((uint64_t)INT64_MAX)

#define XD_WARNINGS_MAX 100
#define XD_HASHES_MAX 32
#define XD_PIECE_LISTS_MAX 8
#define XD_METAURLS_MAX 4 /* of a file; no writer of Metalinks gives two */

/* A place where bytes of the file lie. */
struct xd_source {
    uint64_t offset, length; /* of the file; XD_SIZE_UNKNOWN: all of it */
    struct xd_span url;      /* perhaps relative */
    uint64_t object_offset, object_size;
    unsigned priority;
    const char *location; /* or NULL; in the manifest's pool */
    const char *sha256;   /* of these bytes, or NULL; in the manifest's pool */
    unsigned max_connections;
    const struct xd_framing *framing; /* or NULL; in the manifest's pool, as */
    const char *expires, *functions;  /* these are */
    struct xd_exnode_part *part;      /* or NULL; in the manifest's pool */
    unsigned rights;
    uint64_t expires_at;
    enum xd_reach reach; /* how near its server may be */
};

/* A source that passed the checks. */
struct xd_mapping {
    uint64_t offset, length;
    uint64_t url_hash; /* makes looking for equal URLs quick */
    size_t order;      /* in the manifest */
    struct xd_replica row;
    struct xd_url url; /* of the row, parsed */
    const char *sha256;
    struct xd_exnode_part *part; /* or NULL; in the manifest's pool */
    enum xd_reach reach;
};

/* Bytes of the file that a source would hold, had it not been dropped. */
struct xd_loss {
    uint64_t offset, length;
    const char *reason; /* in the manifest's pool */
};

struct xd_draft_stripe {
    struct xd_model_stripe row;
    size_t order; /* in the manifest */
};

struct xd_piece_list {
    const struct xd_algorithm *algorithm;
    uint64_t piece_bytes;
    char *hex; /* each with its NUL, in a row */
    size_t n, hex_bytes, capacity;
    bool bad;
};

/* The file being read. */
struct xd_draft {
    char *path; /* safe (manifest/names.h), or NULL */
    uint64_t size;
    bool size_is_contradicted;
    unsigned max_connections;
    struct xd_span signature;                 /* of all of it; in the pool */
    struct xd_exnode_part *parts, *last_part; /* in the pool */
    const struct xd_metaurl *metaurls; /* in the pool, last first; or NULL */
    size_t n_metaurls, n_torrents;
    bool is_exnode;
    const char *upload; /* as in struct xd_model_rare */
    bool is_offered;    /* its hashes are the word of a server that has it */
    struct xd_model_hash hashes[XD_HASHES_MAX]; /* hex NULL: contradicted */
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
    /* Set by init. */
    const char *origin;  /* or NULL */
    char *origin_said;   /* as people may see it */
    char *base;          /* what relative URLs resolve against, or NULL */
    bool origin_is_path; /* of a file here, which may name others */
    struct xd_manifest *manifest;
    struct xd_error *err;
    /* Kept up to date by the reader: what sentences begin with. */
    const char *unit;        /* "line" */
    unsigned long number;    /* 0: nowhere in particular */
    const char *server_name; /* what the server calls the file; or NULL */
    /* The builder's own. */
    bool out_of_memory;
    size_t n_warnings;           /* also those that were not kept */
    size_t first_dropped_source; /* the warning that says so, from 1; or 0 */
    struct xd_draft draft;
};

/* `origin` and `err` must outlive the builder.  Errors: NOMEM. */
int xd_builder_init(struct xd_builder *b, const char *origin,
                    struct xd_error *err);
void xd_builder_fini(struct xd_builder *b);

/* Fails with MANIFEST, the origin and the line before the sentence; or with
 * NOMEM, if memory had run out before. */
int xd_builder_fail(struct xd_builder *b, const char *format, ...)
    XD_PRINTF(2, 3);

/* Keeps a warning, with the line before it. */
void xd_builder_warn(struct xd_builder *b, const char *format, ...)
    XD_PRINTF(2, 3);

/* A copy that lives as long as the manifest; NULL when memory is out. */
const char *xd_builder_copy(struct xd_builder *b, struct xd_span s);

/* Of the current file.  A name is made safe; a size beyond XD_FILE_MAX is
 * dropped, and so are two that differ. */
void xd_builder_name(struct xd_builder *b, struct xd_span name);
void xd_builder_size(struct xd_builder *b, uint64_t size);

/* Takes `server_name` for the current file.  False: there is none, or it would
 * have to be changed to be safe, which is warned of. */
bool xd_builder_server_name(struct xd_builder *b);

/* A hash of the whole file, as the manifest writes it. */
void xd_builder_hash(struct xd_builder *b, struct xd_span type,
                     struct xd_span hex);

/* A detached signature of the whole file; the first is kept. */
void xd_builder_signature(struct xd_builder *b, struct xd_span text);

/* A list of piece hashes, then each of them; the strongest of several lists
 * is taken by xd_builder_end_file(). */
void xd_builder_pieces(struct xd_builder *b, struct xd_span type,
                       uint64_t piece_bytes);
void xd_builder_piece(struct xd_builder *b, struct xd_span hex);

/* The number, from 0 on, that the manifest gives the piece that comes next. */
void xd_builder_piece_number(struct xd_builder *b, struct xd_span number);

/* A number from `least` to `most` that ranks a source; 0 with a warning if it
 * is none.  `name` is what the manifest calls it. */
unsigned xd_builder_rank(struct xd_builder *b, const char *name,
                         struct xd_span text, unsigned least, unsigned most);

/* A number of connections at a time, from 1 on; 0 with a warning if it is
 * none. */
unsigned xd_builder_connections(struct xd_builder *b, struct xd_span text);

/* Those of the current file, to all its sources together. */
void xd_builder_max_connections(struct xd_builder *b, unsigned n);

/* A SHA-256 in lower case, or NULL with a warning. */
const char *xd_builder_sha256(struct xd_builder *b, struct xd_span hex);

/* A country code in lower case, or NULL if it is none. */
const char *xd_builder_location(struct xd_builder *b, struct xd_span code);

/* Part of an exNode that is written again as it was. */
void xd_builder_keep_part(struct xd_draft *d, struct xd_exnode_part *part);

/* The URL, resolved, in the pool; NULL if there is none. */
const char *xd_builder_resolve(struct xd_builder *b, struct xd_span url);

/* Likewise, parsed: of bytes that may be fetched.  Returns NULL, or why they may
 * not be ("it has ..."). */
const char *xd_builder_url(struct xd_builder *b, struct xd_span text,
                           struct xd_url *out);

/* A source whose offset + length is at most XD_FILE_MAX, or that has the
 * whole file. */
void xd_builder_source(struct xd_builder *b, const struct xd_source *s);

/* A source of the whole file that is of no use, and why ("it is ..."). */
void xd_builder_drop_source(struct xd_builder *b, const char *why);

/* Bytes that one of the mappings describes in a way that is of no use, and why
 * ("it is ..."): a warning, and the reason of a hole. */
void xd_builder_loss(struct xd_builder *b, uint64_t offset, uint64_t length,
                     const char *format, ...) XD_PRINTF(4, 5);

/* A stripe of the file, that is well formed; what it refers to lives as long as
 * the manifest.  Where it lies is looked at by xd_builder_end_file(). */
void xd_builder_stripe(struct xd_builder *b, const struct xd_model_stripe *s);

/* Another manifest of the current file, in which it is called `name` (empty: as
 * here); its server may be as near as `reach` says.  A torrent of it is only
 * counted. */
void xd_builder_metaurl(struct xd_builder *b, struct xd_span url,
                        struct xd_span name, enum xd_reach reach);
void xd_builder_torrent(struct xd_builder *b);

/*
 * The current file is complete: checked, and kept unless nothing holds it.
 * Errors: MANIFEST (a hole), NOMEM.
 */
int xd_builder_end_file(struct xd_builder *b);

/* The manifest, which is then the caller's.  Errors: MANIFEST (no file is
 * left), NOMEM. */
int xd_builder_finish(struct xd_builder *b, const char *format,
                      struct xd_manifest **out);

#endif
