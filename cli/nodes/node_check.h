/* SPDX-License-Identifier: MIT */
/*
 * Tests the nodes of a mesh.
 *
 * Threads: any thread may call all functions here.  A check is immutable.
 */
#ifndef XD_NODES_NODE_CHECK_H
#define XD_NODES_NODE_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/options.h>

#include "mesh/node_list.h"

struct xd_mesh_check;

/* The tests of a node. */
enum xd_mesh_test {
    /* the node answers; otherwise the other tests are skipped */
    XD_MESH_REACHABLE,
    /* the node's ID, chunk size, hops and origins match the node list */
    XD_MESH_AGREES,
    /* the node sends a range of the file, with the size and ETag of the
     * origin */
    XD_MESH_RANGES,
    XD_MESH_KEEPS, /* the node caches the chunk of that range */
    /* a client that requests another version of the file (If-Match with another
     * ETag) does not get the cached chunk */
    XD_MESH_VERSIONS,
    XD_MESH_ORIGINS, /* the node refuses to fetch from servers that are not
                        origins */
    /* the node refuses ambiguous paths, which servers could interpret
     * differently */
    XD_MESH_URLS,
    XD_MESH_CREDENTIALS, /* the node caches nothing for a request with
                            credentials */
    XD_MESH_TESTS        /* the number of tests */
};

enum xd_mesh_result {
    XD_MESH_SKIPPED, /* not tested */
    XD_MESH_PASSED,
    XD_MESH_FAILED
};

/* Result for one node.  Strings live as long as the mesh. */
struct xd_mesh_checked {
    const char *id; /* ID of the node in the mesh */
    /* first address of the node; the other addresses are not tested */
    const char *address;
    size_t n_failed; /* number of failed tests */
    /* how many of the n_asked chunks the node held before the tests;
     * XD_SIZE_UNKNOWN if the node did not answer */
    uint64_t n_held;
};

/* Result for the file. */
struct xd_mesh_check_sum {
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
XD_MUST_CHECK int xd_mesh_check_new(struct xd_mesh_check **out,
                                    const struct xd_mesh *m, const char *url,
                                    const struct xd_options *o,
                                    struct xd_error *err);

/* Reports the result for the file.  Blocks: no. */
void xd_mesh_check_get(const struct xd_mesh_check *c,
                       struct xd_mesh_check_sum *out);

/* Reports the result for node number `i`.  Returns 0, or INVAL if `i` is out of
 * range. */
int xd_mesh_check_node(const struct xd_mesh_check *c, size_t i,
                       struct xd_mesh_checked *out);

/*
 * Returns the result of one test of a node.  If the test failed, *out_words is
 * a sentence that says why; the string lives as long as the check.  Otherwise
 * *out_words is NULL.  `out_words` may be NULL.
 */
enum xd_mesh_result xd_mesh_check_result(const struct xd_mesh_check *c,
                                         size_t node, enum xd_mesh_test test,
                                         const char **out_words);

/* Returns the name of a test: "reachable", "agrees", "ranges", "keeps",
 * "versions", "origins", "urls" or "credentials".  The string is static. */
const char *xd_mesh_test_name(enum xd_mesh_test test);

/* Releases a check; NULL does nothing. */
void xd_mesh_check_free(struct xd_mesh_check *c);

#endif
