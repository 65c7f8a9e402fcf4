/* SPDX-License-Identifier: MIT */
#include "engine/via.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/check.h"
#include "base/error.h"
#include "base/hosts.h"
#include "base/text.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/options.h"
#include "io/net_texts.h"
#include "manifest/model.h"
#include "os/small_file.h"

/* Maximum length of a node list.  A list of a thousand nodes with a few
 * addresses each, and as many origins, is shorter. */
#define MOST_TEXT ((size_t)1 << 20)

/* Number of nodes, besides the owners, that get a source for a chunk if the
 * download has many files. */
#define SPARE_NODES 1

/* ---- creation and release ---- */

static size_t count_addresses(const struct xd_mesh *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_nodes; i++)
        n += m->nodes[i].n_addresses;
    return n;
}

static int read_mesh(struct xd_mesh **out, const char *path,
                     struct xd_error *err)
{
    struct xd_text text = {0};
    int rc = xd_small_file_read(&text, path, MOST_TEXT + 1, err);

    if (rc == 0 && text.len == 0)
        rc = xd_fail_errno(err, XD_E_IO, ENOENT, "%s (via)", path);
    else if (rc == 0 && text.len > MOST_TEXT)
        rc = xd_fail(err, XD_E_MANIFEST,
                     "%s (via): longer than 1 MiB: no list of nodes is", path);
    if (rc == 0)
        rc = xd_mesh_parse(out, text.s, text.len, path, err);
    xd_text_fini(&text);
    return rc;
}

static unsigned copies_of(const struct xd_options *o, const struct xd_mesh *m)
{
    return o->via_copies < m->n_nodes ? (unsigned)o->via_copies
                                      : (unsigned)m->n_nodes;
}

int xd_via_new(struct xd_via **out, const struct xd_options *o,
               struct xd_error *err)
{
    struct xd_via *v;
    int rc;

    *out = NULL;
    if (!o->via || !o->via[0])
        return 0;
    v = xd_alloc(1, sizeof *v);
    if (!v)
        return xd_fail_nomem(err);
    rc = read_mesh(&v->mesh, o->via, err);
    if (rc == 0) {
        v->copies = copies_of(o, v->mesh);
        v->n_depots = count_addresses(v->mesh);
        v->depots = xd_alloc(v->n_depots, sizeof(struct xd_depot *));
        if (!v->depots)
            rc = xd_fail_nomem(err);
    }
    if (rc < 0)
        xd_via_free(v);
    else
        *out = v;
    return rc;
}

static void free_file(struct xd_via_file *f)
{
    if (f) {
        xd_free(f->validator);
        xd_free(f->named);
    }
    xd_free(f);
}

void xd_via_free(struct xd_via *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->n_files; i++)
        free_file(v->files[i]);
    xd_free(v->files);
    xd_free(v->depots);
    xd_free(v->refusal);
    xd_mesh_free(v->mesh);
    xd_free(v);
}

void xd_via_refuse(struct xd_via *v, const char *why)
{
    if (!v->refusal)
        v->refusal = xd_strdup(why);
}

/* ---- files that may use the mesh ---- */

static bool is_whole(const struct xd_model_file *f, size_t place)
{
    const struct xd_replica *more = f->replicas[place].more;

    return !more || (more->offset == 0 && more->object_size == f->size &&
                     !more->framing);
}

bool xd_via_find(const struct xd_via *v, const struct xd_model_file *f,
                 const struct xd_model_extent *e, struct xd_via_origin *out)
{
    for (size_t i = 0; i < e->n_replicas; i++) {
        size_t place;
        const struct xd_model_file *in = xd_model_replica(f, e, i, &place);

        if (e->length != in->size || !is_whole(in, place) ||
            !xd_mesh_takes(v->mesh, &in->urls[place]))
            continue;
        *out = (struct xd_via_origin){.in = in, .place = (uint32_t)place};
        return true;
    }
    return false;
}

