/* SPDX-License-Identifier: MIT */
/*
 * A mesh of caches that a download uses (mesh/mesh.h).  Each node is a depot
 * with one source for every file that is fetched through the mesh.
 *
 *     chunks        0        1        2        3
 *     node a   |==tier 0|--tier 1|==tier 0|--tier 1|
 *     node b   |==tier 0|==tier 0|--tier 1|--tier 1|
 *     node c   |--tier 1|==tier 0|==tier 0|==tier 0|
 *     direct   |..............tier 2...............|
 *
 * For each chunk, the first `copies` nodes by rank are its owners, in tier 0.
 * The other nodes are in tier 1, which is used when all owners have been
 * dropped.  The replicas of the manifest, including the origin, are in tier 2,
 * which is used when all nodes have been dropped.
 *
 * Bytes from a node count only if they belong to the origin's version of the
 * file: the response has the origin's validator, or piece hashes prove the
 * bytes.
 *
 * Guarded by engine.lock after the engine has started.
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

/* Maximum number of copies of a chunk, and bytes for the header fields of a
 * request to a node. */
#define XD_VIA_COPIES_MAX 16
#define XD_VIA_FIELDS 320

/* The nodes that requests named as the owner of a chunk. */
struct xd_via_named {
    uint32_t last; /* number of the node named last */
    uint32_t
        ever; /* bit i: the node of rank i was named; the last bit stands for
                 its rank and all ranks after it */
};

/* A file that is fetched through the mesh. */
struct xd_via_file {
    struct xd_range range; /* range of the file in the download */
    const struct xd_model_file
        *in;         /* the file of the manifest with the replica at the
                        origin */
    uint32_t place;  /* index of that replica in `in` */
    uint64_t key;    /* key for computing the ranks of nodes */
    char *validator; /* strong validator of the origin, or NULL */
    size_t n_chunks;
    struct xd_via_named *named; /* for each chunk */
    uint32_t owners[];          /* `copies` nodes for each chunk */
};

struct xd_via {
    struct xd_mesh *mesh;
    unsigned copies;
    size_t n_depots; /* one for each address of each node, in the order of the
                        mesh */
    /* NULL for an address of a node that holds nothing */
    struct xd_depot **depots;
    const struct xd_depot *origin; /* origin of the last file added */
    /* for each node: other nodes got wrong bytes from it, so requests do not
     * name it as an owner any more */
    bool misleads[XD_MESH_NODES_MAX];
    /* for each node: it is slow or hangs (via_watch.h), so requests do not name
     * it as an owner */
    bool avoids[XD_MESH_NODES_MAX];
    xd_usec
        hung_at[XD_MESH_NODES_MAX]; /* for each node: when it was found to hang;
                                       0 if it does not */
    xd_usec watched_at;
    bool was_sampled[XD_MESH_NODES_MAX]; /* for each node: bytes that it owns
                                            were compared with the origin */
    struct xd_via_file **files;          /* sorted by range */
    size_t n_files, capacity;
    char *refusal; /* why the mesh is not used for the file; NULL if it is used,
                      if that is not decided yet, or if there are several
                      files */
};

/*
 * Reads the list of nodes named by the options.  Sets *out to NULL if there is
 * none.
 * Ownership: the caller's.  Errors: IO, MANIFEST, NOMEM.
 */
int xd_via_new(struct xd_via **out, const struct xd_options *o,
               struct xd_error *err);
void xd_via_free(struct xd_via *v); /* NULL does nothing */

/* A replica that nodes can fetch and serve. */
struct xd_via_origin {
    const struct xd_model_file *in;
    uint32_t place;
};

/*
 * Finds the replica of `e`, an extent of `f`, that nodes should serve.  This is
 * the first suitable replica, so that all clients choose the same one.  A
 * replica is suitable if it is at an origin of the mesh, is a whole object and
 * needs no login.  Returns false if there is none.
 */
bool xd_via_find(const struct xd_via *v, const struct xd_model_file *f,
                 const struct xd_model_extent *e, struct xd_via_origin *out);

/* Returns why the mesh may not be used for `url`: the options send data to its
 * server that no other server may see.  NULL if it may be used. */
const char *xd_via_refuses(const struct xd_options *o,
                           const struct xd_url *url);

/* Returns true if `url` uses TLS but no node does. */
bool xd_via_exposes(const struct xd_via *v, const struct xd_url *url);

/*
 * Adds sources for the file to the depots of the nodes.  New depots are added
 * to the end of the list.  `is_proved` means that hashes prove the file, so
 * nodes without TLS may serve it even if the origin uses TLS.  In a download of
 * many files, a file of one chunk gets sources at only a few nodes.
 * Errors: NOMEM.
 */
int xd_via_add(struct xd_depots *d, struct xd_range range,
               const struct xd_via_origin *origin, const char *validator,
               bool is_proved);

/* Returns chunk `i` of a file as bytes of the download.  The last one may be
 * shorter. */
struct xd_range xd_via_chunk(const struct xd_via *v,
                             const struct xd_via_file *f, size_t i);

/* Returns the index of the chunk with the byte. */
size_t xd_via_chunk_of(const struct xd_via *v, const struct xd_via_file *f,
                       uint64_t byte);

/* Returns the tier in which `depot` holds chunk `i` of the file. */
uint8_t xd_via_tier(const struct xd_via *v, const struct xd_via_file *f,
                    size_t i, const struct xd_depot *depot);

/* Writes the header fields of a request to a node: the wanted version, and the
 * node that should fetch the chunk from the origin.  The request starts at
 * `byte` and stays within one chunk. */
void xd_via_fields(const struct xd_depots *d, const struct xd_via_file *f,
                   uint64_t byte, char out[XD_VIA_FIELDS]);

/* xd_via_named() returns the node that the last request for the chunk of `byte`
 * named as its owner.  xd_via_was_named() returns true if any request named
 * `node`. */
size_t xd_via_named(const struct xd_via *v, const struct xd_via_file *f,
                    uint64_t byte);
bool xd_via_was_named(const struct xd_via *v, const struct xd_via_file *f,
                      uint64_t byte, size_t node);

/* Returns the depot of the origin if a single file is fetched through the mesh,
 * else NULL. */
const struct xd_depot *xd_via_origin(const struct xd_depots *d);

/* Returns the depot whose bytes `depot` serves: the origin if it is a mesh
 * node, else the depot itself. */
unsigned xd_via_witness(const struct xd_depots *d, unsigned depot);

/* Stores why the mesh is not used.  Only the first reason is kept. */
void xd_via_refuse(struct xd_via *v, const char *why);

#endif
