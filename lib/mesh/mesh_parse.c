/* SPDX-License-Identifier: MIT */
/*
 * Parses the text of a mesh.  Parts of it end up in server configurations, so
 * anything dubious is an error.
 */
#include "mesh/mesh.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/number.h"
#include "base/scatter.h"
#include "base/string_hash.h"
#include "base/text.h"
#include "mesh/mesh_url.h"

#define HEADER "xdownload nodes 1"

struct reader {
    struct xd_mesh *m;
    const char *name;
    size_t line;
    bool has_header;
    size_t nodes_capacity, origins_capacity;
    struct xd_error *err;
};

static int fail(const struct reader *r, const char *format, ...)
    XD_PRINTF(2, 3);

static int fail(const struct reader *r, const char *format, ...)
{
    char sentence[400];
    va_list args;

    va_start(args, format);
    xd_format_line(sentence, sizeof sentence, format, args);
    va_end(args);
    return xd_fail(r->err, XD_E_MANIFEST, "%s: line %zu: %s", r->name, r->line,
                   sentence);
}

/* Removes the next word from the line and returns it; empty at the end. */
static struct xd_span take_word(struct xd_span *line)
{
    struct xd_span word;

    xd_span_skip_blanks(line);
    word = xd_span(line->s, 0);
    while (word.len < line->len && !xd_is_blank(line->s[word.len]))
        word.len++;
    xd_span_skip(line, word.len);
    return word;
}

static bool is_id_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

static bool is_id(struct xd_span s)
{
    if (s.len == 0 || s.len > XD_MESH_ID_MAX)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_id_char(s.s[i]))
            return false;
    return true;
}

static int parse_chunk(struct reader *r, struct xd_span line)
{
    struct xd_span word = take_word(&line);
    char size[32] = "";
    uint64_t chunk = 0;

    if (r->m->chunk != 0)
        return fail(r, "the chunk size is given twice");
    if (word.len < sizeof size)
        memcpy(size, word.s, word.len);
    if (!xd_parse_size(size, &chunk) || chunk < XD_MESH_CHUNK_LEAST ||
        chunk > XD_MESH_CHUNK_MOST || chunk % XD_MESH_CHUNK_UNIT != 0)
        return fail(r,
                    "invalid chunk size '%.*s': use a multiple of 4k from 64k "
                    "to 1g",
                    (int)word.len, word.s);
    r->m->chunk = chunk;
    return 0;
}

static int parse_hops(struct reader *r, struct xd_span line)
{
    struct xd_span word = take_word(&line);

    if (r->m->hops != 0)
        return fail(r, "the number of hops is given twice");
    if (!xd_span_is(word, "1") && !xd_span_is(word, "2"))
        return fail(r, "invalid number of hops '%.*s': use 1 or 2",
                    (int)word.len, word.s);
    r->m->hops = (unsigned)(word.s[0] - '0');
    return 0;
}

/* Returns the text after the authority: path, query and fragment. */
static const char *after_server(const struct xd_url *u)
{
    return xd_url_secret_text(u) + u->path;
}

/* Rejects characters that would have a meaning in nginx.conf, because the path
 * is used in regular expressions there. */
static bool is_origin(const struct xd_url *u)
{
    const char *rest = after_server(u);

    return xd_mesh_is_server(u) && xd_mesh_path_is_plain(u) &&
           rest[u->path_len] == '\0' && strpbrk(rest, "$&'()*;") == NULL;
}

static bool is_address(const struct xd_url *u)
{
    const char *rest = after_server(u);

    return xd_mesh_is_server(u) && (*rest == '\0' || strcmp(rest, "/") == 0);
}

/* Normalizes an origin.  *out stays NULL if it is invalid. */
static int normal_origin(const char *word, char **out)
{
    struct xd_text t = {.s = NULL};
    struct xd_url u;

    if (!xd_url_parse(&u, word) || !is_origin(&u))
        return 0;
    xd_mesh_write_server(&t, &u, "://");
    xd_text_addf(&t, "%s", after_server(&u));
    if (!t.failed && t.s[t.len - 1] != '/')
        xd_text_addf(&t, "/");
    if (t.failed) {
        xd_text_fini(&t);
        return XD_E_NOMEM;
    }
    *out = t.s;
    return 0;
}