static bool has_secret_header(const char *lines)
{
    while (lines && *lines) {
        if (xd_header_is_secret(lines))
            return true;
        lines += strcspn(lines, "\n");
        lines += *lines == '\n';
    }
    return false;
}

const char *xd_via_refuses(const struct xd_options *o, const struct xd_url *url)
{
    const struct xd_net_options *net = &o->net;
    const bool has_login = net->user || net->netrc || net->netrc_file ||
                           net->oauth2_bearer || net->cert ||
                           has_secret_header(net->headers);

    /* if memory runs out, assume that the credentials would be sent */
    return has_login && xd_hosts_have(net->auth_hosts, url) != 0
               ? "its origin needs credentials, which no cache may see"
               : NULL;
}

static bool has_tls(const char *address)
{
    return strncmp(address, "https:", 6) == 0;
}

static bool is_https(const struct xd_url *url)
{
    return url->scheme == XD_SCHEME_HTTPS;
}

bool xd_via_exposes(const struct xd_via *v, const struct xd_url *url)
{
    for (size_t i = 0; i < v->mesh->n_nodes; i++)
        for (size_t k = 0; k < v->mesh->nodes[i].n_addresses; k++)
            if (has_tls(v->mesh->nodes[i].addresses[k]))
                return false;
    return is_https(url);
}

/* ---- files of the mesh ---- */

static uint64_t count_chunks(const struct xd_via *v, struct xd_range range)
{
    return (xd_range_length(range) + v->mesh->chunk - 1) / v->mesh->chunk;
}

struct xd_range xd_via_chunk(const struct xd_via *v,
                             const struct xd_via_file *f, size_t i)
{
    const uint64_t begin = f->range.begin + i * v->mesh->chunk;

    return xd_range_clip((struct xd_range){begin, begin + v->mesh->chunk},
                         f->range);
}

size_t xd_via_chunk_of(const struct xd_via *v, const struct xd_via_file *f,
                       uint64_t byte)
{
    const size_t chunk = (size_t)((byte - f->range.begin) / v->mesh->chunk);

    XD_ASSERT(chunk < f->n_chunks);
    return chunk;
}

static const uint32_t *owners_of(const struct xd_via *v,
                                 const struct xd_via_file *f, size_t i)
{
    return &f->owners[i * v->copies];
}

/* Returns NULL when out of memory. */
static struct xd_via_file *make_file(const struct xd_via *v,
                                     struct xd_range range,
                                     const struct xd_via_origin *origin,
                                     const char *validator)
{
    const uint64_t n = count_chunks(v, range);
    struct xd_via_file *f;

    if (n > SIZE_MAX / sizeof f->owners[0] / v->copies / 2)
        return NULL;
    f = xd_alloc(1, sizeof *f + (size_t)n * v->copies * sizeof f->owners[0]);
    if (!f)
        return NULL;
    f->range = range;
    f->in = origin->in;
    f->place = origin->place;
    f->key = xd_mesh_file_key(&origin->in->urls[origin->place]);
    f->n_chunks = (size_t)n;
    f->named = xd_alloc(f->n_chunks, sizeof *f->named);
    f->validator = validator ? xd_strdup(validator) : NULL;
    if (!f->named || (validator && !f->validator)) {
        free_file(f);
        return NULL;
    }
    for (size_t i = 0; i < f->n_chunks; i++) {
        unsigned ranked[XD_VIA_COPIES_MAX];

        xd_mesh_rank(v->mesh, f->key, i, ranked, v->copies);
        for (unsigned k = 0; k < v->copies; k++)
            f->owners[i * v->copies + k] = ranked[k];
        f->named[i].last = ranked[0];
    }
    return f;
}

