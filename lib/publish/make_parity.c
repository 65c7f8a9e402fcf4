/* SPDX-License-Identifier: MIT */
#include "publish/make_parity.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "manifest/parity.h"
#include "publish/make_upload.h"

typedef unsigned long long ull;

int xd_upload_take_code(struct xd_upload *u, const struct xd_upload_wish *wish,
                        struct xd_error *err)
{
    if (!wish->code)
        return 0;
    if (wish->copies > 0)
        return xd_fail(err, XD_E_INVAL,
                       "a code stands in place of copies: give one of both");
    if (strcmp(xd_wish_format(wish), "metalink") == 0)
        return xd_fail(err, XD_E_INVAL,
                       "%s: a Metalink has no words for parity: write an "
                       "exNode",
                       wish->manifest);
    return xd_coding_parse(&u->coding, wish->code, err);
}

/* ---- stripes ---- */

int xd_upload_make_line(struct xd_upload *u, const struct xd_model_file *f,
                        uint64_t shard_bytes, uint64_t piece_bytes,
                        struct xd_error *err)
{
    const uint64_t size = xd_origin_size(u->origin);
    const struct xd_model_rare *rare = f ? f->rare : &xd_model_plain;
    size_t n = 0;
    int rc;

    if (rare->n_stripes > 0 || u->coding.k == 0)
        return xd_upload_line_init(&u->line, size, rare->stripes,
                                   rare->n_stripes, err);
    rc = xd_coding_stripes(&u->stripes, &n, u->coding, size, shard_bytes,
                           piece_bytes, err);
    if (rc < 0)
        return rc;
    xd_inventory_set_stripes(u->inventory, u->stripes, n);
    return xd_upload_line_init(&u->line, size, u->stripes, n, err);
}

static bool is_code(const struct xd_upload *u, const struct xd_model_stripe *s)
{
    return s->k == u->coding.k && s->n - s->k == u->coding.m;
}

int xd_upload_check_code(const struct xd_upload *u,
                         const struct xd_model_file *f, struct xd_error *err)
{
    const struct xd_model_stripe *s =
        f->rare->n_stripes > 0 ? f->rare->stripes : NULL;

    if (f->size == 0 || (s ? is_code(u, s) : u->coding.k == 0))
        return 0;
    if (!s)
        return xd_fail(err, XD_E_STATE,
                       "%s: its upload was begun without parity, and goes on "
                       "only so: to begin anew, use --force",
                       u->file_name);
    return xd_fail(err, XD_E_STATE,
                   "%s: its upload was begun with the code %u+%u, and goes on "
                   "only so: to begin anew, use --force",
                   u->file_name, s->k, s->n - s->k);
}

/* ---- hosts ---- */

static bool are_equal(struct xd_span a, struct xd_span b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.s, b.s, a.len) == 0);
}

/* Returns the number of the first store on this host, or n_workers.  Exact
 * names are compared first, because xd_store_is_on() may take the host of one
 * store for a bucket of another store. */
static size_t find_host(const struct xd_upload *u, struct xd_span host)
{
    size_t i = 0;

    while (i < u->n_workers &&
           !are_equal(xd_store_host(u->workers[i].store), host))
        i++;
    if (i < u->n_workers)
        return i;
    i = 0;
    while (i < u->n_workers && !xd_store_is_on(u->workers[i].store, host))
        i++;
    return i;
}

int64_t xd_upload_set_hosts(struct xd_upload *u, struct xd_error *err)
{
    size_t *hosts = xd_alloc(u->n_workers + 1, sizeof *hosts);
    int64_t n = 0;
    int rc;

    if (!hosts)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < u->n_workers; i++) {
        hosts[i] = find_host(u, xd_store_host(u->workers[i].store));
        n += hosts[i] == i;
    }
    rc = xd_plan_set_hosts(u->plan, hosts, err);
    xd_free(hosts);
    return rc < 0 ? rc : n;
}

/* ---- shards of a new file ---- */

int xd_upload_add_shard(struct xd_upload *u, size_t stripe, unsigned number,
                        unsigned wanted, struct xd_error *err)
{
    const struct xd_range range =
        xd_upload_line_shard(&u->line, stripe, number);
    const uint64_t length = xd_range_length(range);

    if (length == 0)
        return 0;
    xd_plan_begin_shard(u->plan, number);
    u->bytes_total += length * wanted;
    if (number >= u->line.stripes[stripe].k)
        u->parity_bytes += length * wanted;
    return xd_plan_add(u->plan, range, wanted, err);
}

