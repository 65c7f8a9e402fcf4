/* SPDX-License-Identifier: MIT */
/*
 * Tests the nodes of a mesh in rounds of requests:
 *
 *     1  the origin: the file's size and ETag
 *     2  each node: its status, which contains its configuration
 *     3  which of the sampled chunks each node has, without fetching any
 *     4  the last byte of the first chunk, which makes nodes fetch that chunk
 *     5  requests that nodes must refuse
 *     6  a request with credentials, and whether nodes keep any part of the
 *        response
 *     7  whether the first chunk was kept
 */
#include "nodes/node_check.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/options.h"
#include "mesh/mesh.h"
#include "nodes/node_requests.h"

typedef unsigned long long ull;

/* Limits on the number of chunks to ask for: from each node, and from all nodes
 * together. */
#define CHUNKS_MOST 1024u
#define ASKS_MOST 16384u

#define ATTEMPTS 2u

/* The name of a host that does not exist (.invalid, RFC 6761).  An open proxy
 * would fail to find it. */
#define ELSEWHERE "/http/xd-check.invalid/"

#define ONLY_CACHED "Cache-Control: only-if-cached\n"
#define OTHER_VERSION "\"xd-check-no-version\""
#define CREDENTIALS "Authorization: Basic eGQ6Y2hlY2s=\n" /* xd:check */

struct node {
    enum xd_mesh_result results[XD_MESH_TESTS];
    /* reason of each failed test; NULL: not failed */
    char *words[XD_MESH_TESTS];
    uint64_t n_held;
    /* True if, before the request with credentials, the node already had a copy
     * of the first chunk cached without an ETag.  Always true if the file has
     * no ETag. */
    bool had_unversioned;
};

struct xd_mesh_check {
    /* constant after xd_mesh_check_new() */
    const struct xd_mesh *mesh;
    struct xd_url file;
    char *text; /* text of the URL `file` */
    uint64_t size, n_chunks, n_asked;
    char *etag;
    struct node *nodes; /* one entry for each node of the mesh */
    /* for each node and each chunk asked for: the node holds it */
    bool *is_held;
    uint64_t n_held;

    /* used while the check runs */
    struct xd_cancelable_batch *batch;
    struct xd_mesh_ask *asks;
    size_t n_asks, capacity;
    struct xd_error *err;
};

enum question {
    ASK_ORIGIN,
    ASK_STATUS,
    ASK_HELD,
    ASK_RANGE,
    ASK_KEPT,
    ASK_OTHER_VERSION,
    ASK_ELSEWHERE,
    ASK_ODD_PATH,
    ASK_UNVERSIONED, /* whether the chunk is cached before credentials are
                        sent */
    ASK_WITH_CREDENTIALS,
    ASK_UNVERSIONED_AGAIN
};

/* ---- making requests ---- */

static void forget_asks(struct xd_mesh_check *c)
{
    xd_mesh_asks_free(c->asks, c->n_asks);
    c->asks = NULL;
    c->n_asks = c->capacity = 0;
}

/* Adds a request.  Returns NULL if out of memory. */
static struct xd_mesh_ask *add_ask(struct xd_mesh_check *c, size_t node,
                                   unsigned what)
{
    struct xd_mesh_ask *grown =
        xd_grow(c->asks, c->n_asks, &c->capacity, sizeof *c->asks);

    if (!grown)
        return NULL;
    c->asks = grown;
    grown = &c->asks[c->n_asks++];
    *grown = (struct xd_mesh_ask){
        .node = node, .what = what, .size = XD_SIZE_UNKNOWN};
    return grown;
}

/* Returns a URL like "http://10.0.0.1:8080" followed by `path`. */
static char *target_of(const struct xd_mesh_check *c, size_t node,
                       const char *path)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(&t, "%s%s", c->mesh->nodes[node].addresses[0], path);
    return t.s;
}