/* Adds a source; its depot may be new. */
static int add_source(struct xd_depots *d, struct xd_via_file *f, size_t node,
                      size_t address, size_t number)
{
    struct xd_via *v = d->via;
    char *text = xd_mesh_url(v->mesh, node, address, &f->in->urls[f->place]);
    struct xd_url url;
    int rc = XD_E_NOMEM;

    if (!text)
        return XD_E_NOMEM;
    xd_url_parse(&url, text);
    if (!v->depots[number])
        v->depots[number] = xd_depots_add_node(d, &url, v->mesh->nodes[node].id,
                                               (unsigned)node, address > 0);
    if (v->depots[number])
        rc = xd_depot_add_via(v->depots[number], f, f->range, &url);
    xd_free(text);
    return rc;
}

/* Returns true if the node should get a source for the file. */
static bool is_of_use(const struct xd_depots *d, const struct xd_via_file *f,
                      size_t node, const unsigned *ranked, unsigned n_ranked)
{
    if (d->size == xd_range_length(f->range) || f->n_chunks > 1)
        return true;
    for (unsigned i = 0; i < n_ranked; i++)
        if (ranked[i] == node)
            return true;
    return false;
}

static int add_sources(struct xd_depots *d, struct xd_via_file *f,
                       bool is_proved)
{
    const struct xd_mesh *m = d->via->mesh;
    const bool needs_tls = is_https(&f->in->urls[f->place]) && !is_proved;
    unsigned ranked[XD_VIA_COPIES_MAX + SPARE_NODES];
    unsigned n = d->via->copies + SPARE_NODES;
    size_t number = 0;

    if (n > m->n_nodes)
        n = (unsigned)m->n_nodes;
    xd_mesh_rank(m, f->key, 0, ranked, n);
    for (size_t i = 0; i < m->n_nodes; i++) {
        const bool is_used = is_of_use(d, f, i, ranked, n);

        for (size_t k = 0; k < m->nodes[i].n_addresses; k++, number++) {
            if (!is_used || (needs_tls && !has_tls(m->nodes[i].addresses[k])))
                continue;
            if (add_source(d, f, i, k, number) < 0)
                return XD_E_NOMEM;
        }
    }
    return 0;
}

int xd_via_add(struct xd_depots *d, struct xd_range range,
               const struct xd_via_origin *origin, const char *validator,
               bool is_proved)
{
    struct xd_via *v = d->via;
    struct xd_via_file *f = make_file(v, range, origin, validator);
    struct xd_via_file **files =
        f ? xd_grow(v->files, v->n_files, &v->capacity, sizeof *files) : NULL;

    if (files)
        v->files = files;
    if (!files) {
        free_file(f);
        return XD_E_NOMEM;
    }
    v->files[v->n_files++] = f;
    v->origin = xd_depots_find(d, &f->in->urls[f->place]);
    return add_sources(d, f, is_proved);
}

/* ---- choice of the node ---- */

uint8_t xd_via_tier(const struct xd_via *v, const struct xd_via_file *f,
                    size_t i, const struct xd_depot *depot)
{
    const uint32_t *owners = owners_of(v, f, i);

    if (depot->is_other_address)
        return XD_TIER_NODE;
    for (unsigned k = 0; k < v->copies; k++)
        if (owners[k] == depot->node)
            return XD_TIER_OWNER;
    return XD_TIER_NODE;
}

/* Returns true if the node was not dropped and has not failed recently.  A node
 * that fetches from a silent one is silent, too. */
static bool is_alive(const struct xd_via *v, size_t node)
{
    size_t number = 0;
    bool is_known = false;

    for (size_t i = 0; i < node; i++)
        number += v->mesh->nodes[i].n_addresses;
    for (size_t k = 0; k < v->mesh->nodes[node].n_addresses; k++) {
        const struct xd_depot *depot = v->depots[number + k];

        if (depot && !depot->is_banned && depot->state != XD_DEPOT_FAILED &&
            depot->state != XD_DEPOT_PAUSED)
            return true;
        is_known |= depot != NULL;
    }
    return !is_known;
}

/* Returns true if requests to other nodes may name the node as the owner. */
static bool leads(const struct xd_via *v, size_t node)
{
    return is_alive(v, node) && !v->misleads[node] && !v->avoids[node];
}

