/* SPDX-License-Identifier: MIT */
/*
 * Meshes: caches that many clients share, so that each file is fetched from its
 * server only once.
 *
 * The nodes of a mesh are nginx servers.  They fetch files in chunks from a few
 * servers (origins), keep the chunks, and serve them to clients.  A text file,
 * the node list, names the origins and nodes.  Clients get the path of the node
 * list in the option `via`.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: any thread may call all functions here.  A mesh is immutable.
 */
#ifndef XD_MESH_NODE_LIST_H
#define XD_MESH_NODE_LIST_H

#include <stddef.h>
#include <xdownload/error.h>

struct xd_mesh;

/*
 * Parses a node list.  xdownload-via(1) describes the format.
 * `name` is the name of the node list in error messages.
 * Ownership: the caller releases *out with xd_mesh_free().  *out is NULL after
 *            an error.
 * Errors:    MANIFEST (the message names the line), NOMEM.
 */
XD_MUST_CHECK int xd_mesh_parse(struct xd_mesh **out, const void *text,
                                size_t len, const char *name,
                                struct xd_error *err);

/* Releases a mesh; NULL does nothing. */
void xd_mesh_free(struct xd_mesh *m);

/*
 * Returns the node list of a mesh as a string, or NULL if out of memory.
 * Ownership: the caller releases it with xd_mesh_text_free().
 */
char *xd_mesh_write(const struct xd_mesh *m);

/* Releases a string returned by xd_mesh_write() or xd_mesh_nginx_text(); NULL
 * does nothing. */
void xd_mesh_text_free(char *text);

/* Returns the number of nodes. */
size_t xd_mesh_n_nodes(const struct xd_mesh *m);

/* Returns the ID of node number `i`, or NULL if `i` is out of range.  It lives
 * as long as the mesh. */
const char *xd_mesh_node_id(const struct xd_mesh *m, size_t i);

#endif
