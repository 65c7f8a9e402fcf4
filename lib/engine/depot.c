/* SPDX-License-Identifier: MIT */
#include "engine/depot.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limit.h"
#include "engine/depot_parts.h"
#include "engine/source.h"
#include "manifest/model.h"
#include "transfer/hosts.h"
#include "transfer/registry.h"

static int by_place(const void *a, const void *b)
{
    const struct xd_depot_source *x = a, *y = b;

    if (x->range.begin != y->range.begin)
        return x->range.begin < y->range.begin ? -1 : 1;
    return xd_source_compare(x, y);
}

struct xd_depot_source *xd_depot_next_source(const struct xd_depot *d,
                                             const struct xd_depot_source *s)
{
    const struct xd_added_source *last = (const struct xd_added_source *)s;
    struct xd_added_source *added = d->added;
    size_t next = 0, appended = 0;

    if (s && s->order == XD_ORDER_ADDED)
        added = last->next;
    else if (s && s->order == XD_ORDER_APPENDED)
        appended = s->furthest + (size_t)1;
    else if (s)
        next = (size_t)(s - d->sources) + 1;
    if ((!s || s->order < XD_ORDER_APPENDED) && next < d->n_sources)
        return &d->sources[next];
    if ((!s || s->order != XD_ORDER_ADDED) && appended < d->n_appended)
        return d->appended[appended];
    return added ? &added->source : NULL;
}

const struct xd_depot_source *xd_depot_best_source(const struct xd_depot *d)
{
    const struct xd_depot_source *best = xd_depot_next_source(d, NULL);

    if (!best && d->n_parity > 0)
        return d->parity[0];
    for (const struct xd_depot_source *s = best; s;
         s = xd_depot_next_source(d, s)) {
        if (xd_source_compare(s, best) < 0)
            best = s;
    }
    return best;
}

/* Returns the number of sources that begin at or before `begin`. */
static size_t count_before(const struct xd_depot *d, uint64_t begin)
{
    return xd_count_up_to(begin, d->sources, d->n_sources, sizeof *d->sources,
                          offsetof(struct xd_depot_source, range.begin));
}

