/* SPDX-License-Identifier: MIT */
/* Writes the nginx configuration of a node of a mesh. */
#ifndef XD_NODES_NGINX_H
#define XD_NODES_NGINX_H

#include <stddef.h>
#include <stdint.h>

#include "mesh/node_list.h"

/* The longest fill_s, in seconds. */
#define XD_MESH_FILL_MOST_S 86400u

/* Settings of a node.  0 and NULL stand for the defaults. */
struct xd_mesh_nginx {
    /* disk space for chunks, in bytes; default 10 GiB, and at least 16
     * chunks */
    uint64_t cache_bytes;
    /* The longest time, in seconds, that an origin may take to send a chunk;
     * default 30 s plus the time that the chunk takes at 64 KiB/s.  While the
     * node fetches a chunk for one client, all other clients of that chunk wait
     * for up to this time. */
    uint64_t fill_s;
    /* path of a file with CA certificates for the origins; default: the CA
     * bundle of Debian */
    const char *ca_file;
};

/*
 * Writes the nginx configuration of node number `node`.  `how` may be NULL for
 * the defaults.
 * Ownership: the caller releases *out with xd_mesh_text_free().
 * Errors:    INVAL (no such node, a node without an http: address, or a setting
 *            out of range), NOMEM.
 */
XD_MUST_CHECK int xd_mesh_nginx_text(const struct xd_mesh *m, size_t node,
                                     const struct xd_mesh_nginx *how,
                                     char **out, struct xd_error *err);

#endif
