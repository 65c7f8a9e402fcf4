/* SPDX-License-Identifier: MIT */
#include "mesh/mesh.h"

#include <string.h>

#include "base/alloc.h"
#include "base/scatter.h"
#include "base/text.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

static void free_strings(char **strings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        xd_free(strings[i]);
    xd_free(strings);
}

void xd_mesh_free(struct xd_mesh *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->n_nodes; i++) {
        xd_free(m->nodes[i].id);
        free_strings(m->nodes[i].addresses, m->nodes[i].n_addresses);
    }
    xd_free(m->nodes);
    free_strings(m->origins, m->n_origins);
    xd_free(m);
}

char *xd_mesh_write(const struct xd_mesh *m)
{
    struct xd_text t = {.s = NULL};
    bool in_mib = m->chunk % MIB == 0;

    xd_text_addf(&t, "xdownload nodes 1\nchunk %llu%s\nhops %u\n",
                 (unsigned long long)(m->chunk / (in_mib ? MIB : KIB)),
                 in_mib ? "m" : "k", m->hops);
    for (size_t i = 0; i < m->n_origins; i++)
        xd_text_addf(&t, "origin %s\n", m->origins[i]);
    for (size_t i = 0; i < m->n_nodes; i++) {
        xd_text_addf(&t, "node %s", m->nodes[i].id);
        for (size_t k = 0; k < m->nodes[i].n_addresses; k++)
            xd_text_addf(&t, " %s", m->nodes[i].addresses[k]);
        xd_text_addf(&t, "\n");
    }
    if (t.failed)
        xd_text_fini(&t);
    return t.s;
}

void xd_mesh_text_free(char *text)
{
    xd_free(text);
}

size_t xd_mesh_n_nodes(const struct xd_mesh *m)
{
    return m->n_nodes;
}

const char *xd_mesh_node_id(const struct xd_mesh *m, size_t i)
{
    return i < m->n_nodes ? m->nodes[i].id : NULL;
}

void xd_mesh_put_status(struct xd_text *t, const struct xd_mesh *m, size_t node)
{
    xd_text_addf(t,
                 "{\"id\": \"%s\", \"chunk\": %llu, \"hops\": %u, "
                 "\"origins\": [",
                 m->nodes[node].id, (unsigned long long)m->chunk, m->hops);
    for (size_t i = 0; i < m->n_origins; i++)
        xd_text_addf(t, "%s\"%s\"", i > 0 ? ", " : "", m->origins[i]);
    xd_text_addf(t, "]}\n");
}

/* Returns whether node a ranks before node b for the chunk with key `mixed`. */
static bool ranks_before(const struct xd_mesh_node *a,
                         const struct xd_mesh_node *b, uint64_t mixed)
{
    uint64_t x = xd_scatter(a->weight_seed ^ mixed);
    uint64_t y = xd_scatter(b->weight_seed ^ mixed);

    return x != y ? x > y : strcmp(a->id, b->id) < 0;
}

void xd_mesh_rank(const struct xd_mesh *m, uint64_t file_key, uint64_t chunk,
                  unsigned *out, unsigned n)
{
    uint64_t mixed = xd_scatter(file_key ^ xd_scatter(chunk));

    for (unsigned i = 0; i < m->n_nodes; i++) {
        unsigned at = i < n ? i : n;

        while (at > 0 &&
               ranks_before(&m->nodes[i], &m->nodes[out[at - 1]], mixed)) {
            if (at < n)
                out[at] = out[at - 1];
            at--;
        }
        if (at < n)
            out[at] = i;
    }
}
