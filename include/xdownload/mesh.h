/* SPDX-License-Identifier: MIT */
/*
 * Meshes of caches: nodes that fetch files in chunks from a few origins, keep the
 * chunks and serve them, so that many clients ask the origin once.  A node is
 * stock nginx with a configuration that is written here.
 */
#ifndef XDOWNLOAD_MESH_H
#define XDOWNLOAD_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>
#include <xdownload/options.h>

struct xd_mesh;
struct xd_mesh_check;

#define XD_MESH_FILL_MOST_S 86400u /* seconds */

/* What a node is to be like.  0 and NULL stand for the defaults. */
struct xd_mesh_nginx {
    size_t struct_size;   /* set by the caller */
    uint64_t cache_bytes; /* of the disk, for chunks; 10 GiB, and 16 chunks at
                             least */
    uint64_t fill_s;      /* longest time in which an origin sends a chunk, in
                        seconds; 30 s, and what 64 KiB/s take.  While one client
                        waits for a chunk all others do, so long and no longer */
    const char *ca_file;  /* the authorities that certificates of origins are
                            verified with; that of Debian */
};

/* What was found of a node. */
struct xd_mesh_checked {
    size_t struct_size;  /* set by the caller */
    const char *id;      /* in NODES */
    const char *address; /* that was asked: the first */
    bool has_answered;
    uint64_t answer_usec; /* for its status; XD_SIZE_UNKNOWN: none */
    size_t n_failed;      /* tests: see xd_mesh_check_failure() */
    uint64_t chunks_held; /* of the file, in this version; XD_SIZE_UNKNOWN: it
                             was not asked */
};

/* What was found of the file. */
struct xd_mesh_check_sum {
    size_t struct_size; /* set by the caller */
    uint64_t size;      /* or XD_SIZE_UNKNOWN */
    const char *etag;   /* the strong one that its origin sends; or NULL */
    uint64_t n_chunks;  /* 0: the size is not known */
    uint64_t n_asked;   /* of them, of each node */
    size_t n_nodes, n_sound;
    uint64_t n_held; /* chunks that one node or more has */
};

XD_BEGIN_DECLS

/*
 * Parse the text of a mesh, as `xdownload via` writes it.  `name` is for sentences.
 * Ownership: *out is the caller's, to release with xd_mesh_free(); NULL after an
 *            error.
 * Threads:   any; a mesh is immutable.
 * Errors:    MANIFEST (with the line), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_mesh_parse(struct xd_mesh **out, const void *text,
                                       size_t len, const char *name,
                                       struct xd_error *err);
XD_API void xd_mesh_free(struct xd_mesh *m); /* NULL does nothing */

/* Its text; NULL when out of memory.  Release with xd_mesh_text_free(). */
XD_API char *xd_mesh_write(const struct xd_mesh *m);
XD_API void xd_mesh_text_free(char *text); /* NULL does nothing */

XD_API size_t xd_mesh_n_nodes(const struct xd_mesh *m);

/* Of node `i`; NULL past the last.  Lives as long as the mesh. */
XD_API const char *xd_mesh_node_id(const struct xd_mesh *m, size_t i);

/*
 * The configuration of node `node` for nginx, as `how` says, which may be NULL.
 * Ownership: *out is the caller's, to release with xd_mesh_text_free().
 * Errors:    INVAL (no such node, one without an http address, or numbers out of
 *            range), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_mesh_nginx_text(const struct xd_mesh *m,
                                            size_t node,
                                            const struct xd_mesh_nginx *how,
                                            char **out, struct xd_error *err);

XD_END_DECLS

#endif
