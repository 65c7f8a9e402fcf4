/* SPDX-License-Identifier: MIT */
/*
 * A mesh: nodes that cache the files of some origins in chunks, and which of
 * them hold which chunk.
 *
 *     origin ---> node that ranks first ---> other nodes ---> clients
 *                 for the chunk (HRW)
 *
 * Nodes are plain HTTP caches.  What makes them a mesh is that all clients, and
 * the nodes, rank them alike for each chunk: by highest random weight (Thaler
 * and Ravishankar, 1998), so that one node more or less moves only its share of
 * the chunks.  A rank depends on the ids of nodes, never on their addresses.
 *
 * A mesh is a text, which is handed to clients:
 *
 *     xdownload nodes 1
 *     chunk 4m
 *     hops 2
 *     origin https://releases.example.com/
 *     node a http://10.0.0.1:8080
 *     node b http://10.0.0.2:8080 http://b.example:8080
 *
 * A line that is empty or begins with '#' says nothing.  The first other line is
 * as above; "chunk" and "hops" stand once each, "origin" and "node" once or more,
 * in any order.  The addresses of a node are those of one server.
 *
 * Pure: no files, no sockets.  A mesh is immutable once made.
 */
#ifndef XD_MESH_MESH_H
#define XD_MESH_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/mesh.h>

#include "base/error.h"
#include "base/text.h"
#include "base/url.h"

#define XD_MESH_NODES_MAX 1024
#define XD_MESH_ORIGINS_MAX 256
#define XD_MESH_ADDRESSES_MAX 8 /* of one node */
#define XD_MESH_ID_MAX 32       /* letters, digits, '-', '_' and '.' */
#define XD_MESH_CHUNK_UNIT ((uint64_t)4 << 10)
#define XD_MESH_CHUNK_LEAST ((uint64_t)64 << 10)
#define XD_MESH_CHUNK_MOST ((uint64_t)1 << 30)

/* What requests to a node say, and its answers. */
#define XD_MESH_MATCH \
    "Xd-Match" /* the strong ETag that the origin gave the
                                    file; absent: it gave none */
#define XD_MESH_OWNER \
    "Xd-Owner" /* id of the node that is to ask the origin for
                                    the chunk: the first by rank that lives, and
                                    is not passed over (XD_MESH_INSTEAD) */
#define XD_MESH_INSTEAD \
    "Xd-Instead"               /* id of a node that ranks before that one, and
                                  from which other nodes have what is wrong, or
                                  for which they would wait too long */
#define XD_MESH_HOP "Xd-Hop"   /* id of the node that asks another one */
#define XD_MESH_NODE "Xd-Node" /* in an answer: id of the node */
#define XD_MESH_CACHE \
    "Xd-Cache" /* in an answer: HIT, MISS, ... as nginx says */

struct xd_mesh_node {
    char *id;
    char **addresses; /* "http://host:port" or "https://...", without a path */
    size_t n_addresses;
    uint64_t weight_seed; /* of the id */
};

struct xd_mesh {
    uint64_t chunk; /* bytes: a multiple of XD_MESH_CHUNK_UNIT */
    unsigned hops;  /* 1: each node asks the origin; 2: only the owner does */
    char **origins; /* URLs that end with '/', in normal form: lower-case scheme
                       and host, no default port */
    size_t n_origins;
    struct xd_mesh_node *nodes; /* at least one; their ids differ, and not only
                                   by case */
    size_t n_nodes;
};

/* Whether the mesh may be asked for the file of `u`: http or https, at one of the
 * origins, without login, a query that looks presigned, or a path that two
 * servers could read differently ("..", "//", encoded slashes, ...). */
bool xd_mesh_takes(const struct xd_mesh *m, const struct xd_url *u);

/*
 * The URL of that file at a node, by its address number `address`:
 *     http://10.0.0.1:8080/https/releases.example.com/12/a.iso
 * What follows the authority is as it was written, without the fragment.
 * NULL when out of memory.  Release with xd_free().
 */
char *xd_mesh_url(const struct xd_mesh *m, size_t node, size_t address,
                  const struct xd_url *u);

/*
 * Ranks, so that other programs can compute them.  All numbers have 64 bits.
 *
 *     F(s)      FNV-1a of the bytes of s
 *     S(x)      the finalizer of splitmix64, with its increment: x += 0x9e37...
 *     seed      S(F(id))
 *     file key  S(F(url)), the URL at the origin: lower-case scheme and host, the
 *               port if it is not the scheme's, path and query as written, "/" for
 *               no path, no fragment
 *     weight    S(seed ^ S(file key ^ S(chunk number))); the highest is the owner
 */
uint64_t xd_mesh_file_key(const struct xd_url *u);

/*
 * The first `n` nodes (at most n_nodes) by rank for a chunk of a file, best
 * first, into out[]: indexes of m->nodes.  Two nodes never tie: equal weights are
 * ordered by id.  Takes time in proportion to n_nodes * n at most.
 */
void xd_mesh_rank(const struct xd_mesh *m, uint64_t file_key, uint64_t chunk,
                  unsigned *out, unsigned n);

/* What a node says at "/xd-status", in JSON. */
void xd_mesh_put_status(struct xd_text *t, const struct xd_mesh *m,
                        size_t node);

#endif
