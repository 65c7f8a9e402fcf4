/* SPDX-License-Identifier: MIT */
#include "engine/source.h"

#include "base/alloc.h"
#include "base/error.h"
#include "engine/depot_parts.h"
#include "manifest/model.h"

/* The source of a mesh node. */
struct node_source {
    struct xd_depot_source source; /* must be the first member */
    struct xd_model_file file;
    struct xd_model_replica replica;
    const struct xd_via_file *via;
    struct xd_url *url; /* includes its string */
};

/* The source of a parity shard. */
struct parity_source {
    struct xd_depot_source source; /* must be the first member */
    struct xd_model_file file;
    struct xd_model_replica replica;
    struct xd_replica more;
    struct xd_url url; /* its string belongs to the manifest */
    struct xd_source_parity parity;
};

const struct xd_model_replica *xd_source_replica(
    const struct xd_depot_source *s)
{
    return &s->in->replicas[s->place];
}

static unsigned priority_of(const struct xd_depot_source *s)
{
    return xd_source_replica(s)->priority;
}

int xd_source_compare(const struct xd_depot_source *x,
                      const struct xd_depot_source *y)
{
    if (x->is_preferred != y->is_preferred)
        return x->is_preferred ? -1 : 1;
    if (priority_of(x) != priority_of(y))
        return priority_of(x) < priority_of(y) ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

const struct xd_url *xd_source_url(const struct xd_depot_source *s)
{
    return &s->in->urls[s->place];
}

uint64_t xd_source_offset(const struct xd_depot_source *s)
{
    return xd_model_offset(s->in, s->place);
}

uint64_t xd_source_at(const struct xd_depot_source *s, uint64_t byte)
{
    uint64_t in_source = byte - s->range.begin;

    if (s->is_parity)
        in_source %= xd_source_parity(s).stripe->shard_bytes;
    return xd_source_offset(s) + in_source;
}

struct xd_range xd_source_part(const struct xd_depot_source *s,
                               struct xd_range of_object)
{
    const uint64_t offset = xd_source_offset(s);
    const struct xd_range has = {offset, offset + xd_range_length(s->range)};
    const struct xd_range part = xd_range_clip(of_object, has);

    if (s->is_parity || xd_source_framing(s) || xd_range_is_empty(part))
        return (struct xd_range){0, 0};
    return (struct xd_range){part.begin - offset + s->range.begin,
                             part.end - offset + s->range.begin};
}

struct xd_source_parity xd_source_parity(const struct xd_depot_source *s)
{
    return ((const struct parity_source *)s)->parity;
}

uint64_t xd_source_object_size(const struct xd_depot_source *s)
{
    return s->is_sized ? s->range.end : xd_model_object_size(s->in, s->place);
}

const struct xd_framing *xd_source_framing(const struct xd_depot_source *s)
{
    return xd_model_framing(s->in, s->place);
}

enum xd_reach xd_source_reach(const struct xd_depot_source *s)
{
    return xd_model_reach(s->in, s->place);
}

const struct xd_via_file *xd_source_via(const struct xd_depot_source *s)
{
    return s->is_of_node ? ((const struct node_source *)s)->via : NULL;
}

const struct xd_source_facts *xd_source_known(const struct xd_depot_source *s)
{
    static const struct xd_source_facts none;

    return s->facts ? s->facts : &none;
}

struct xd_source_facts *xd_source_facts(struct xd_depot_source *s)
{
    if (!s->facts)
        s->facts = xd_alloc(1, sizeof *s->facts);
    return s->facts;
}

void xd_source_free_facts(struct xd_depot_source *s)
{
    struct xd_source_facts *f = s->facts;

    if (!f)
        return;
    xd_free(f->check);
    xd_free(f->validator);
    xd_free(f->media_type);
    xd_free(f->stated_by);
    xd_free(f->final_url);
    xd_kept_error_free(f->error);
    xd_free(f);
    s->facts = NULL;
}

void xd_source_forget(struct xd_depot_source *s)
{
    const struct xd_source_facts *f = xd_source_known(s);

    if (!f->check && !f->error && f->modified == 0)
        xd_source_free_facts(s);
}

static bool is_led_on(const struct xd_depot_source *source)
{
    return source && xd_source_known(source)->final_url &&
           !source->final_url_fails;
}

const struct xd_url *xd_source_request_url(const struct xd_depot_source *source)
{
    if (!source)
        return NULL;
    return is_led_on(source) ? source->facts->final_url : xd_source_url(source);
}

enum xd_reach xd_source_request_reach(const struct xd_depot_source *source)
{
    if (!source)
        return XD_REACH_PUBLIC;
    return is_led_on(source) ? source->facts->reach : xd_source_reach(source);
}

struct xd_added_source *xd_added_source_new(const struct xd_new_source *what)
{
    struct xd_added_source *a = xd_alloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->url = xd_url_copy(&what->url);
    if (!a->url) {
        xd_free(a);
        return NULL;
    }
    a->more = (struct xd_replica){.struct_size = sizeof a->more,
                                  .offset = what->object_offset,
                                  .object_size = what->object_size};
    a->replica =
        (struct xd_model_replica){.priority = what->priority,
                                  .max_connections = what->max_connections,
                                  .more = &a->more};
    a->file = (struct xd_model_file){.size = what->object_size,
                                     .replicas = &a->replica,
                                     .urls = a->url,
                                     .rare = &xd_model_plain};
    a->source = (struct xd_depot_source){
        .range = what->range, .in = &a->file, .order = XD_ORDER_ADDED};
    return a;
}

void xd_added_source_free(struct xd_added_source *a)
{
    xd_source_free_facts(&a->source);
    xd_free(a->url);
    xd_free(a);
}

struct xd_depot_source *xd_appended_source_new(struct xd_range range,
                                               const struct xd_model_file *in,
                                               uint32_t place)
{
    struct xd_depot_source *s = xd_alloc(1, sizeof *s);

    if (s)
        *s = (struct xd_depot_source){.range = range, .in = in, .place = place};
    return s;
}

struct xd_depot_source *xd_node_source_new(const struct xd_via_file *via,
                                           struct xd_range range,
                                           const struct xd_url *url)
{
    struct node_source *n = xd_alloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->url = xd_url_copy(url);
    if (!n->url) {
        xd_free(n);
        return NULL;
    }
    n->replica.priority = XD_PRIORITY_NONE;
    n->file = (struct xd_model_file){.size = xd_range_length(range),
                                     .replicas = &n->replica,
                                     .urls = n->url,
                                     .rare = &xd_model_plain};
    n->via = via;
    n->source = (struct xd_depot_source){
        .range = range, .in = &n->file, .is_of_node = true};
    return &n->source;
}

struct xd_depot_source *xd_parity_source_new(
    const struct xd_model_stripe *stripe, unsigned number,
    const struct xd_model_shard_replica *replica)
{
    struct parity_source *p = xd_alloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->url = replica->url;
    p->more = (struct xd_replica){.struct_size = sizeof p->more,
                                  .offset = replica->offset,
                                  .object_size = XD_SIZE_UNKNOWN};
    p->replica = (struct xd_model_replica){.priority = XD_PRIORITY_NONE,
                                           .more = &p->more};
    p->file = (struct xd_model_file){.size = XD_SIZE_UNKNOWN,
                                     .replicas = &p->replica,
                                     .urls = &p->url,
                                     .rare = &xd_model_plain};
    p->parity = (struct xd_source_parity){stripe, number};
    p->source = (struct xd_depot_source){
        .range = {stripe->offset, stripe->offset + stripe->length},
        .in = &p->file,
        .order = XD_ORDER_PARITY,
        .is_parity = true};
    return &p->source;
}

void xd_parity_source_free(struct xd_depot_source *s)
{
    xd_source_free_facts(s);
    xd_free(s);
}

void xd_appended_source_free(struct xd_depot_source *s)
{
    xd_source_free_facts(s);
    if (s->is_of_node)
        xd_free(((struct node_source *)s)->url);
    xd_free(s);
}