/* Returns the header lines of a request for one byte of a chunk. */
static char *fields_of(const struct xd_mesh_check *c, uint64_t chunk,
                       uint64_t byte, const char *version, const char *more)
{
    struct xd_text t = {.s = NULL};
    unsigned owner;

    xd_mesh_rank(c->mesh, xd_mesh_file_key(&c->file), chunk, &owner, 1);
    byte += chunk * c->mesh->chunk;
    xd_text_addf(&t, "Range: bytes=%llu-%llu\n%s", (ull)byte, (ull)byte, more);
    xd_text_addf(&t, XD_MESH_OWNER ": %s\n", c->mesh->nodes[owner].id);
    if (version)
        xd_text_addf(&t, XD_MESH_MATCH ": %s\n", version);
    return t.s;
}

static int no_memory(const struct xd_mesh_check *c)
{
    return xd_fail_nomem(c->err);
}

/* Adds a request for one byte of a chunk, in a version of the file. */
static int ask_byte(struct xd_mesh_check *c, size_t node, unsigned what,
                    uint64_t chunk, uint64_t byte, const char *version,
                    const char *more)
{
    struct xd_mesh_ask *ask = add_ask(c, node, what);

    if (!ask)
        return no_memory(c);
    ask->chunk = chunk;
    ask->target = xd_mesh_url(c->mesh, node, 0, &c->file);
    ask->fields = fields_of(c, chunk, byte, version, more);
    return ask->target && ask->fields ? 0 : no_memory(c);
}

static int ask_path(struct xd_mesh_check *c, size_t node, unsigned what,
                    const char *path)
{
    struct xd_mesh_ask *ask = add_ask(c, node, what);

    if (!ask)
        return no_memory(c);
    ask->target = target_of(c, node, path);
    ask->fields = xd_strdup("Range: bytes=0-0\n");
    return ask->target && ask->fields ? 0 : no_memory(c);
}

/* ---- results ---- */

static int pass(struct xd_mesh_check *c, size_t node, enum xd_mesh_test test)
{
    if (c->nodes[node].results[test] == XD_MESH_SKIPPED)
        c->nodes[node].results[test] = XD_MESH_PASSED;
    return 0;
}

static int fail(struct xd_mesh_check *c, size_t node, enum xd_mesh_test test,
                const char *format, ...) XD_PRINTF(4, 5);

/* Records a failure, unless the test has failed at this node before. */
static int fail(struct xd_mesh_check *c, size_t node, enum xd_mesh_test test,
                const char *format, ...)
{
    struct node *n = &c->nodes[node];
    char line[800];
    va_list args;

    if (n->results[test] == XD_MESH_FAILED)
        return 0;
    va_start(args, format);
    xd_format_line(line, sizeof line, format, args);
    va_end(args);
    n->results[test] = XD_MESH_FAILED;
    n->words[test] = xd_strdup(line);
    return n->words[test] ? 0 : no_memory(c);
}

/* A description of a response. */
struct said {
    char s[400];
};

static struct said said(const struct xd_mesh_ask *ask)
{
    struct said out;

    if (ask->code == 0)
        snprintf(out.s, sizeof out.s, "%s",
                 ask->error ? ask->error : "silence");
    else
        snprintf(out.s, sizeof out.s, "HTTP %lld", (long long)ask->code);
    return out;
}

static int judge_status(struct xd_mesh_check *c, const struct xd_mesh_ask *ask)
{
    struct xd_text expected = {.s = NULL};
    bool agrees;

    if (ask->code == 0)
        return fail(c, ask->node, XD_MESH_REACHABLE, "%s", said(ask).s);
    (void)pass(c, ask->node, XD_MESH_REACHABLE);
    xd_mesh_put_status(&expected, c->mesh, ask->node);
    if (expected.failed)
        return no_memory(c);
    agrees =
        ask->code == 200 && ask->body.s && strcmp(ask->body.s, expected.s) == 0;
    xd_text_fini(&expected);
    if (agrees)
        return pass(c, ask->node, XD_MESH_AGREES);
    return fail(c, ask->node, XD_MESH_AGREES,
                "its configuration is not that of the list: its status is %s, "
                "%.300s",
                said(ask).s, ask->body.s ? ask->body.s : "and nothing more");
}

