/* SPDX-License-Identifier: MIT */
/*
 * A mesh of caches that a download goes through (mesh/mesh.h): its nodes are
 * depots, each with a source of every file that goes through it.
 *
 *     chunks        0        1        2        3
 *     node a   |==tier 0|--tier 1|==tier 0|--tier 1|
 *     node b   |==tier 0|==tier 0|--tier 1|--tier 1|
 *     node c   |--tier 1|==tier 0|==tier 0|==tier 0|
 *     direct   |..............tier 2...............|
 *
 * A node holds in tier 0 the chunks for which it is among the first `copies` by
 * rank: of others it is asked when all of those are dropped, and replicas
 * themselves, the origin among them, when all nodes are.
 *
 * What a node sends counts only if it is of the version that the origin has: its
 * validator is that of the origin, or the hashes of pieces prove it.
 *
 * Guarded by engine.lock, once the engine has started.
 */
#ifndef XD_ENGINE_VIA_H
#define XD_ENGINE_VIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/range.h"
#include "base/time.h"
#include "mesh/mesh.h"

struct xd_depot;
struct xd_depots;
struct xd_model_extent;
struct xd_model_file;
struct xd_options;
struct xd_url;

enum { XD_TIER_OWNER, XD_TIER_NODE, XD_TIER_DIRECT, XD_TIER_PARITY };

/* The most copies of a chunk, and for how many bytes of a request's header there
 * is room. */
#define XD_VIA_COPIES_MAX 16
#define XD_VIA_FIELDS 320

/* Which nodes requests for a chunk have named as its owner. */
struct xd_via_named {
    uint32_t last; /* its number */
    uint32_t
        ever; /* bit i: the one of rank i; the last bit: of any from there on */
};

/* One file that goes through it. */
struct xd_via_file {
    struct xd_range range; /* its bytes, in the line of all */
    const struct xd_model_file
        *in;        /* the replica at its origin: this file's, */
    uint32_t place; /* of that number */
    uint64_t key;   /* for ranks */
    char
        *validator; /* the strong validator that the origin gives it, or NULL */
    size_t n_chunks;
    struct xd_via_named *named; /* of each chunk */
    uint32_t owners[]; /* of each chunk so many nodes as there are copies */
};

struct xd_via {
    struct xd_mesh *mesh;
    unsigned copies;
    size_t n_depots;          /* one for each address of each node, in order: */
    struct xd_depot **depots; /* NULL: it holds nothing so far */
    const struct xd_depot *origin;    /* of the last file that was added */
    bool misleads[XD_MESH_NODES_MAX]; /* what others have from the node was
                                            wrong, and it is named to none */
    bool avoids[XD_MESH_NODES_MAX];   /* it is not waited for (via_watch.h), and
                                            named to none either */
    xd_usec
        hung_at[XD_MESH_NODES_MAX]; /* it has sent nothing since; 0: it has */
    xd_usec watched_at;
    bool was_sampled[XD_MESH_NODES_MAX]; /* what a node is the owner of was
                                            compared with the origin */
    struct xd_via_file **files;          /* by range */
    size_t n_files, capacity;
    char *refusal; /* why the file does not go through it; NULL: it does, or is
                      one of many, or that is not known yet */
};

/* Reads the mesh that the options name: *out is NULL where they name none.
 * Ownership: the caller's.  Errors: IO, MANIFEST, NOMEM. */
int xd_via_new(struct xd_via **out, const struct xd_options *o,
               struct xd_error *err);
void xd_via_free(struct xd_via *v); /* NULL does nothing */

/* A replica that nodes can be asked for in its place. */
struct xd_via_origin {
    const struct xd_model_file *in;
    uint32_t place;
};

/*
 * The first of the replicas of a file, which all clients choose alike: that is
 * `e`, an extent of `f`.  False: none lies at an origin of the mesh, and is a whole
 * object without a login.
 */
bool xd_via_find(const struct xd_via *v, const struct xd_model_file *f,
                 const struct xd_model_extent *e, struct xd_via_origin *out);

/* Why no request for `url` goes to nodes: the options give its server what it
 * alone may see.  NULL: they may. */
const char *xd_via_refuses(const struct xd_options *o,
                           const struct xd_url *url);

/* Whether all nodes are asked without TLS for what is `url`, which is asked
 * with. */
bool xd_via_exposes(const struct xd_via *v, const struct xd_url *url);

/*
 * The file goes through the mesh: sources are added to the depots of its nodes,
 * which may be new ones, the last of the list.  `is_proved`: nodes without TLS may
 * send what the origin sends with.  Of one chunk among many files few nodes get a
 * source.
 * Errors: NOMEM.
 */
int xd_via_add(struct xd_depots *d, struct xd_range range,
               const struct xd_via_origin *origin, const char *validator,
               bool is_proved);

/* A chunk of a file, as bytes of the line; its last may be shorter. */
struct xd_range xd_via_chunk(const struct xd_via *v,
                             const struct xd_via_file *f, size_t i);

/* Which chunk a byte of the file is in. */
size_t xd_via_chunk_of(const struct xd_via *v, const struct xd_via_file *f,
                       uint64_t byte);

/* In which tier `depot` holds chunk `i` of the file. */
uint8_t xd_via_tier(const struct xd_via *v, const struct xd_via_file *f,
                    size_t i, const struct xd_depot *depot);

/* What a request for bytes from `byte` on says beside its range, which lies within
 * one chunk: which version is wanted, and which node is to ask the origin for
 * it. */
void xd_via_fields(const struct xd_depots *d, const struct xd_via_file *f,
                   uint64_t byte, char out[XD_VIA_FIELDS]);

/* The node that the last request for bytes of that chunk has named; and whether
 * one has named that node. */
size_t xd_via_named(const struct xd_via *v, const struct xd_via_file *f,
                    uint64_t byte);
bool xd_via_was_named(const struct xd_via *v, const struct xd_via_file *f,
                      uint64_t byte, size_t node);

/* The depot that is the origin of all that goes through the mesh, which is one
 * file; NULL: there is none. */
const struct xd_depot *xd_via_origin(const struct xd_depots *d);

/* The depot that the bytes of `depot` come from: of a node that of its origin, else
 * itself. */
unsigned xd_via_witness(const struct xd_depots *d, unsigned depot);

/* The first sentence is kept. */
void xd_via_refuse(struct xd_via *v, const char *why);

#endif
