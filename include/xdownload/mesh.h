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

/* What a node is tested for. */
enum xd_mesh_test {
    XD_MESH_REACHABLE,   /* it answers; else it is tested for nothing more */
    XD_MESH_AGREES,      /* id, chunk, hops and origins are those of the list */
    XD_MESH_RANGES,      /* it sends a range of the file, of the origin's size
                            and ETag */
    XD_MESH_KEEPS,       /* and then has the chunk in which that lies */
    XD_MESH_VERSIONS,    /* not so under another ETag */
    XD_MESH_ORIGINS,     /* it refuses a server that is no origin, */
    XD_MESH_URLS,        /* and a path that could be read differently */
    XD_MESH_CREDENTIALS, /* it keeps nothing of a request with credentials */
    XD_MESH_TESTS        /* so many there are */
};

enum xd_mesh_result {
    XD_MESH_SKIPPED, /* not tested */
    XD_MESH_PASSED,
    XD_MESH_FAILED
};

/* What was found of a node.  Strings live as long as the mesh. */
struct xd_mesh_checked {
    size_t struct_size;  /* set by the caller */
    const char *id;      /* in the list */
    const char *address; /* that was asked: the first */
    size_t n_failed;     /* tests */
    uint64_t n_held;     /* of the chunks it was asked for, before the tests;
                            XD_SIZE_UNKNOWN: it did not answer */
};

/* What was found of the file. */
struct xd_mesh_check_sum {
    size_t struct_size; /* set by the caller */
    uint64_t size;
    const char *etag; /* the strong one that its origin sends; or NULL.  Lives
                         as long as the check */
    uint64_t n_chunks;
    uint64_t n_asked; /* chunks that each node was asked for: all, or 1024 of
                         them at most */
    uint64_t n_held;  /* that one node or more has, of these */
    size_t n_nodes, n_sound; /* nodes; those of which no test failed */
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

/*
 * Test the nodes of a mesh, and look which chunks they have of the file at `url`,
 * the one at its origin.  The origin is asked first.  Of the file its first chunk
 * is fetched by each node, if it has it not; nothing else.
 *
 * Ownership: *out is the caller's, to release with xd_mesh_check_free(); `m`
 *            outlives it.  `o` may be NULL: the defaults.
 * Threads:   any.  Works on a thread of its own, which has ended on return.
 * Blocks:    until each node has answered or failed, or the option `max-time` is
 *            over; a cancel of the options ends it.
 * Errors:    INVAL (no file for this mesh), NET and NOREPLICA (the origin: it
 *            cannot be asked, or sends no ranges), CANCELED, NOMEM, IO (a file
 *            that the options name).  What is wrong with a node is none.
 */
XD_API XD_MUST_CHECK int xd_mesh_check_new(struct xd_mesh_check **out,
                                           const struct xd_mesh *m,
                                           const char *url,
                                           const struct xd_options *o,
                                           struct xd_error *err);

XD_API void xd_mesh_check_get(const struct xd_mesh_check *c,
                              struct xd_mesh_check_sum *out);

/* Node `i`, in the order of the list; 0, or INVAL past the last. */
XD_API int xd_mesh_check_node(const struct xd_mesh_check *c, size_t i,
                              struct xd_mesh_checked *out);

/* How a test of a node went; *out_words (may be NULL) is a sentence if it failed,
 * else NULL, and lives as long as the check. */
XD_API enum xd_mesh_result xd_mesh_check_result(const struct xd_mesh_check *c,
                                                size_t node,
                                                enum xd_mesh_test test,
                                                const char **out_words);

/* "reachable", "agrees", "ranges", "keeps", "versions", "origins", "urls" or
 * "credentials"; lives for ever. */
XD_API const char *xd_mesh_test_name(enum xd_mesh_test test);

XD_API void xd_mesh_check_free(struct xd_mesh_check *c); /* NULL: nothing */

XD_END_DECLS

#endif
