/* SPDX-License-Identifier: MIT */
/*
 * A mesh: nodes that cache the files of some origins in chunks.
 *
 *     origin ---> owner of the chunk ---> other nodes ---> clients
 *
 * Nodes are plain HTTP caches.  All clients and nodes rank the nodes alike for
 * each chunk, by highest random weight (HRW; Thaler and Ravishankar, 1998).  So
 * adding or removing a node moves only its own share of the chunks.  Ranks
 * depend on the IDs of nodes, not on their addresses.
 *
 * A mesh is described by a text, which clients get:
 *
 *     xdownload nodes 1
 *     chunk 4m
 *     hops 2
 *     origin https://releases.example.com/
 *     node a http://10.0.0.1:8080
 *     node b http://10.0.0.2:8080 http://b.example:8080
 *
 * Empty lines and lines that begin with '#' are ignored.  The first other line
 * must be as above; "chunk" and "hops" occur once, "origin" and "node" at least
 * once, in any order.  All addresses of a node lead to the same server.
 *
 * Pure: no files, no sockets.  A mesh is immutable.
 */
#ifndef XD_MESH_MESH_H
#define XD_MESH_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "base/url.h"
#include "mesh/node_list.h"

#define XD_MESH_NODES_MAX 1024
#define XD_MESH_ORIGINS_MAX 256
#define XD_MESH_ADDRESSES_MAX 8 /* per node */
#define XD_MESH_ID_MAX 32       /* letters, digits, '-', '_' and '.' */
#define XD_MESH_CHUNK_UNIT ((uint64_t)4 << 10)
#define XD_MESH_CHUNK_LEAST ((uint64_t)64 << 10)
#define XD_MESH_CHUNK_MOST ((uint64_t)1 << 30)

/* Header fields of requests to nodes. */

/* Strong ETag of the file at the origin; absent if it has none. */
#define XD_MESH_MATCH "Xd-Match"
/* ID of the node that fetches the chunk from the origin: the highest-ranked one
 * that is alive and not bypassed. */
#define XD_MESH_OWNER "Xd-Owner"
/* ID of a higher-ranked node to bypass, because it returned wrong bytes or is
 * too slow.  Other nodes ignore the bytes that they got from it. */
#define XD_MESH_INSTEAD "Xd-Instead"
/* ID of the node that asks another node. */
#define XD_MESH_HOP "Xd-Hop"

/* Header fields of responses. */
#define XD_MESH_NODE "Xd-Node"   /* ID of the node */
#define XD_MESH_CACHE "Xd-Cache" /* HIT, MISS, ... as nginx reports it */

struct xd_mesh_node {
    char *id;
    char **addresses; /* "http://host:port" or "https://...", without a path */
    size_t n_addresses;
    uint64_t weight_seed; /* hash of the ID */
};

struct xd_mesh {
    uint64_t chunk; /* bytes; a multiple of XD_MESH_CHUNK_UNIT */
    unsigned hops;  /* 1: every node asks the origin; 2: only the owner does */
    /* URLs that end with '/', with lower-case scheme and host and without
     * default port */
    char **origins;
    size_t n_origins;
    struct xd_mesh_node *nodes; /* at least one; no two IDs differ only in
                                   case */
    size_t n_nodes;
};

/* Returns whether the mesh serves the file at URL `u`.  It must be an http or
 * https URL at one of the origins.  It must have no login, no presigned query
 * and no path that servers could interpret differently ("..", "//", encoded
 * slashes ...). */
bool xd_mesh_takes(const struct xd_mesh *m, const struct xd_url *u);

/*
 * Returns the URL of the file of `u` at a node, using address number `address`:
 *     http://10.0.0.1:8080/https/releases.example.com/12/a.iso
 * Path and query are copied as written, without the fragment.  NULL if out of
 * memory.
 * Ownership: release it with xd_free().
 */
char *xd_mesh_url(const struct xd_mesh *m, size_t node, size_t address,
                  const struct xd_url *u);

/*
 * How ranks are computed, for other implementations.  All numbers have 64 bits.
 *
 *     F(s)      FNV-1a of the bytes of s
 *     S(x)      finalizer of splitmix64, with its increment: x += 0x9e37...
 *     seed      S(F(id))
 *     file key  S(F(url)), the URL at the origin: lower-case scheme and host, the
 *               port if it is not the default, path and query as written, "/" for
 *               an empty path, no fragment
 *     weight    S(seed ^ S(file key ^ S(chunk number))); the highest is the owner
 */
uint64_t xd_mesh_file_key(const struct xd_url *u);

/*
 * Writes the `n` (at most n_nodes) highest-ranked nodes for a chunk to out[],
 * best first, as indexes into m->nodes.  Equal weights are ordered by ID.
 * Takes time O(n_nodes * n).
 */
void xd_mesh_rank(const struct xd_mesh *m, uint64_t file_key, uint64_t chunk,
                  unsigned *out, unsigned n);

/* Appends the JSON text of a node's "/xd-status". */
void xd_mesh_put_status(struct xd_text *t, const struct xd_mesh *m,
                        size_t node);

#endif