int xd_upload_plan_shards(struct xd_upload *u, struct xd_error *err)
{
    const unsigned n = u->coding.k + u->coding.m;
    const int64_t n_hosts = xd_upload_set_hosts(u, err);
    int rc = n_hosts < 0 ? (int)n_hosts : 0;

    if (rc == 0 && n_hosts < n)
        return xd_fail(err, XD_E_INVAL,
                       "the code %u+%u puts the %u shards of a stripe on as "
                       "many hosts, and the stores that are given are on %u",
                       u->coding.k, u->coding.m, n, (unsigned)n_hosts);
    for (size_t s = 0; rc == 0 && s < u->line.n; s++) {
        rc = xd_plan_begin_group(u->plan, err);
        for (unsigned i = 0; rc == 0 && i < n; i++)
            rc = xd_upload_add_shard(u, s, i, 1, err);
    }
    xd_plan_end_group(u->plan);
    return rc;
}

/* ---- hosts that must not get a shard ---- */

/* Returns the host of a replica.  If one of our stores is on this host, returns
 * the store's spelling of the host name, so that names can be compared. */
static struct xd_span host_of(const struct xd_upload *u,
                              const struct xd_model_file *f, size_t place)
{
    const struct xd_span host = xd_url_host(&f->urls[place]);
    size_t store = xd_upload_store_of(u, f, place);

    if (store == u->n_workers)
        store = find_host(u, host);
    return store < u->n_workers ? xd_store_host(u->workers[store].store) : host;
}

/* Returns the store whose host is the only one with replicas of the extent.
 * Returns n_workers if replicas are on several hosts or on a host without a
 * store of ours. */
static size_t only_host(const struct xd_upload *u,
                        const struct xd_model_file *f,
                        const struct xd_model_extent *e, const bool *bad)
{
    struct xd_span only = xd_span(NULL, 0);
    bool has_one = false;

    for (size_t i = 0; i < e->n_replicas; i++) {
        const size_t place = e->first_replica + i;
        struct xd_span host;

        if (bad && bad[place])
            continue;
        host = host_of(u, f, place);
        if (has_one && !are_equal(host, only))
            return u->n_workers;
        only = host;
        has_one = true;
    }
    return has_one ? find_host(u, only) : u->n_workers;
}

bool xd_upload_has_data(const struct xd_upload *u, size_t store,
                        const struct xd_model_file *f,
                        const struct xd_model_extent *e, const bool *bad)
{
    const struct xd_span host = xd_store_host(u->workers[store].store);

    for (size_t i = e->first_replica; i < e->first_replica + e->n_replicas;
         i++) {
        if (!(bad && bad[i]) && are_equal(host_of(u, f, i), host))
            return true;
    }
    return false;
}

unsigned xd_upload_shard_of(const struct xd_model_stripe *s, struct xd_range r)
{
    unsigned first;

    if (r.begin < s->offset || r.end > s->offset + s->length)
        return XD_SHARD_NONE;
    first = (unsigned)((r.begin - s->offset) / s->shard_bytes);
    return first == (r.end - 1 - s->offset) / s->shard_bytes ? first
                                                             : XD_SHARD_NONE;
}

void xd_upload_use_data(struct xd_upload *u, const struct xd_overlaps *of,
                        size_t stripe, const bool *bad)
{
    const struct xd_model_stripe *s = &u->line.stripes[stripe];

    for (size_t i = 0; i < of->n; i++) {
        const struct xd_model_extent *e = &of->file->extents[of->list[i]];
        const struct xd_range bytes =
            xd_range_clip((struct xd_range){e->offset, e->offset + e->length},
                          (struct xd_range){s->offset, s->offset + s->length});
        const size_t host = only_host(u, of->file, e, bad);
        const unsigned shard = xd_upload_shard_of(s, bytes);

        if (host < u->n_workers)
            xd_plan_use_host(u->plan, host,
                             shard == XD_SHARD_NONE ? XD_SHARD_SEVERAL : shard);
    }
}

size_t xd_upload_store_of_parity(const struct xd_upload *u,
                                 const struct xd_model_shard_replica *r)
{
    const char *manage = r->manage ? r->manage : xd_stripe_replica(r).url;
    size_t i = 0;

    while (i < u->n_workers && !xd_store_has(u->workers[i].store, manage))
        i++;
    return i;
}

/* Returns the store whose host has the replica, or n_workers if it is on no
 * host of our stores. */
static size_t host_of_parity(const struct xd_upload *u,
                             const struct xd_model_shard_replica *r)
{
    const size_t store = xd_upload_store_of_parity(u, r);

    return find_host(u, store < u->n_workers
                            ? xd_store_host(u->workers[store].store)
                            : xd_url_host(&r->url));
}

void xd_upload_use_parity(struct xd_upload *u, size_t stripe,
                          const bool *bad_parity)
{
    const struct xd_model_stripe *s = &u->line.stripes[stripe];

    for (size_t i = 0; i < s->n_replicas; i++) {
        const size_t host = host_of_parity(u, &s->replicas[i]);

        if (host < u->n_workers &&
            !(bad_parity && bad_parity[s->first_place + i]))
            xd_plan_use_host(u->plan, host, XD_SHARD_NONE);
    }
}