/* Returns the rank of the first node that requests may name as the owner of the
 * chunk, or 0 if there is none.  If a node of a better rank was skipped because
 * it has sent wrong bytes or is slow, sets *out_instead to the ID of the first
 * one, else to NULL. */
static size_t find_owner(const struct xd_via *v, const unsigned *ranked,
                         const char **out_instead)
{
    const size_t n = v->mesh->n_nodes;
    size_t rank = 0;

    *out_instead = NULL;
    for (; rank < n && !leads(v, ranked[rank]); rank++)
        if (!*out_instead &&
            (v->misleads[ranked[rank]] || v->avoids[ranked[rank]]))
            *out_instead = v->mesh->nodes[ranked[rank]].id;
    return rank < n ? rank : 0;
}

static uint32_t bit_of(size_t rank)
{
    return UINT32_C(1) << (rank < 31 ? rank : 31);
}

/* Chooses and stores the node that requests for the chunk will name as its
 * owner.  Returns the ID of the node that other nodes should bypass, or
 * NULL. */
static const char *name_owner(const struct xd_via *v,
                              const struct xd_via_file *f, size_t chunk)
{
    struct xd_via_named *named = &f->named[chunk];
    unsigned ranked[XD_MESH_NODES_MAX];
    const char *instead;
    size_t rank;

    named->last = owners_of(v, f, chunk)[0];
    named->ever |= bit_of(0);
    if (leads(v, named->last))
        return NULL;
    xd_mesh_rank(v->mesh, f->key, chunk, ranked, (unsigned)v->mesh->n_nodes);
    rank = find_owner(v, ranked, &instead);
    named->last = ranked[rank];
    named->ever |= bit_of(rank);
    return instead;
}

/* Appends a header field.  Returns the new length. */
static size_t add_field(char out[XD_VIA_FIELDS], size_t at, const char *name,
                        const char *value)
{
    const int len =
        snprintf(out + at, XD_VIA_FIELDS - at, "%s: %s\n", name, value);

    XD_ASSERT(len > 0 && (size_t)len < XD_VIA_FIELDS - at);
    return at + (size_t)len;
}

void xd_via_fields(const struct xd_depots *d, const struct xd_via_file *f,
                   uint64_t byte, char out[XD_VIA_FIELDS])
{
    const struct xd_via *v = d->via;
    const size_t chunk = xd_via_chunk_of(v, f, byte);
    const char *instead = name_owner(v, f, chunk);
    size_t at = 0;

    if (f->validator)
        at = add_field(out, at, XD_MESH_MATCH, f->validator);
    at = add_field(out, at, XD_MESH_OWNER,
                   v->mesh->nodes[f->named[chunk].last].id);
    if (instead)
        add_field(out, at, XD_MESH_INSTEAD, instead);
}

size_t xd_via_named(const struct xd_via *v, const struct xd_via_file *f,
                    uint64_t byte)
{
    return f->named[xd_via_chunk_of(v, f, byte)].last;
}

bool xd_via_was_named(const struct xd_via *v, const struct xd_via_file *f,
                      uint64_t byte, size_t node)
{
    const size_t chunk = xd_via_chunk_of(v, f, byte), n = v->mesh->n_nodes;
    unsigned ranked[XD_MESH_NODES_MAX];
    size_t rank = 0;

    xd_mesh_rank(v->mesh, f->key, chunk, ranked, (unsigned)n);
    while (rank < n && ranked[rank] != node)
        rank++;
    return (f->named[chunk].ever & bit_of(rank)) != 0;
}

const struct xd_depot *xd_via_origin(const struct xd_depots *d)
{
    const struct xd_via *v = d->via;

    return v && v->n_files == 1 ? v->origin : NULL;
}

unsigned xd_via_witness(const struct xd_depots *d, unsigned depot)
{
    const struct xd_depot *of =
        d->list[depot]->node_id ? xd_via_origin(d) : NULL;

    return of ? of->number : depot;
}