static int judge_range(struct xd_mesh_check *c, const struct xd_mesh_ask *ask)
{
    const bool has_etag = c->etag != NULL;

    if (ask->code != 206 || !ask->is_range)
        return fail(c, ask->node, XD_MESH_RANGES,
                    "a range of the file is answered by %s", said(ask).s);
    if (ask->body.len != 1 || xd_range_length(ask->range) != 1)
        return fail(c, ask->node, XD_MESH_RANGES,
                    "for 1 byte of the file %zu come", ask->body.len);
    if (ask->size != c->size)
        return fail(c, ask->node, XD_MESH_RANGES,
                    "the file has %llu bytes there and %llu at its origin",
                    (ull)ask->size, (ull)c->size);
    if (has_etag && (!ask->etag || strcmp(ask->etag, c->etag) != 0))
        return fail(c, ask->node, XD_MESH_RANGES,
                    "the file's ETag is %s there and %s at its origin",
                    ask->etag ? ask->etag : "none", c->etag);
    return pass(c, ask->node, XD_MESH_RANGES);
}

/* Evaluates a response for which only one status is right. */
static int expect(struct xd_mesh_check *c, const struct xd_mesh_ask *ask,
                  enum xd_mesh_test test, int64_t code, const char *words)
{
    if (ask->code == code)
        return pass(c, ask->node, test);
    return fail(c, ask->node, test, "%s: it answers %s, and not HTTP %lld",
                words, said(ask).s, (long long)code);
}

static int judge_credentials(struct xd_mesh_check *c,
                             const struct xd_mesh_ask *ask)
{
    if (c->nodes[ask->node].had_unversioned)
        /* a cached response does not show how the node handles credentials */
        return 0;
    return expect(c, ask, XD_MESH_CREDENTIALS, 504,
                  "a response to a request with credentials is cached");
}

static bool *held_by(const struct xd_mesh_check *c, size_t node, uint64_t chunk)
{
    return &c->is_held[node * c->n_asked + chunk];
}

static void note_held(struct xd_mesh_check *c, const struct xd_mesh_ask *ask)
{
    bool is_new = true;

    for (size_t i = 0; i < c->mesh->n_nodes; i++)
        is_new &= !*held_by(c, i, ask->chunk);
    c->n_held += is_new;
    c->nodes[ask->node].n_held++;
    *held_by(c, ask->node, ask->chunk) = true;
}

static int judge(struct xd_mesh_check *c, const struct xd_mesh_ask *ask)
{
    switch ((enum question)ask->what) {
    case ASK_STATUS:
        return judge_status(c, ask);
    case ASK_HELD:
        if (ask->code == 206)
            note_held(c, ask);
        return 0;
    case ASK_RANGE:
        return judge_range(c, ask);
    case ASK_KEPT:
        return expect(c, ask, XD_MESH_KEEPS, 206,
                      "a requested chunk is not cached");
    case ASK_OTHER_VERSION:
        return expect(c, ask, XD_MESH_VERSIONS, 504,
                      "it has bytes of a version that does not exist");
    case ASK_ELSEWHERE:
        return expect(c, ask, XD_MESH_ORIGINS, 403,
                      "a server that is no origin is not refused");
    case ASK_ODD_PATH:
        return expect(c, ask, XD_MESH_URLS, 400,
                      "a path with an encoded slash is not refused");
    case ASK_UNVERSIONED:
        c->nodes[ask->node].had_unversioned = !c->etag || ask->code != 504;
        return 0;
    case ASK_UNVERSIONED_AGAIN:
        return judge_credentials(c, ask);
    case ASK_ORIGIN:
    case ASK_WITH_CREDENTIALS:
        return 0;
    }
    return 0;
}

