/* SPDX-License-Identifier: MIT */
/*
 * The model behind the getters of <xdownload/manifest.h>.
 *
 *     xd_manifest > xd_model_file > extents --first_replica--> replicas
 *
 * Getters make the public structs of it.  Made by manifest/builder.h; immutable
 * from then on.  All but the list of files lies in the pool.
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

/* A child of an exNode's root that the model does not hold as a whole: a
 * mapping, used or not, metadata, or an element of another vocabulary. */
struct xd_exnode_part {
    const char *xml; /* NULL: of a mapping, which is written by its rows */
    const struct xd_xml_secret *secrets; /* in `xml` */
    size_t n_secrets;
    size_t end_begin, end_end; /* in `xml`, of a mapping: the text of its
                                  metadata "end"; both 0: it has none */
    size_t metadata_at;        /* likewise: where such may be added */
    const char *manage;        /* of a mapping: a capability, or NULL */
    const char *write;         /* likewise, where `xml` is NULL */
    struct xd_exnode_part *next;
};

/* Another manifest of the file (RFC 5854, section 4.2.8). */
struct xd_metaurl {
    struct xd_url url;
    const char *name;    /* of the file in it; or NULL: as here */
    enum xd_reach reach; /* how near its server may be */
    const struct xd_metaurl *next;
};

/* The fields of struct xd_extent that most have. */
struct xd_model_extent {
    uint64_t offset, length;
    uint32_t n_replicas, first_replica; /* of the file's replicas */
};

/* The fields of struct xd_replica, but for its URL, that most have. */
struct xd_model_replica {
    unsigned priority, max_connections;
    const char *location;
    const struct xd_replica *more; /* with all of them; or NULL: the others are
                                      as of a plain URL of the whole file */
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
    char *hex;     /* strings, each with its NUL, in a row */
    size_t stride; /* from one to the next */
};

/* Where a shard of parity lies. */
struct xd_model_shard_replica {
    struct xd_url url;
    uint64_t offset;            /* of the shard's first byte in that object */
    uint64_t expires_at;        /* as in struct xd_replica */
    const char *expires;        /* likewise */
    const char *write, *manage; /* capabilities, which are secrets; or NULL */
};

struct xd_model_shard {
    uint32_t number; /* from 0 on; those of data are less than k */
    uint32_t n_replicas, first_replica; /* of the stripe's; of data none */
    const char *sha256; /* of parity, unless it is not known and has no replica;
                           of data or NULL */
};

/* The fields of struct xd_stripe, and what lies where. */
struct xd_model_stripe {
    uint64_t number, offset, length, shard_bytes;
    unsigned k, n;
    uint32_t n_shards, n_replicas;       /* that the manifest names */
    const struct xd_model_shard *shards; /* by ascending number */
    const struct xd_model_shard_replica *replicas;
    size_t first_place; /* of a stripe that is used: that of its first replica
                           among all of parity, from stripe to stripe */
    const struct xd_exnode_part *part; /* it as it was read, which has more than
                                          is here; or NULL */
    bool is_used;                      /* else it is only written again */
};

/* What few files have. */
struct xd_model_rare {
    const void *signature;
    size_t signature_bytes;
    unsigned max_connections;             /* 0: no limit */
    const struct xd_model_pieces *pieces; /* or NULL */
    const char *const
        *sha256s; /* of each extent, or NULL; NULL: none has one */
    const enum xd_reach *reaches; /* how near the server of each replica may be;
                                     NULL: of all as near as can be */
    /* Of an exNode, so that it can be written again: the mapping of each
     * replica, or NULL where its rows say all, or NULL where all do; and in a
     * list all other parts that the rows do not hold. */
    const struct xd_exnode_part **mappings;
    const struct xd_exnode_part *parts;
    bool is_exnode;
    const char
        *upload; /* what publish/inventory.h notes of an upload, a secret; or
                           NULL.  Bytes may be missing then */
    const struct xd_model_stripe *stripes; /* by ascending offset; behind them
                                              those that are not used */
    size_t n_stripes, n_unused_stripes;
    const struct xd_metaurl *metaurls; /* in a list; or NULL */
    size_t n_torrents; /* that it names, which are passed over */
    const struct xd_model_file **joined; /* of each extent: the file that it is
                                            (join.h), and that has its replicas;
                                            or NULL */
};

