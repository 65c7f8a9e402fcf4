/* SPDX-License-Identifier: MIT */
/*
 * The data behind the functions of <xdownload/manifest.h>.
 *
 *     xd_manifest > xd_model_file > extents --first_replica--> replicas
 *
 * The public structs are made from this data on demand.  The data is built by
 * manifest/builder.h and immutable afterwards.  Everything but the list of
 * files is in the pool.
 */
#ifndef XD_MANIFEST_MODEL_H
#define XD_MANIFEST_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <xdownload/manifest.h>

#include "base/reach.h"
#include "base/shards.h"
#include "base/url.h"
#include "manifest/pool.h"

struct xd_xml_secret;

/* A child of an exNode's root that the model does not represent completely: a
 * mapping, metadata, or an element in a foreign namespace. */
struct xd_exnode_part {
    /* text of the element; NULL: write the mapping from its row */
    const char *xml;
    const struct xd_xml_secret *secrets; /* positions in `xml` */
    size_t n_secrets;
    /* mappings only: position of the text of "end" in `xml`; both 0 if there is
     * none */
    size_t end_begin, end_end;
    /* mappings only: position in `xml` at which metadata can be added */
    size_t metadata_at;
    const char *manage; /* manage capability of a mapping, or NULL */
    /* write capability of a mapping, only if `xml` is NULL */
    const char *write;
    struct xd_exnode_part *next;
};

/* Another manifest of the same file (RFC 5854 section 4.2.8). */
struct xd_metaurl {
    struct xd_url url;
    /* name of the file in that manifest; NULL: the same as here */
    const char *name;
    enum xd_reach reach; /* networks in which its server may be */
    const struct xd_metaurl *next;
};

/* A server that failed before the download began. */
struct xd_model_failure {
    struct xd_url url;
    struct xd_error why;
    struct xd_model_failure *next;
};

/* The common fields of struct xd_extent. */
struct xd_model_extent {
    uint64_t offset, length;
    uint32_t n_replicas, first_replica; /* index into the file's replicas */
};

/* The common fields of struct xd_replica, without the URL. */
struct xd_model_replica {
    unsigned priority, max_connections;
    const char *location;
    /* the complete row; NULL: a plain URL of the whole file */
    const struct xd_replica *more;
};

/* The fields of struct xd_hash. */
struct xd_model_hash {
    const char *algorithm, *hex, *signed_by;
    bool is_given, is_offered;
};

struct xd_model_pieces {
    const char *algorithm;
    uint64_t piece_bytes;
    size_t n;
    char *hex;     /* strings with their NULs, one after the other */
    size_t stride; /* distance from one string to the next, in bytes */
};

/* A copy of a parity shard. */
struct xd_model_shard_replica {
    struct xd_url url;
    /* offset of the shard's first byte within the object */
    uint64_t offset;
    uint64_t expires_at;        /* as in struct xd_replica */
    const char *expires;        /* as in struct xd_replica */
    const char *write, *manage; /* capabilities, which are secret; or NULL */
};

struct xd_model_shard {
    uint32_t number; /* counted from 0; numbers below k are data shards */
    /* index into the stripe's replicas; data shards have none */
    uint32_t n_replicas, first_replica;
    /* always set for parity shards with replicas; may be NULL for others */
    const char *sha256;
};

/* The fields of struct xd_stripe, and the shards. */
struct xd_model_stripe {
    uint64_t number, offset, length, shard_bytes;
    unsigned k, n;
    /* shards and parity replicas that the manifest lists */
    uint32_t n_shards, n_replicas;
    const struct xd_model_shard *shards; /* sorted by number */
    const struct xd_model_shard_replica *replicas;
    /* number of the stripe's first replica among all parity replicas of used
     * stripes */
    size_t first_place;
    /* original text, if it has more than the model can represent; or NULL */
    const struct xd_exnode_part *part;
    bool is_used; /* false: the stripe is only written back */
};

/* Fields that few files have. */
struct xd_model_rare {
    const void *signature;
    size_t signature_bytes;
    unsigned max_connections;             /* 0: no limit */
    const struct xd_model_pieces *pieces; /* or NULL */
    const char *const
        /* the SHA-256 of each extent, or NULL for an extent without one; NULL:
         * no extent has one */
        *sha256s;
    /* the networks in which the server of each replica may be (see
     * xd_model_reach()); NULL: XD_REACH_MACHINE for all */
    const enum xd_reach *reaches;
    /* For writing an exNode back: the mapping of each replica.  An entry is
     * NULL if the replica's row is complete; the list is NULL if all rows are
     * complete.  `parts` is a linked list of everything else that the model
     * does not represent. */
    const struct xd_exnode_part **mappings;
    const struct xd_exnode_part *parts;
    bool is_exnode;
    const char
        /* secret notes about an incomplete upload (see publish/inventory.h), or
         * NULL.  If set, bytes may be missing */
        *upload;
    /* sorted by offset; the unused ones are at the end */
    const struct xd_model_stripe *stripes;
    size_t n_stripes, n_unused_stripes;
    const struct xd_metaurl *metaurls; /* linked list, or NULL */
    size_t n_torrents;                 /* torrents, which are ignored */
    /* for a joined manifest (join.h): for each extent, the file whose replicas
     * it has; or NULL */
    const struct xd_model_file **joined;
};

