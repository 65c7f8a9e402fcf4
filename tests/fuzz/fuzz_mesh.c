/* SPDX-License-Identifier: MIT */
/*
 * The text of a mesh, and behind it, after a line "--", URLs.  What is read is
 * written and read again; a file that the mesh takes has a URL at each node that
 * we read as that node's, and ranks of all nodes.
 */
#include "base/alloc.h"
#include "fuzz.h"
#include "mesh/mesh.h"
#include "nodes/nginx.h"

static void check_text(const struct xd_mesh *m)
{
    char *text = xd_mesh_write(m), *again;
    struct xd_mesh *copy;

    FUZZ_CHECK(text != NULL);
    FUZZ_CHECK(xd_mesh_parse(&copy, text, strlen(text), "copy", NULL) == 0);
    again = xd_mesh_write(copy);
    FUZZ_CHECK(again != NULL && strcmp(again, text) == 0);
    FUZZ_CHECK(copy->chunk == m->chunk && copy->n_nodes == m->n_nodes);
    xd_free(again);
    xd_free(text);
    xd_mesh_free(copy);
}

/* A configuration has no byte but those of its language: the text of a mesh cannot
 * end a line of it, nor a string. */
static void check_nginx(const struct xd_mesh *m)
{
    char *text;

    if (xd_mesh_nginx_text(m, 0, NULL, &text, NULL) < 0)
        return;
    for (const char *s = text; *s != '\0'; s++)
        FUZZ_CHECK(*s == '\n' || (*s >= ' ' && *s <= '~'));
    for (size_t i = 0; i < m->n_origins; i++)
        FUZZ_CHECK(strpbrk(m->origins[i], "\"'\\$;{}()# \t") == NULL);
    xd_free(text);
}

static void check_rank(const struct xd_mesh *m, const struct xd_url *u)
{
    static unsigned out[XD_MESH_NODES_MAX];
    static bool is_there[XD_MESH_NODES_MAX];
    unsigned n = (unsigned)m->n_nodes < 20 ? (unsigned)m->n_nodes : 20;

    memset(is_there, 0, sizeof is_there);
    xd_mesh_rank(m, xd_mesh_file_key(u), 5, out, n);
    for (unsigned i = 0; i < n; i++) {
        FUZZ_CHECK(out[i] < m->n_nodes && !is_there[out[i]]);
        is_there[out[i]] = true;
    }
}

static bool has_dots(struct xd_span path)
{
    for (; path.len >= 3; xd_span_skip(&path, 1))
        if (memcmp(path.s, "/..", 3) == 0 &&
            (path.len == 3 || path.s[3] == '/'))
            return true;
    return false;
}

static void try_url(const struct xd_mesh *m, const char *s)
{
    struct xd_url u, at_node, address;

    (void)xd_url_parse(&u, s);
    if (!xd_mesh_takes(m, &u))
        return;
    FUZZ_CHECK(!xd_url_has_login(&u) && !has_dots(xd_url_path(&u)));
    for (size_t i = 0; i < m->n_nodes; i++) {
        const char *node = m->nodes[i].addresses[0];
        char *url = xd_mesh_url(m, i, 0, &u);

        FUZZ_CHECK(url != NULL && xd_url_parse(&address, node));
        FUZZ_CHECK(!xd_url_parse(&at_node, url) ||
                   xd_url_same_origin(&at_node, &address));
        xd_free(url);
    }
    check_rank(m, &u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char between[] = "\n--\n";
    size_t at = 0, line_len;
    struct fuzz_input in;
    struct xd_mesh *m;
    char *line;

    while (at < len && (len - at < 4 || memcmp(data + at, between, 4) != 0))
        at++;
    if (xd_mesh_parse(&m, data, at, "mesh", NULL) < 0)
        return 0;
    check_text(m);
    check_nginx(m);
    in = fuzz_input(data + at, len - at);
    while ((line = fuzz_line(&in, &line_len)) != NULL) {
        try_url(m, line);
        free(line);
    }
    xd_mesh_free(m);
    return 0;
}