/* Sends all requests that were added, and evaluates the responses. */
static int run_round(struct xd_mesh_check *c)
{
    int rc = xd_mesh_asks_run(c->asks, c->n_asks, c->batch, c->err);

    for (size_t i = 0; rc == 0 && i < c->n_asks; i++)
        rc = judge(c, &c->asks[i]);
    forget_asks(c);
    return rc;
}

/* ---- rounds ---- */

static bool is_up(const struct xd_mesh_check *c, size_t node)
{
    return c->nodes[node].results[XD_MESH_REACHABLE] == XD_MESH_PASSED;
}

static int understand_origin(struct xd_mesh_check *c)
{
    struct xd_mesh_ask *ask = &c->asks[0];
    const struct xd_url_name name = xd_url_name(&c->file);

    if (ask->code == 0)
        return xd_fail(c->err, XD_E_NET, "the origin cannot be asked: %s",
                       said(ask).s);
    if (ask->code >= 300 && ask->code < 400)
        return xd_fail(c->err, XD_E_NOREPLICA,
                       "%s leads elsewhere, where nodes do not follow: give "
                       "the URL that it leads to",
                       name.s);
    if (ask->code != 206 || ask->size == XD_SIZE_UNKNOWN || ask->size == 0)
        return xd_fail(c->err, XD_E_NOREPLICA,
                       "%s: its origin answers a range by HTTP %lld, so that "
                       "a mesh is of no use",
                       name.s, (long long)ask->code);
    c->size = ask->size;
    c->etag = ask->etag;
    ask->etag = NULL;
    return 0;
}

static int ask_origin(struct xd_mesh_check *c)
{
    struct xd_mesh_ask *ask = add_ask(c, 0, ASK_ORIGIN);
    int rc;

    if (!ask)
        return no_memory(c);
    ask->target = xd_strdup(c->text);
    ask->fields = xd_strdup("Range: bytes=0-0\n");
    rc = xd_mesh_asks_run(c->asks, 1, c->batch, c->err);
    if (rc == 0)
        rc = understand_origin(c);
    forget_asks(c);
    return rc;
}

static int ask_status(struct xd_mesh_check *c)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->mesh->n_nodes; i++)
        rc = ask_path(c, i, ASK_STATUS, "/xd-status");
    return rc < 0 ? rc : run_round(c);
}

/* Chooses the chunks to ask for.  If the file has too many chunks, it chooses
 * some, evenly spread over the file. */
static int choose_chunks(struct xd_mesh_check *c)
{
    const uint64_t share = ASKS_MOST / c->mesh->n_nodes;

    c->n_chunks = (c->size - 1) / c->mesh->chunk + 1;
    c->n_asked = c->n_chunks < CHUNKS_MOST ? c->n_chunks : CHUNKS_MOST;
    if (c->n_asked > share)
        c->n_asked = share;
    c->is_held =
        xd_alloc((size_t)c->n_asked * c->mesh->n_nodes, sizeof *c->is_held);
    return c->is_held ? 0 : no_memory(c);
}

static int ask_held_as(struct xd_mesh_check *c, const char *etag)
{
    int rc = 0;

    for (size_t i = 0; i < c->mesh->n_nodes; i++)
        for (uint64_t k = 0; rc == 0 && is_up(c, i) && k < c->n_asked; k++) {
            if (*held_by(c, i, k))
                continue;
            rc = ask_byte(c, i, ASK_HELD, k * c->n_chunks / c->n_asked, 0, etag,
                          ONLY_CACHED);
            if (rc == 0)
                c->asks[c->n_asks - 1].chunk = k;
        }
    return rc < 0 ? rc : run_round(c);
}

/* Asks with the ETag and without it, because clients send no ETag for chunks
 * that piece hashes prove. */
static int ask_held(struct xd_mesh_check *c)
{
    int rc = choose_chunks(c);

    if (rc == 0)
        rc = ask_held_as(c, c->etag);
    return rc == 0 && c->etag ? ask_held_as(c, NULL) : rc;
}

