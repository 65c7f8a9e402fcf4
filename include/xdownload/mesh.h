/* SPDX-License-Identifier: MIT */
/*
 * Meshes: caches that many clients share, so that each file is fetched from its
 * server only once.
 *
 * The nodes of a mesh are nginx servers.  They fetch files in chunks from a few
 * servers (origins), keep the chunks, and serve them to clients.  A text file,
 * the node list, names the origins and nodes.  Clients get the path of the node
 * list in the option `via`.  The functions here write the nginx configurations
 * and test the nodes.
 *
 *     #include <stdio.h>
 *     #include <string.h>
 *     #include <xdownload/xdownload.h>
 *
 *     int print_config(struct xd_error *err)
 *     {
 *         static const char text[] = "xdownload nodes 1\n"
 *                                    "chunk 4m\n"
 *                                    "hops 2\n"
 *                                    "origin https://releases.example.com/\n"
 *                                    "node a http://10.0.0.1:8080\n"
 *                                    "node b http://10.0.0.2:8080\n";
 *         struct xd_mesh *m;
 *         char *config;
 *         int rc = xd_mesh_parse(&m, text, strlen(text), "nodes", err);
 *
 *         if (rc < 0)
 *             return rc;
 *         rc = xd_mesh_nginx_text(m, 0, NULL, &config, err); // of node a
 *         if (rc == 0) {
 *             printf("%s", config);
 *             xd_mesh_text_free(config);
 *         }
 *         xd_mesh_free(m);
 *         return rc;
 *     }
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: any thread may call all functions here.  Meshes and checks are
 *          immutable.
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

/* The longest fill_s, in seconds. */
#define XD_MESH_FILL_MOST_S 86400u