/* Normalizes an address.  *out stays NULL if it is invalid. */
static int normal_address(const char *word, char **out)
{
    struct xd_text t = {.s = NULL};
    struct xd_url u;

    if (!xd_url_parse(&u, word) || !is_address(&u))
        return 0;
    xd_mesh_write_server(&t, &u, "://");
    if (t.failed) {
        xd_text_fini(&t);
        return XD_E_NOMEM;
    }
    *out = t.s;
    return 0;
}

/* Parses a URL and normalizes it with the function `normal`.  The caller frees
 * *out. */
static int parse_url(struct reader *r, struct xd_span word, const char *what,
                     int (*normal)(const char *, char **), char **out)
{
    char *s = xd_strndup(word.s, word.len);
    int rc = s != NULL ? normal(s, out) : XD_E_NOMEM;
    struct xd_url u;

    if (rc < 0) {
        rc = xd_fail_nomem(r->err);
    } else if (*out == NULL) {
        (void)xd_url_parse(&u, s);
        rc = fail(r, "%s %s", xd_url_name(&u).s, what);
    }
    xd_free(s);
    return rc;
}

static int parse_origin(struct reader *r, struct xd_span line)
{
    struct xd_mesh *m = r->m;
    char *origin = NULL, **grown;
    int rc;

    if (m->n_origins == XD_MESH_ORIGINS_MAX)
        return fail(r, "more than %d origins", XD_MESH_ORIGINS_MAX);
    grown = xd_grow(m->origins, m->n_origins, &r->origins_capacity,
                    sizeof *m->origins);
    if (grown == NULL)
        return xd_fail_nomem(r->err);
    m->origins = grown;
    rc = parse_url(r, take_word(&line),
                   "is no origin: use http or https, a host, and a plain path",
                   normal_origin, &origin);
    if (rc < 0)
        return rc;
    m->origins[m->n_origins++] = origin;
    for (size_t i = 0; i + 1 < m->n_origins; i++)
        if (strcmp(m->origins[i], origin) == 0)
            return fail(r, "origin %s is listed twice", origin);
    return 0;
}

static int parse_address(struct reader *r, struct xd_mesh_node *n,
                         struct xd_span word)
{
    char *address = NULL;
    int rc;

    if (n->n_addresses == XD_MESH_ADDRESSES_MAX)
        return fail(r, "node %s has more than %d addresses", n->id,
                    XD_MESH_ADDRESSES_MAX);
    rc = parse_url(r, word,
                   "is no address of a node: use http://HOST:PORT, without a "
                   "path",
                   normal_address, &address);
    if (rc < 0)
        return rc;
    n->addresses[n->n_addresses++] = address;
    return 0;
}

/* Returns the node that already has the last address of `n`, or NULL. */
static const struct xd_mesh_node *other_with(const struct xd_mesh *m,
                                             const struct xd_mesh_node *n)
{
    const char *last = n->addresses[n->n_addresses - 1];

    for (const struct xd_mesh_node *o = m->nodes; o <= n; o++)
        for (size_t i = 0; i + (o == n) < o->n_addresses; i++)
            if (strcmp(o->addresses[i], last) == 0)
                return o;
    return NULL;
}

static int parse_addresses(struct reader *r, struct xd_mesh_node *n,
                           struct xd_span line)
{
    struct xd_span word = take_word(&line);

    n->addresses = xd_alloc(XD_MESH_ADDRESSES_MAX, sizeof *n->addresses);
    if (n->addresses == NULL)
        return xd_fail_nomem(r->err);
    if (word.len == 0)
        return fail(r, "node %s has no address", n->id);
    for (; word.len > 0; word = take_word(&line)) {
        const struct xd_mesh_node *other;
        int rc = parse_address(r, n, word);

        if (rc < 0)
            return rc;
        other = other_with(r->m, n);
        if (other != NULL)
            return fail(r, "nodes %s and %s have the same address %s",
                        other->id, n->id, n->addresses[n->n_addresses - 1]);
    }
    return 0;
}

static int check_id(const struct reader *r, struct xd_span id)
{
    if (!is_id(id))
        return fail(r,
                    "invalid node id '%.*s': use at most %d letters, digits, "
                    "'-', '_' and '.'",
                    (int)id.len, id.s, XD_MESH_ID_MAX);
    for (size_t i = 0; i < r->m->n_nodes; i++)
        if (xd_span_is_word(id, r->m->nodes[i].id))
            return fail(r, "there is a node %s already", r->m->nodes[i].id);
    return 0;
}