static int ask_range(struct xd_mesh_check *c)
{
    const uint64_t length = c->size < c->mesh->chunk ? c->size : c->mesh->chunk;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->mesh->n_nodes; i++)
        if (is_up(c, i))
            rc = ask_byte(c, i, ASK_RANGE, 0, length - 1, c->etag, "");
    return rc < 0 ? rc : run_round(c);
}

/* Requests a path like "/https/releases.example.com/x%2fy". */
static int ask_odd_path(struct xd_mesh_check *c, size_t node)
{
    struct xd_text t = {.s = NULL};
    int rc;

    xd_text_addf(&t, "/%s/", xd_scheme_name(c->file.scheme));
    xd_text_addf(&t, "%s", strstr(c->mesh->origins[0], "://") + 3);
    xd_text_addf(&t, "x%%2fy");
    rc = t.failed ? no_memory(c) : ask_path(c, node, ASK_ODD_PATH, t.s);
    xd_text_fini(&t);
    return rc;
}

static int ask_node(struct xd_mesh_check *c, size_t i)
{
    int rc =
        ask_byte(c, i, ASK_OTHER_VERSION, 0, 0, OTHER_VERSION, ONLY_CACHED);

    if (rc == 0)
        rc = ask_path(c, i, ASK_ELSEWHERE, ELSEWHERE);
    if (rc == 0)
        rc = ask_odd_path(c, i);
    if (rc == 0)
        rc = ask_byte(c, i, ASK_UNVERSIONED, 0, 0, NULL, ONLY_CACHED);
    return rc;
}

static int ask_nodes(struct xd_mesh_check *c)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->mesh->n_nodes; i++)
        if (is_up(c, i))
            rc = ask_node(c, i);
    return rc < 0 ? rc : run_round(c);
}

/* Asks only nodes that had no cached chunk without an ETag.  At any other node,
 * the result would not show whether the node keeps the response. */
static int ask_with(struct xd_mesh_check *c, enum question what,
                    const char *fields)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->mesh->n_nodes; i++)
        if (is_up(c, i) && !c->nodes[i].had_unversioned)
            rc = ask_byte(c, i, what, 0, 0, NULL, fields);
    return rc < 0 ? rc : run_round(c);
}

/* Asks whether the first chunk was kept.  This round is the last, because a
 * node may store the chunk a moment after it has sent the requested byte. */
static int ask_kept(struct xd_mesh_check *c)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->mesh->n_nodes; i++)
        if (is_up(c, i))
            rc = ask_byte(c, i, ASK_KEPT, 0, 0, c->etag, ONLY_CACHED);
    return rc < 0 ? rc : run_round(c);
}

static int run_rounds(struct xd_mesh_check *c)
{
    int rc = ask_origin(c);

    if (rc == 0)
        rc = ask_status(c);
    if (rc == 0)
        rc = ask_held(c);
    if (rc == 0)
        rc = ask_range(c);
    if (rc == 0)
        rc = ask_nodes(c);
    if (rc == 0)
        rc = ask_with(c, ASK_WITH_CREDENTIALS, CREDENTIALS);
    if (rc == 0)
        rc = ask_with(c, ASK_UNVERSIONED_AGAIN, ONLY_CACHED);
    return rc < 0 ? rc : ask_kept(c);
}

/* Sends each request at most twice: a node that does not answer is a result
 * too. */
static int run(struct xd_mesh_check *c, const struct xd_options *o)
{
    struct xd_options twice;
    int rc;

    if (xd_options_copy(&twice, o) < 0)
        return no_memory(c);
    twice.retry = twice.retry < ATTEMPTS ? twice.retry : ATTEMPTS;
    rc = xd_cancelable_batch_new(&c->batch, &twice, ASKS_MOST, c->err);
    if (rc == 0) {
        rc = run_rounds(c);
        forget_asks(c);
        rc = xd_cancelable_batch_end(c->batch, &twice, rc, c->err);
        c->batch = NULL;
    }
    xd_options_fini(&twice);
    return rc;
}

/* ---- the public functions ---- */