extern const struct xd_model_rare xd_model_plain; /* has nothing of that */

/* No more than is needed, as there may be 100 000: no manifest is so long that
 * 32 bits could not count what is in it. */
struct xd_model_file {
    const char *path;
    uint64_t size;
    uint32_t n_extents, n_hashes;
    struct xd_model_hash *hashes;
    struct xd_model_extent *extents;
    struct xd_model_replica *replicas; /* of all extents, extent by extent */
    struct xd_url *urls;               /* of each replica, parsed */
    const struct xd_model_rare *rare;  /* never NULL */
};

struct xd_manifest {
    atomic_size_t refs;
    const char *format;
    struct xd_pool pool;
    struct xd_model_file *files;
    size_t n_files, files_capacity;
    size_t n_left_out; /* files without a source, which are not in the list */
    const char **warnings;
    size_t n_warnings, warnings_capacity;
    struct xd_manifest *of; /* whose files these are, but for their hashes; or
                               NULL: its own */
    struct xd_manifest *strings; /* whose strings are used, or NULL */
    struct xd_manifest **held;   /* whose files these are, if it is_gathered, or
                                    whose copies they have too */
    size_t n_held;
    bool is_gathered;
};

/*
 * A manifest that shares all with `of` but the hashes of whole files; those
 * come with take_hashes(), for each file and once, with room for `more`.
 * Errors: NOMEM.
 */
int xd_model_derive(struct xd_manifest **out, struct xd_manifest *of);
int xd_model_take_hashes(struct xd_manifest *m, size_t file, size_t more);

/* One without files, for the strings of others.  NULL when out of memory. */
struct xd_manifest *xd_model_new_strings(void);

/* Holds a reference to another as long as it lives.  Errors: NOMEM. */
int xd_model_hold(struct xd_manifest *m, struct xd_manifest *held);

/* One more warning, of a manifest that is not shared yet.  Errors: NOMEM. */
int xd_model_warn(struct xd_manifest *m, const char *sentence);

/* Replica `i` of an extent of `f`: the file that has it, and where there. */
const struct xd_model_file *xd_model_replica(const struct xd_model_file *f,
                                             const struct xd_model_extent *e,
                                             size_t i, size_t *out_place);

/* Of all replicas of `f`, the one at `place`. */
struct xd_replica xd_model_replica_row(const struct xd_model_file *f,
                                       size_t place);

/* How many replicas a file has, extent by extent. */
size_t xd_model_n_replicas(const struct xd_model_file *f);

/* What manages a replica, as the exNode says; or NULL. */
static inline const char *xd_model_manage(const struct xd_model_file *f,
                                          size_t place)
{
    const struct xd_exnode_part *part =
        f->rare->mappings ? f->rare->mappings[place] : NULL;

    return part ? part->manage : NULL;
}

/* The hash that extent `i` has of its own, or NULL. */
static inline const char *xd_model_sha256(const struct xd_model_file *f,
                                          size_t i)
{
    return f->rare->sha256s ? f->rare->sha256s[i] : NULL;
}

/* Where the bytes of the replica at `place` begin in its object, and how long
 * that is. */
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

/* How its object holds them; NULL: as they are. */
static inline const struct xd_framing *xd_model_framing(
    const struct xd_model_file *f, size_t place)
{
    const struct xd_replica *more = f->replicas[place].more;

    return more ? more->framing : NULL;
}

/* How near its server may be. */
static inline enum xd_reach xd_model_reach(const struct xd_model_file *f,
                                           size_t place)
{
    return f->rare->reaches ? f->rare->reaches[place] : XD_REACH_MACHINE;
}

/* A row for a caller's struct of any version, whose size it has set.  Errors:
 * INVAL (it is none). */
int xd_model_copy_row(void *out, const void *row, size_t row_size);

/* The last component of its path, or NULL. */
const char *xd_model_name(const struct xd_model_file *f);

#endif