/* Settings of a node.  0 and NULL stand for the defaults. */
struct xd_mesh_nginx {
    size_t struct_size; /* see version.h */
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

/* The tests of a node. */
enum xd_mesh_test {
    /* the node answers; otherwise the other tests are skipped */
    XD_MESH_REACHABLE,
    /* its ID, chunk size, hops and origins match the node list */
    XD_MESH_AGREES,
    /* it sends a range of the file, with the size and ETag of the origin */
    XD_MESH_RANGES,
    XD_MESH_KEEPS, /* it caches the chunk of that range */
    /* it does not serve that chunk to a client that requests another ETag */
    XD_MESH_VERSIONS,
    XD_MESH_ORIGINS, /* it refuses to fetch from servers that are not origins */
    /* it refuses ambiguous paths, which servers could interpret differently */
    XD_MESH_URLS,
    XD_MESH_CREDENTIALS, /* it caches nothing for a request with credentials */
    XD_MESH_TESTS        /* the number of tests */
};

enum xd_mesh_result {
    XD_MESH_SKIPPED, /* not tested */
    XD_MESH_PASSED,
    XD_MESH_FAILED
};

/* Result for one node.  Strings live as long as the mesh. */
struct xd_mesh_checked {
    size_t struct_size; /* see version.h */
    const char *id;     /* ID of the node in the mesh */
    /* first address of the node; the other addresses are not tested */
    const char *address;
    size_t n_failed; /* number of failed tests */
    /* how many of the n_asked chunks the node held before the tests;
     * XD_SIZE_UNKNOWN if the node did not answer */
    uint64_t n_held;
};

/* Result for the file. */
struct xd_mesh_check_sum {
    size_t struct_size; /* see version.h */
    uint64_t size;
    /* Strong ETag that the origin states for the file, or NULL.  It lives as
     * long as the check. */
    const char *etag;
    uint64_t n_chunks; /* number of chunks of the file */
    /* number of chunks that each node was asked about, at most 1024 */
    uint64_t n_asked;
    /* how many of the n_asked chunks at least one node holds */
    uint64_t n_held;
    /* number of all nodes, and of nodes that passed all tests */
    size_t n_nodes, n_sound;
};

XD_BEGIN_DECLS

/*
 * Parses a node list.  The example above shows the format, and xdownload-via(1)
 * describes it.  `name` is the name of the node list in error messages.
 * Ownership: the caller releases *out with xd_mesh_free().  *out is NULL after
 *            an error.
 * Errors:    MANIFEST (the message names the line), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_mesh_parse(struct xd_mesh **out, const void *text,
                                       size_t len, const char *name,
                                       struct xd_error *err);

/* Releases a mesh; NULL does nothing. */
XD_API void xd_mesh_free(struct xd_mesh *m);

/*
 * Returns the node list of a mesh as a string, or NULL if out of memory.
 * Ownership: the caller releases it with xd_mesh_text_free().
 */
XD_API char *xd_mesh_write(const struct xd_mesh *m);

/* Releases a string returned by xd_mesh_write() or xd_mesh_nginx_text(); NULL
 * does nothing. */
XD_API void xd_mesh_text_free(char *text);

/* Returns the number of nodes. */
XD_API size_t xd_mesh_n_nodes(const struct xd_mesh *m);

/* Returns the ID of node number `i`, or NULL if `i` is out of range.  It lives
 * as long as the mesh. */
XD_API const char *xd_mesh_node_id(const struct xd_mesh *m, size_t i);

/*
 * Writes the nginx configuration of node number `node`.  `how` may be NULL for
 * the defaults.
 * Ownership: the caller releases *out with xd_mesh_text_free().
 * Errors:    INVAL (no such node, a node without an http: address, or a setting
 *            out of range), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_mesh_nginx_text(const struct xd_mesh *m,
                                            size_t node,
                                            const struct xd_mesh_nginx *how,
                                            char **out, struct xd_error *err);

/*
 * Tests all nodes of a mesh with one file, and finds out which chunks of the
 * file they hold.  `url` is the URL of the file at its origin.  The call
 * contacts the origin first.  The tests make each node fetch the first chunk of
 * the file if it does not hold that chunk, and nothing else.
 *
 * The call succeeds even if nodes fail tests.
 *
 * Ownership: the caller releases *out with xd_mesh_check_free(), and must not
 *            free `m` before that.  `o` may be NULL for the defaults.
 * Threads:   the transfers run on a thread that ends before the call returns.
 * Blocks:    until every node has answered or failed, or the time of the option
 *            max-time has passed.  xd_cancel_trigger() ends the call early.
 * Errors:
 * - INVAL: the mesh cannot serve this file, because it is not at an origin,
 *   needs a login, or has an unusual path.
 * - NET: the origin cannot be reached.
 * - NOREPLICA: the origin redirects, or does not send ranges.
 * - IO: a file named in the options cannot be read.
 * - CANCELED, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_mesh_check_new(struct xd_mesh_check **out,
                                           const struct xd_mesh *m,
                                           const char *url,
                                           const struct xd_options *o,
                                           struct xd_error *err);

/* Reports the result for the file.  Blocks: no. */
XD_API void xd_mesh_check_get(const struct xd_mesh_check *c,
                              struct xd_mesh_check_sum *out);

/* Reports the result for node number `i`.  Returns 0, or INVAL if `i` is out of
 * range. */
XD_API int xd_mesh_check_node(const struct xd_mesh_check *c, size_t i,
                              struct xd_mesh_checked *out);

/*
 * Returns the result of one test of a node.  If the test failed, *out_words is
 * a sentence that says why; the string lives as long as the check.  Otherwise
 * *out_words is NULL.  `out_words` may be NULL.
 */
XD_API enum xd_mesh_result xd_mesh_check_result(const struct xd_mesh_check *c,
                                                size_t node,
                                                enum xd_mesh_test test,
                                                const char **out_words);

/* Returns the name of a test: "reachable", "agrees", "ranges", "keeps",
 * "versions", "origins", "urls" or "credentials".  The string is static. */
XD_API const char *xd_mesh_test_name(enum xd_mesh_test test);

/* Releases a check; NULL does nothing. */
XD_API void xd_mesh_check_free(struct xd_mesh_check *c);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_mesh_check_sum)
XD_FILLS(xd_mesh_checked)
#define xd_mesh_check_get(c, out) \
    xd_mesh_check_get(c, xd_mesh_check_sum_sized(out))
#define xd_mesh_check_node(c, i, out) \
    xd_mesh_check_node(c, i, xd_mesh_checked_sized(out))
#endif

XD_END_DECLS

#endif