static int check_file(const struct xd_mesh_check *c)
{
    if (xd_mesh_takes(c->mesh, &c->file))
        return 0;
    return xd_fail(c->err, XD_E_INVAL,
                   "%s is no file for this mesh: it is at none of its origins, "
                   "needs a login, or has an odd path",
                   xd_url_name(&c->file).s);
}

int xd_mesh_check_new(struct xd_mesh_check **out, const struct xd_mesh *m,
                      const char *url, const struct xd_options *o,
                      struct xd_error *err)
{
    struct xd_mesh_check *c = xd_alloc(1, sizeof *c);
    int rc;

    *out = NULL;
    if (!c)
        return xd_fail_nomem(err);
    c->mesh = m;
    c->err = err;
    c->text = xd_strdup(url);
    c->nodes = xd_alloc(m->n_nodes, sizeof *c->nodes);
    rc = c->text && c->nodes ? 0 : xd_fail_nomem(err);
    if (rc == 0) {
        (void)xd_url_parse(&c->file, c->text);
        rc = check_file(c);
    }
    if (rc == 0)
        rc = run(c, o);
    if (rc < 0) {
        xd_mesh_check_free(c);
        return rc;
    }
    *out = c;
    return 0;
}

static size_t count_failed(const struct node *n)
{
    size_t failed = 0;

    for (size_t i = 0; i < XD_MESH_TESTS; i++)
        failed += n->results[i] == XD_MESH_FAILED;
    return failed;
}

void xd_mesh_check_get(const struct xd_mesh_check *c,
                       struct xd_mesh_check_sum *out)
{
    *out = (struct xd_mesh_check_sum){.size = c->size,
                                      .etag = c->etag,
                                      .n_chunks = c->n_chunks,
                                      .n_asked = c->n_asked,
                                      .n_held = c->n_held,
                                      .n_nodes = c->mesh->n_nodes};
    for (size_t i = 0; i < out->n_nodes; i++)
        out->n_sound += count_failed(&c->nodes[i]) == 0;
}

int xd_mesh_check_node(const struct xd_mesh_check *c, size_t i,
                       struct xd_mesh_checked *out)
{
    if (i >= c->mesh->n_nodes)
        return XD_E_INVAL;
    *out = (struct xd_mesh_checked){.id = c->mesh->nodes[i].id,
                                    .address = c->mesh->nodes[i].addresses[0],
                                    .n_failed = count_failed(&c->nodes[i]),
                                    .n_held = is_up(c, i) ? c->nodes[i].n_held
                                                          : XD_SIZE_UNKNOWN};
    return 0;
}

enum xd_mesh_result xd_mesh_check_result(const struct xd_mesh_check *c,
                                         size_t node, enum xd_mesh_test test,
                                         const char **out_words)
{
    if (out_words)
        *out_words = NULL;
    if (node >= c->mesh->n_nodes || (unsigned)test >= XD_MESH_TESTS)
        return XD_MESH_SKIPPED;
    if (out_words)
        *out_words = c->nodes[node].words[test];
    return c->nodes[node].results[test];
}

const char *xd_mesh_test_name(enum xd_mesh_test test)
{
    static const char *const names[XD_MESH_TESTS] = {
        [XD_MESH_REACHABLE] = "reachable",
        [XD_MESH_AGREES] = "agrees",
        [XD_MESH_RANGES] = "ranges",
        [XD_MESH_KEEPS] = "keeps",
        [XD_MESH_VERSIONS] = "versions",
        [XD_MESH_ORIGINS] = "origins",
        [XD_MESH_URLS] = "urls",
        [XD_MESH_CREDENTIALS] = "credentials",
    };

    return (unsigned)test < XD_MESH_TESTS ? names[test] : NULL;
}

void xd_mesh_check_free(struct xd_mesh_check *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->nodes && i < c->mesh->n_nodes; i++)
        for (size_t k = 0; k < XD_MESH_TESTS; k++)
            xd_free(c->nodes[i].words[k]);
    xd_free(c->nodes);
    xd_free(c->is_held);
    xd_free(c->etag);
    xd_free(c->text);
    xd_free(c);
}