/* A struct in which no field is set. */
extern const struct xd_model_rare xd_model_plain;

/* There may be 100,000 files, so this is small.  32-bit counters suffice
 * because the text of a manifest is limited (XD_MANIFEST_MAX). */
struct xd_model_file {
    const char *path;
    uint64_t size;
    uint32_t n_extents, n_hashes;
    struct xd_model_hash *hashes;
    struct xd_model_extent *extents;
    /* replicas of all extents, in their order */
    struct xd_model_replica *replicas;
    struct xd_url *urls;              /* parsed URL of each replica */
    const struct xd_model_rare *rare; /* never NULL */
};

struct xd_manifest {
    atomic_size_t refs;
    const char *format;
    struct xd_pool pool;
    struct xd_model_file *files;
    size_t n_files, files_capacity;
    /* number of files without a source, which are not in `files` */
    size_t n_left_out;
    const char **warnings;
    size_t n_warnings, warnings_capacity;
    /* servers that failed, if this is a list of URLs: a linked list in the
     * order of the URLs; or NULL */
    struct xd_model_failure *failures;
    /* the manifest with which this one shares its files, except for their
     * hashes; or NULL */
    struct xd_manifest *of;
    /* the manifest that holds the strings, or NULL */
    struct xd_manifest *strings;
    /* other manifests whose files (if is_gathered) or copies are used */
    struct xd_manifest **held;
    size_t n_held;
    bool is_gathered;
};

/*
 * Makes a manifest that shares everything with `of` except for the hashes of
 * whole files.  take_hashes() copies the hashes of a file, once, with room for
 * `more`.
 * Errors: NOMEM.
 */
int xd_model_derive(struct xd_manifest **out, struct xd_manifest *of);
int xd_model_take_hashes(struct xd_manifest *m, size_t file, size_t more);

/* Makes a manifest without files, to hold strings.  NULL if out of memory. */
struct xd_manifest *xd_model_new_strings(void);

/* Makes `m` hold a reference to `held` as long as it lives.  Errors: NOMEM. */
int xd_model_hold(struct xd_manifest *m, struct xd_manifest *held);

/* Adds a warning to a manifest that is not shared yet.  Errors: NOMEM. */
int xd_model_warn(struct xd_manifest *m, const char *sentence);

/* Remembers that the server of `url` has failed and `why`, so that a download
 * of this manifest can report it.  A server that was only late is not
 * remembered.  The manifest must not be shared yet.  Errors: NOMEM. */
int xd_model_note_failure(struct xd_manifest *m, const struct xd_url *url,
                          const struct xd_error *why);

/* Returns the file that has replica `i` of extent `e`, and the replica's index
 * there.  The file differs from `f` only in joined manifests. */
const struct xd_model_file *xd_model_replica(const struct xd_model_file *f,
                                             const struct xd_model_extent *e,
                                             size_t i, size_t *out_place);

/* Returns the replica with index `place` among all replicas of `f`. */
struct xd_replica xd_model_replica_row(const struct xd_model_file *f,
                                       size_t place);

/* Returns the number of replicas of all extents. */
size_t xd_model_n_replicas(const struct xd_model_file *f);

/* Returns the manage capability of a replica, or NULL. */
static inline const char *xd_model_manage(const struct xd_model_file *f,
                                          size_t place)
{
    const struct xd_exnode_part *part =
        f->rare->mappings ? f->rare->mappings[place] : NULL;

    return part ? part->manage : NULL;
}

/* Returns the hash of extent `i`, or NULL. */
static inline const char *xd_model_sha256(const struct xd_model_file *f,
                                          size_t i)
{
    return f->rare->sha256s ? f->rare->sha256s[i] : NULL;
}

/* Return where the replica's bytes begin in its object, and the size of the
 * object. */
static inline uint64_t xd_model_offset(const struct xd_model_file *f,
                                       size_t place)
{
    const struct xd_replica *more = f->replicas[place].more;

    return more ? more->offset : 0;
}

static inline uint64_t xd_model_object_size(const struct xd_model_file *f,
                                            size_t place)
{
    const struct xd_replica *more = f->replicas[place].more;

    return more ? more->object_size : f->size;
}

/* Returns how the bytes are framed in the object; NULL: not framed. */
static inline const struct xd_framing *xd_model_framing(
    const struct xd_model_file *f, size_t place)
{
    const struct xd_replica *more = f->replicas[place].more;

    return more ? more->framing : NULL;
}

/* Returns the networks in which the replica's server may be. */
static inline enum xd_reach xd_model_reach(const struct xd_model_file *f,
                                           size_t place)
{
    return f->rare->reaches ? f->rare->reaches[place] : XD_REACH_MACHINE;
}

/* Copies a row to the caller's struct of any version.  Errors: INVAL if its
 * struct_size is not set. */
int xd_model_copy_row(void *out, const void *row, size_t row_size);

/* Returns the last component of the file's path, or NULL. */
const char *xd_model_name(const struct xd_model_file *f);

#endif
