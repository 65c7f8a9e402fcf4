/* SPDX-License-Identifier: MIT */
/*
 * The model behind the getters of <xdownload/manifest.h>.
 *
 *     xd_manifest > xd_model_file > extents --first_replica--> replicas
 *
 * The rows are kept as the public structs, so that a getter is a copy.  Made
 * by manifest/builder.h; immutable from then on.  Strings lie in the pool,
 * arrays belong to the file they stand in.
 */
#ifndef XD_MANIFEST_MODEL_H
#define XD_MANIFEST_MODEL_H

#include <stdatomic.h>
#include <xdownload/manifest.h>

#include "base/reach.h"
#include "base/url.h"
#include "manifest/pool.h"

struct xd_xml_secret;

/* A child of an exNode's root that the model does not hold as a whole: a
 * mapping, used or not, metadata, or an element of another vocabulary. */
struct xd_exnode_part {
    const char *xml;
    const struct xd_xml_secret *secrets; /* in `xml` */
    size_t n_secrets;
    const char *manage; /* of a mapping: a capability, or NULL */
    struct xd_exnode_part *next;
};

/* Another manifest of the file (RFC 5854, section 4.2.8). */
struct xd_metaurl {
    struct xd_url url;
    const char *name;    /* of the file in it; or NULL: as here */
    enum xd_reach reach; /* how near its server may be */
    const struct xd_metaurl *next;
};

struct xd_model_extent {
    struct xd_extent row;
    size_t first_replica;               /* index into the file's replicas */
    const struct xd_model_file *joined; /* the file that it is (join.h), and
                                           that has its replicas; or NULL */
};

struct xd_model_file {
    struct xd_file row;
    struct xd_hash *hashes;
    struct xd_model_extent *extents;
    struct xd_replica *replicas; /* of all extents, extent by extent */
    struct xd_url *urls;         /* of each replica, parsed */
    enum xd_reach *reaches; /* how near the server of each may be; NULL: of all
                               as near as can be */
    /* Of an exNode, so that it can be written again: the mapping of each
     * replica, or NULL where its rows say all, or NULL where all do; and in a
     * list all other parts that the rows do not hold. */
    const struct xd_exnode_part **mappings;
    const struct xd_exnode_part *parts;
    bool is_exnode;
    const struct xd_metaurl *metaurls; /* in a list, in the pool; or NULL */
    size_t n_torrents; /* that it names, which are passed over */
    bool owns_copies; /* of a derived manifest: its extents, and what they have,
                         are its own */
    char *pieces;     /* hex strings, each with its NUL, in a row */
    size_t piece_stride; /* from one to the next */
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

/* Holds a reference to another as long as it lives.  Errors: NOMEM. */
int xd_model_hold(struct xd_manifest *m, struct xd_manifest *held);

/* One more warning, of a manifest that is not shared yet.  Errors: NOMEM. */
int xd_model_warn(struct xd_manifest *m, const char *sentence);

/* Replica `i` of an extent of `f`: the file that has it, and where there. */
const struct xd_model_file *xd_model_replica(const struct xd_model_file *f,
                                             const struct xd_model_extent *e,
                                             size_t i, size_t *out_place);

#endif