static int parse_node(struct reader *r, struct xd_span line)
{
    struct xd_mesh *m = r->m;
    struct xd_span id = take_word(&line);
    struct xd_mesh_node *grown, *n;
    int rc = check_id(r, id);

    if (rc < 0)
        return rc;
    if (m->n_nodes == XD_MESH_NODES_MAX)
        return fail(r, "more than %d nodes", XD_MESH_NODES_MAX);
    grown = xd_grow(m->nodes, m->n_nodes, &r->nodes_capacity, sizeof *m->nodes);
    if (grown == NULL)
        return xd_fail_nomem(r->err);
    m->nodes = grown;
    n = &m->nodes[m->n_nodes];
    *n = (struct xd_mesh_node){.id = xd_strndup(id.s, id.len)};
    if (n->id == NULL)
        return xd_fail_nomem(r->err);
    n->weight_seed = xd_scatter(xd_string_hash(id.s, id.len));
    m->n_nodes++;
    return parse_addresses(r, n, line);
}

static const struct {
    const char *word;
    int (*parse)(struct reader *, struct xd_span);
    size_t n_words; /* after the keyword; 0: any number */
} statements[] = {
    {"chunk", parse_chunk, 1},
    {"hops", parse_hops, 1},
    {"origin", parse_origin, 1},
    {"node", parse_node, 0},
};

static size_t count_words(struct xd_span line)
{
    size_t n = 0;

    while (take_word(&line).len > 0)
        n++;
    return n;
}

static int parse_statement(struct reader *r, struct xd_span line)
{
    struct xd_span word = take_word(&line);

    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        size_t n = statements[i].n_words;

        if (!xd_span_is(word, statements[i].word))
            continue;
        if (n > 0 && count_words(line) != n)
            return fail(r, "'%s' takes one word", statements[i].word);
        return statements[i].parse(r, line);
    }
    return fail(r, "unknown word '%.*s'", (int)word.len, word.s);
}

static int parse_line(struct reader *r, struct xd_span line)
{
    line = xd_span_trim(line);
    if (line.len == 0 || line.s[0] == '#')
        return 0;
    if (memchr(line.s, '\0', line.len) != NULL)
        return fail(r, "there is a NUL in it");
    if (r->has_header)
        return parse_statement(r, line);
    if (!xd_span_is(line, HEADER))
        return fail(r, "'%s' expected: this is no list of nodes", HEADER);
    r->has_header = true;
    return 0;
}

static int parse_lines(struct reader *r, struct xd_span text)
{
    while (text.len > 0) {
        const char *end = memchr(text.s, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.s) : text.len;
        int rc;

        r->line++;
        rc = parse_line(r, xd_span(text.s, len));
        if (rc < 0)
            return rc;
        xd_span_skip(&text, len + (end != NULL));
    }
    return 0;
}

/* Rejects an origin that is also a node, because it would request from
 * itself. */
static int check_origins(const struct reader *r)
{
    const struct xd_mesh *m = r->m;
    struct xd_url origin, address;

    for (size_t o = 0; o < m->n_origins; o++)
        for (size_t i = 0; i < m->n_nodes; i++)
            for (size_t k = 0; k < m->nodes[i].n_addresses; k++)
                if (xd_url_parse(&origin, m->origins[o]) &&
                    xd_url_parse(&address, m->nodes[i].addresses[k]) &&
                    xd_url_same_origin(&origin, &address))
                    return xd_fail(r->err, XD_E_MANIFEST,
                                   "%s: origin %s is node %s", r->name,
                                   m->origins[o], m->nodes[i].id);
    return 0;
}

static int check_whole(const struct reader *r)
{
    const struct xd_mesh *m = r->m;
    const char *missing = !r->has_header      ? HEADER
                          : m->chunk == 0     ? "chunk"
                          : m->hops == 0      ? "hops"
                          : m->n_origins == 0 ? "origin"
                          : m->n_nodes == 0   ? "node"
                                              : NULL;

    if (missing != NULL)
        return xd_fail(r->err, XD_E_MANIFEST, "%s: no line '%s'", r->name,
                       missing);
    return check_origins(r);
}

int xd_mesh_parse(struct xd_mesh **out, const void *text, size_t len,
                  const char *name, struct xd_error *err)
{
    struct reader r = {.m = xd_alloc(1, sizeof *r.m), .name = name, .err = err};
    int rc;

    *out = NULL;
    if (r.m == NULL)
        return xd_fail_nomem(err);
    rc = parse_lines(&r, xd_span(text, len));
    if (rc == 0)
        rc = check_whole(&r);
    if (rc < 0) {
        xd_mesh_free(r.m);
        return rc;
    }
    *out = r.m;
    return 0;
}