/* Returns the number of sources in a list that begin at or before `begin`. */
static size_t count_listed(struct xd_depot_source *const *list, size_t n,
                           uint64_t begin)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (list[middle]->range.begin <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t count_appended(const struct xd_depot *d, uint64_t begin)
{
    return count_listed(d->appended, d->n_appended, begin);
}

/* Returns true if all sources up to this one end before `byte`. */
static bool all_end_before(const struct xd_depot *d,
                           const struct xd_depot_source *s, uint64_t byte)
{
    return d->sources[s->furthest].range.end < byte;
}

static int add_held(struct xd_rangeset *out, const struct xd_depot_source *s,
                    struct xd_range within)
{
    return s->is_gone ? 0
                      : xd_rangeset_add(out, xd_range_clip(s->range, within));
}

int xd_depot_holds(const struct xd_depot *depot, struct xd_range within,
                   struct xd_rangeset *out)
{
    size_t end = count_before(depot, within.end - 1), i = end;
    int rc = 0;

    xd_rangeset_init(out);
    while (i > 0 &&
           !all_end_before(depot, &depot->sources[i - 1], within.begin + 1))
        i--;
    for (; rc == 0 && i < end; i++)
        rc = add_held(out, &depot->sources[i], within);
    end = i = count_appended(depot, within.end - 1);
    while (i > 0 && depot->appended[i - 1]->range.end > within.begin)
        i--;
    for (; rc == 0 && i < end; i++)
        rc = add_held(out, depot->appended[i], within);
    for (struct xd_added_source *a = depot->added; rc == 0 && a; a = a->next)
        rc = add_held(out, &a->source, within);
    for (i = 0; rc == 0 && i < depot->wrong.n; i++)
        rc = xd_rangeset_remove(out, depot->wrong.ranges[i]);
    if (rc < 0)
        xd_rangeset_fini(out);
    return rc;
}

static int count_held(struct xd_depot *d)
{
    const struct xd_range everything = {0, XD_SIZE_UNKNOWN};
    struct xd_rangeset held;

    if (xd_depot_holds(d, everything, &held) < 0)
        return XD_E_NOMEM;
    d->bytes_held = held.bytes;
    if (held.n == 1 && held.ranges[0].end == XD_SIZE_UNKNOWN)
        d->bytes_held = XD_SIZE_UNKNOWN;
    xd_rangeset_fini(&held);
    return 0;
}

/* Sets the host and the URLs of the depot.  Errors: NOMEM. */
static int name_depot(struct xd_depot *d, const struct xd_url *url)
{
    d->url = *url;
    d->kind = xd_transport_kind_of(url);
    d->host = xd_url_depot(url);
    d->shown_url = xd_url_public(url);
    return d->host && d->shown_url ? 0 : XD_E_NOMEM;
}

/* Sorts by position, then best first. */
static void sort_sources(struct xd_depot *d)
{
    uint32_t furthest = 0;

    qsort(d->sources, d->n_sources, sizeof *d->sources, by_place);
    for (size_t i = 0; i < d->n_sources; i++) {
        struct xd_depot_source *s = &d->sources[i];

        if (s->range.end > d->sources[furthest].range.end)
            furthest = (uint32_t)i;
        s->furthest = furthest;
        d->max_connections = xd_stricter_limit(
            d->max_connections, xd_source_replica(s)->max_connections);
    }
}

struct xd_depot *xd_depot_new_of(struct xd_depot_source *sources, size_t n)
{
    struct xd_depot *d = xd_alloc(1, sizeof *d);

    if (!d) {
        xd_free(sources);
        return NULL;
    }
    d->first_byte = XD_NEVER;
    d->sources = sources;
    d->n_sources = d->n_left = n;
    sort_sources(d);
    if (name_depot(d, xd_source_url(xd_depot_best_source(d))) == 0 &&
        count_held(d) == 0)
        return d;
    xd_depot_free(d);
    return NULL;
}

struct xd_depot *xd_depot_new(const struct xd_url *url)
{
    struct xd_depot *depot = xd_alloc(1, sizeof *depot);

    if (!depot)
        return NULL;
    depot->first_byte = XD_NEVER;
    if (name_depot(depot, url) == 0)
        return depot;
    xd_depot_free(depot);
    return NULL;
}

void xd_depot_free(struct xd_depot *d)
{
    xd_host_release(d->at_host);
    xd_free(d->host);
    xd_rangeset_fini(&d->wrong);
    xd_free(d->shown_url);
    xd_kept_error_free(d->last_error);
    xd_kept_error_free(d->avoided_why);
    xd_free(d->addresses);
    for (size_t i = 0; i < d->n_sources; i++)
        xd_source_free_facts(&d->sources[i]);
    xd_free(d->sources);
    for (size_t i = 0; i < d->n_appended; i++)
        xd_appended_source_free(d->appended[i]);
    xd_free(d->appended);
    for (size_t i = 0; i < d->n_parity; i++)
        xd_parity_source_free(d->parity[i]);
    xd_free(d->parity);
    while (d->added) {
        struct xd_added_source *next = d->added->next;

        xd_added_source_free(d->added);
        d->added = next;
    }
    xd_free(d);
}

int xd_depot_add_source(struct xd_depot *depot,
                        const struct xd_new_source *what)
{
    struct xd_added_source *a = xd_added_source_new(what);

    if (!a)
        return XD_E_NOMEM;
    if (!xd_depot_next_source(depot, NULL))
        depot->url = *a->url; /* its string lives as long as the depot */
    a->next = depot->added;
    depot->added = a;
    if (count_held(depot) < 0) {
        depot->added = a->next;
        xd_added_source_free(a);
        return XD_E_NOMEM;
    }
    depot->n_left++;
    depot->max_connections =
        xd_stricter_limit(depot->max_connections, what->max_connections);
    return 0;
}

/* Appends a source.  Its bytes lie after those of all others, or it is one more
 * source of the same file as the last one.  Errors: NOMEM. */
static int put_appended(struct xd_depot *depot, struct xd_depot_source *s)
{
    struct xd_depot_source **list =
        xd_grow(depot->appended, depot->n_appended, &depot->appended_capacity,
                sizeof(struct xd_depot_source *));
    const struct xd_depot_source *last;

    if (!list)
        return XD_E_NOMEM;
    depot->appended = list;
    s->order = XD_ORDER_APPENDED;
    s->furthest = (uint32_t)depot->n_appended;
    last = depot->n_appended > 0 ? list[depot->n_appended - 1] : NULL;
    if (!last || last->range.begin < s->range.begin)
        depot->bytes_held += xd_range_length(s->range);
    list[depot->n_appended++] = s;
    depot->n_left++;
    depot->max_connections = xd_stricter_limit(
        depot->max_connections, xd_source_replica(s)->max_connections);
    return 0;
}

int xd_depot_append_source(struct xd_depot *depot, struct xd_range range,
                           const struct xd_model_file *in, uint32_t place)
{
    struct xd_depot_source *s = xd_appended_source_new(range, in, place);

    if (!s)
        return XD_E_NOMEM;
    if (put_appended(depot, s) == 0)
        return 0;
    xd_appended_source_free(s);
    return XD_E_NOMEM;
}

int xd_depot_add_via(struct xd_depot *depot, const struct xd_via_file *via,
                     struct xd_range range, const struct xd_url *url)
{
    struct xd_depot_source *s = xd_node_source_new(via, range, url);

    if (!s)
        return XD_E_NOMEM;
    if (put_appended(depot, s) < 0) {
        xd_appended_source_free(s);
        return XD_E_NOMEM;
    }
    if (depot->n_appended == 1)
        depot->url =
            *xd_source_url(s); /* its string lives as long as the depot */
    return 0;
}

int xd_depot_add_parity(struct xd_depot *depot,
                        const struct xd_model_stripe *stripe, unsigned number,
                        const struct xd_model_shard_replica *replica)
{
    struct xd_depot_source **list =
        xd_grow(depot->parity, depot->n_parity, &depot->parity_capacity,
                sizeof(struct xd_depot_source *));

    if (!list)
        return XD_E_NOMEM;
    depot->parity = list;
    list[depot->n_parity] = xd_parity_source_new(stripe, number, replica);
    if (!list[depot->n_parity])
        return XD_E_NOMEM;
    depot->n_parity++;
    depot->n_left++;
    return 0;
}

/* Returns true if `s` may be used and is better than `best`, which may be
 * NULL. */
static bool is_better(const struct xd_depot_source *s,
                      const struct xd_depot_source *best, bool may_be_gone)
{
    return (!s->is_gone || may_be_gone) &&
           (!best || xd_source_compare(s, best) < 0);
}

static struct xd_depot_source *find_source(struct xd_depot *depot,
                                           struct xd_range range,
                                           bool may_be_gone)
{
    /* Maximum number of sources to examine after the first match.  It suffices
     * for all alternatives in real manifests, and limits the cost if a manifest
     * lists a whole replica together with 100,000 fragments. */
    enum { ENOUGH = 64 };
    struct xd_depot_source *best = NULL;
    size_t looked_at = 0;

    for (size_t i = count_before(depot, range.begin); i-- > 0;) {
        struct xd_depot_source *s = &depot->sources[i];

        if (all_end_before(depot, s, range.end) ||
            (best && ++looked_at > ENOUGH))
            break;
        if (s->range.end >= range.end && is_better(s, best, may_be_gone))
            best = s;
    }
    for (size_t i = count_appended(depot, range.begin);
         i-- > 0 && depot->appended[i]->range.end >= range.end;) {
        if (is_better(depot->appended[i], best, may_be_gone))
            best = depot->appended[i];
    }
    for (struct xd_added_source *a = depot->added; a; a = a->next) {
        struct xd_depot_source *s = &a->source;

        if (s->range.begin <= range.begin && range.end <= s->range.end &&
            is_better(s, best, may_be_gone))
            best = s;
    }
    return best;
}

struct xd_depot_source *xd_depot_source(struct xd_depot *depot,
                                        struct xd_range range)
{
    return find_source(depot, range, false);
}

struct xd_depot_source *xd_depot_parity(const struct xd_depot *depot,
                                        uint64_t byte, size_t i)
{
    size_t at = count_listed(depot->parity, depot->n_parity, byte);

    for (; at > 0 && depot->parity[at - 1]->range.end > byte; at--)
        if (!depot->parity[at - 1]->is_gone && i-- == 0)
            return depot->parity[at - 1];
    return NULL;
}

const struct xd_depot_source *xd_depot_any_source(struct xd_depot *depot,
                                                  struct xd_range range)
{
    return find_source(depot, range, true);
}

void xd_depot_drop_source(struct xd_depot *depot,
                          struct xd_depot_source *source)
{
    depot->n_left -= !source->is_gone;
    source->is_gone = true;
}

void xd_depot_drop_sources(struct xd_depot *depot)
{
    struct xd_depot_source *s = NULL;

    while ((s = xd_depot_next_source(depot, s)))
        xd_depot_drop_source(depot, s);
    for (size_t i = 0; i < depot->n_parity; i++)
        xd_depot_drop_source(depot, depot->parity[i]);
}

void xd_depot_restore_source(struct xd_depot *depot,
                             struct xd_depot_source *source)
{
    depot->n_left += source->is_gone;
    source->is_gone = false;
}

enum xd_reach xd_depot_reach(const struct xd_depot *depot)
{
    enum xd_reach reach = XD_REACH_PUBLIC;

    for (const struct xd_depot_source *s = NULL;
         (s = xd_depot_next_source(depot, s));) {
        if (xd_source_reach(s) < reach)
            reach = xd_source_reach(s);
    }
    return reach;
}

void xd_depot_set_error(struct xd_depot *depot, const struct xd_error *why)
{
    struct xd_error located = *why;

    if (why->depot[0] == '\0')
        xd_error_locate(&located, depot->host, depot->shown_url);
    xd_kept_error_free(depot->last_error);
    depot->last_error = xd_error_keep(&located);
}

void xd_depot_note_failure(struct xd_depot *depot, const struct xd_error *why)
{
    depot->failures++;
    depot->needs_login = false;
    xd_depot_set_error(depot, why);
}

void xd_depot_lose_source(struct xd_depot *depot,
                          struct xd_depot_source *source,
                          const struct xd_error *why)
{
    struct xd_source_facts *facts = xd_source_facts(source);

    xd_depot_drop_source(depot, source);
    if (!facts)
        return;
    xd_kept_error_free(facts->error);
    facts->error = xd_error_keep(why);
}

const struct xd_kept_error *xd_depot_why_not(const struct xd_depot *depot,
                                             uint64_t byte)
{
    const struct xd_kept_error *error = NULL;
    bool is_found = false;

    for (size_t i = count_before(depot, byte); i-- > 0;) {
        const struct xd_depot_source *s = &depot->sources[i];

        if (all_end_before(depot, s, byte + 1))
            break;
        if (s->range.end <= byte || error)
            continue;
        is_found = true;
        error = xd_source_known(s)->error;
    }
    for (size_t i = count_appended(depot, byte);
         i-- > 0 && depot->appended[i]->range.end > byte && !error;) {
        is_found = true;
        error = xd_source_known(depot->appended[i])->error;
    }
    return error || !is_found ? error : depot->last_error;
}