bool xd_upload_has_parity(const struct xd_upload *u, size_t store,
                          size_t stripe, const bool *bad_parity)
{
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    const size_t host = find_host(u, xd_store_host(u->workers[store].store));

    for (size_t i = 0; i < s->n_replicas; i++) {
        if (!(bad_parity && bad_parity[s->first_place + i]) &&
            host_of_parity(u, &s->replicas[i]) == host)
            return true;
    }
    return false;
}

/* ---- parity for an existing file ---- */

/* Returns the number of parity shards without a replica. */
static unsigned count_missing(const struct xd_model_stripe *s)
{
    return s->n - s->k - xd_stripe_n_losses(s);
}

static bool lacks_parity(const struct xd_model_file *f)
{
    for (size_t i = 0; i < f->rare->n_stripes; i++)
        if (count_missing(&f->rare->stripes[i]) > 0)
            return true;
    return false;
}

int xd_upload_check_parity(const struct xd_upload *u,
                           const struct xd_model_file *f, bool goes_on,
                           struct xd_error *err)
{
    const struct xd_model_stripe *first = f->rare->stripes;

    if (u->coding.k == 0 || f->rare->n_stripes == 0)
        return 0;
    if (!is_code(u, first))
        return xd_fail(err, XD_E_STATE,
                       "%s: it has parity with the code %u+%u, and gets none "
                       "with another",
                       u->file_name, first->k, first->n - first->k);
    if (!goes_on && !lacks_parity(f))
        return xd_fail(err, XD_E_STATE, "%s: it has parity already",
                       u->file_name);
    return 0;
}

/* Returns whether the shard has replicas, but none on our stores. */
static bool is_elsewhere(const struct xd_upload *u,
                         const struct xd_model_stripe *s, unsigned number)
{
    const struct xd_model_shard *shard = xd_stripe_shard(s, number);

    if (!shard || shard->n_replicas == 0)
        return false;
    for (size_t i = 0; i < shard->n_replicas; i++)
        if (xd_upload_store_of_parity(
                u, &s->replicas[shard->first_replica + i]) < u->n_workers)
            return false;
    return true;
}

static int plan_stripe(struct xd_upload *u, const struct xd_overlaps *of,
                       size_t stripe, struct xd_error *err)
{
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    const unsigned missing = count_missing(s);
    int rc = xd_plan_begin_group(u->plan, err);

    if (rc < 0)
        return rc;
    xd_upload_use_data(u, of, stripe, NULL);
    xd_upload_use_parity(u, stripe, NULL);
    if (xd_plan_n_hosts(u->plan) < missing)
        return xd_fail(err, XD_E_INVAL,
                       "stripe %llu: %u shards of parity need as many hosts "
                       "that have no other shard of it, and are not the only "
                       "ones to have some of its bytes: the stores that are "
                       "given are on %zu such",
                       (ull)s->number, missing, xd_plan_n_hosts(u->plan));
    for (unsigned i = s->k; rc == 0 && i < s->n; i++)
        if (!is_elsewhere(u, s, i))
            rc = xd_upload_add_shard(u, stripe, i, 1, err);
    return rc;
}

int xd_upload_plan_parity(struct xd_upload *u, const struct xd_model_file *f,
                          struct xd_error *err)
{
    const int64_t n_hosts = xd_upload_set_hosts(u, err);
    struct xd_overlaps of = {.list = NULL};
    int rc = n_hosts < 0 ? (int)n_hosts : xd_overlaps_init(&of, f, err);

    for (size_t i = 0; rc == 0 && i < u->line.n; i++) {
        const struct xd_model_stripe *s = &u->line.stripes[i];

        xd_overlaps_move(&of,
                         (struct xd_range){s->offset, s->offset + s->length});
        rc = plan_stripe(u, &of, i, err);
    }
    xd_plan_end_group(u->plan);
    xd_overlaps_fini(&of);
    return rc;
}

/* ---- existing parity ---- */

static void count_shard(struct xd_upload *u, size_t stripe,
                        const struct xd_model_shard *shard)
{
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    const size_t extent = xd_plan_find(
        u->plan, xd_upload_line_shard(&u->line, stripe, shard->number));

    if (extent == XD_PLAN_NONE)
        return;
    /* the manifest keeps this hash, so new copies must match it */
    if (shard->sha256)
        snprintf(u->expected[extent], sizeof u->expected[extent], "%s",
                 shard->sha256);
    for (size_t i = 0; i < shard->n_replicas; i++) {
        const struct xd_model_shard_replica *r =
            &s->replicas[shard->first_replica + i];
        const size_t store = xd_upload_store_of_parity(u, r);

        if (store < u->n_workers)
            xd_upload_count_extent(u, extent, shard->sha256, store);
    }
}

void xd_upload_count_shards(struct xd_upload *u)
{
    for (size_t i = 0; i < u->line.n; i++) {
        const struct xd_model_stripe *s = &u->line.stripes[i];

        for (size_t k = 0; k < s->n_shards; k++)
            if (s->shards[k].number >= s->k)
                count_shard(u, i, &s->shards[k]);
    }
}
