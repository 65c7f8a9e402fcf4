/* SPDX-License-Identifier: MIT */
#include "engine/depots.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/choice.h"
#include "base/error.h"
#include "base/text.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/depot_parts.h"
#include "engine/source.h"
#include "manifest/model.h"
#include "transfer/registry.h"

/* A replica of the manifest while depots are created.  Kept small, as there may
 * be 100,000. */
struct entry {
    struct xd_range range;
    const struct xd_model_file *in;
    uint32_t place, order;
};

struct entries {
    struct entry *list;
    size_t n;
    const struct xd_choice *choice;
    size_t n_files_refused;
};

static const struct xd_model_replica *entry_replica(const struct entry *e)
{
    return &e->in->replicas[e->place];
}

static const struct xd_url *entry_url(const struct entry *e)
{
    return &e->in->urls[e->place];
}

/* Sorts by depot.  A web server and an IBP depot at the same host and port are
 * different depots. */
static int by_depot(const struct entry *x, const struct entry *y)
{
    int c = xd_url_compare_depots(entry_url(x), entry_url(y));

    return c != 0 ? c
                  : strcmp(xd_transport_kind_of(entry_url(x))->name,
                           xd_transport_kind_of(entry_url(y))->name);
}

/* Sorts by depot, object and position, then by preference. */
static int by_object(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = by_depot(x, y);

    if (c == 0)
        c = xd_url_compare(entry_url(x), entry_url(y));
    if (c != 0)
        return c;
    if (x->range.begin != y->range.begin)
        return x->range.begin < y->range.begin ? -1 : 1;
    if (entry_replica(x)->priority != entry_replica(y)->priority)
        return entry_replica(x)->priority < entry_replica(y)->priority ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Returns true if `next` continues `e`, in the file and in the object. */
static bool continues(const struct entry *e, const struct entry *next)
{
    const struct xd_model_replica *r = entry_replica(e),
                                  *s = entry_replica(next);

    return e->range.end == next->range.begin &&
           xd_model_offset(e->in, e->place) + xd_range_length(e->range) ==
               xd_model_offset(next->in, next->place) &&
           xd_model_object_size(e->in, e->place) ==
               xd_model_object_size(next->in, next->place) &&
           !xd_model_framing(e->in, e->place) &&
           !xd_model_framing(next->in, next->place) &&
           r->priority == s->priority &&
           r->max_connections == s->max_connections &&
           r->location == s->location &&
           xd_url_compare(entry_url(e), entry_url(next)) == 0;
}

/* Joins consecutive extents of one object to one source.  Requests still do not
 * cross the boundary of an extent.  Returns the number of entries left. */
static size_t join_entries(struct entry *e, size_t n)
{
    size_t n_left = 0;

    for (size_t i = 0; i < n; i++) {
        if (n_left > 0 && continues(&e[n_left - 1], &e[i]))
            e[n_left - 1].range.end = e[i].range.end;
        else
            e[n_left++] = e[i];
    }
    return n_left;
}

/* Returns a positive value if the replica may not be used, 0 if it may, and a
 * negative code on failure. */
static int refuses(struct entries *e, const struct xd_url *url)
{
    const struct xd_transport_kind *kind = xd_transport_kind_of(url);
    const char *why;

    if (!kind)
        return 1;
    if (kind->reads_machine && !e->choice->allow_file) {
        e->n_files_refused++;
        return 1;
    }
    return xd_choice_refuses(e->choice, url, &why);
}

/* Adds replica number `k` of file `f`, which contains the extent. */
static int add_entry(struct entries *e, const struct xd_model_extent *extent,
                     const struct xd_model_file *f, size_t k)
{
    struct entry *entry = &e->list[e->n];
    const int is_refused = refuses(e, &f->urls[k]);

    if (is_refused != 0)
        return is_refused < 0 ? is_refused : 0;
    *entry = (struct entry){.range = {extent->offset, XD_SIZE_UNKNOWN},
                            .in = f,
                            .place = (uint32_t)k,
                            .order = (uint32_t)e->n};
    if (extent->length != XD_SIZE_UNKNOWN)
        entry->range.end = extent->offset + extent->length;
    e->n++;
    return 0;
}

static int collect_entries(const struct xd_model_file *f, struct entries *e)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_extents; i++)
        n += f->extents[i].n_replicas;
    e->list = xd_alloc(n, sizeof *e->list);
    if (!e->list)
        return XD_E_NOMEM;
    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *extent = &f->extents[i];

        for (size_t j = 0; j < extent->n_replicas; j++) {
            size_t k;
            const struct xd_model_file *in = xd_model_replica(f, extent, j, &k);

            if (add_entry(e, extent, in, k) < 0)
                return XD_E_NOMEM;
        }
    }
    return 0;
}

/* Returns NULL when out of memory. */
static struct xd_depot *make_depot(const struct entry *run, size_t n,
                                   const struct xd_choice *choice)
{
    struct xd_depot_source *sources = xd_alloc(n, sizeof *sources);

    if (!sources)
        return NULL;
    for (size_t i = 0; i < n; i++)
        sources[i] = (struct xd_depot_source){
            .range = run[i].range,
            .in = run[i].in,
            .place = run[i].place,
            .is_preferred =
                xd_choice_prefers(choice, entry_replica(&run[i])->location),
            .order = run[i].order};
    return xd_depot_new_of(sources, n);
}

/* Sorts by expected throughput; in the order of the manifest if it is
 * unknown. */
static int by_promise(const void *a, const void *b)
{
    const struct xd_depot *const *p = a, *const *q = b;
    const struct xd_depot *x = *p, *y = *q;
    const struct xd_depot_source *s = xd_depot_best_source(x),
                                 *t = xd_depot_best_source(y);
    bool are_equal =
        s->is_preferred == t->is_preferred &&
        xd_source_replica(s)->priority == xd_source_replica(t)->priority;

    if (are_equal && x->promise > y->promise)
        return -1;
    if (are_equal && x->promise < y->promise)
        return 1;
    return xd_source_compare(s, t);
}

static void sort_depots(struct xd_depots *d)
{
    qsort(d->list, d->n, sizeof(struct xd_depot *), by_promise);
    for (size_t i = 0; i < d->n; i++)
        d->list[i]->number = (unsigned)i;
}

static int put_depot(struct xd_depots *d, struct xd_depot *depot)
{
    struct xd_depot **list = xd_grow(d->list, d->n, &d->capacity, sizeof *list);

    if (!list)
        return XD_E_NOMEM;
    d->list = list;
    depot->number = (unsigned)d->n;
    d->list[d->n++] = depot;
    d->n_in_reserve += depot->state == XD_DEPOT_RESERVE;
    return 0;
}

/* Creates a depot for each run of entries with the same depot; `e` must be
 * sorted. */
static int make_depots(struct xd_depots *d, const struct entries *e)
{
    size_t n_hosts = 0;

    for (size_t i = 0; i < e->n; i++)
        n_hosts += i == 0 || by_depot(&e->list[i - 1], &e->list[i]) != 0;
    d->list = xd_alloc(n_hosts, sizeof *d->list);
    if (!d->list)
        return XD_E_NOMEM;
    d->capacity = n_hosts;
    for (size_t i = 0, end; i < e->n; i = end) {
        for (end = i + 1; end < e->n; end++) {
            if (by_depot(&e->list[i], &e->list[end]) != 0)
                break;
        }
        d->list[d->n] = make_depot(&e->list[i], end - i, e->choice);
        if (!d->list[d->n])
            return XD_E_NOMEM;
        d->n++;
    }
    d->n_in_reserve = d->n;
    return 0;
}

/* Returns NULL when out of memory. */
static struct xd_depot *depot_of(struct xd_depots *d, const struct xd_url *url)
{
    struct xd_depot *depot = xd_depots_find(d, url);

    if (depot)
        return depot;
    depot = xd_depot_new(url);
    if (depot && put_depot(d, depot) < 0) {
        xd_depot_free(depot);
        depot = NULL;
    }
    return depot;
}

static int add_parity_of(struct xd_depots *d, struct entries *e,
                         const struct xd_model_stripe *stripe,
                         const struct xd_model_shard *shard)
{
    for (size_t i = 0; i < shard->n_replicas; i++) {
        const struct xd_model_shard_replica *r =
            &stripe->replicas[shard->first_replica + i];
        const int is_refused = refuses(e, &r->url);
        struct xd_depot *depot;

        if (is_refused < 0)
            return XD_E_NOMEM;
        if (is_refused)
            continue;
        depot = depot_of(d, &r->url);
        if (!depot || xd_depot_add_parity(depot, stripe, shard->number, r) < 0)
            return XD_E_NOMEM;
    }
    return 0;
}

static int add_parity(struct xd_depots *d, const struct xd_model_file *f,
                      struct entries *e)
{
    int rc = 0;

    for (size_t i = 0; i < f->rare->n_stripes; i++) {
        const struct xd_model_stripe *stripe = &f->rare->stripes[i];

        for (size_t k = 0; rc == 0 && k < stripe->n_shards; k++)
            rc = add_parity_of(d, e, stripe, &stripe->shards[k]);
    }
    return rc;
}

int xd_depots_init(struct xd_depots *d, struct xd_manifest *m, size_t file,
                   const struct xd_choice *choice, struct xd_error *err)
{
    struct xd_file info = {.struct_size = sizeof info};
    struct entries entries = {.choice = choice};
    int rc;

    if (xd_manifest_file(m, file, &info) < 0)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    *d = (struct xd_depots){.manifest = xd_manifest_ref(m),
                            .file = file,
                            .size = info.size,
                            .max_connections = info.max_connections};
    rc = collect_entries(&m->files[file], &entries);
    if (rc == 0 && entries.n > 0) {
        qsort(entries.list, entries.n, sizeof *entries.list, by_object);
        entries.n = join_entries(entries.list, entries.n);
        rc = make_depots(d, &entries);
    }
    if (rc == 0)
        rc = add_parity(d, &m->files[file], &entries);
    if (rc == 0 && d->n > 0)
        sort_depots(d);
    xd_free(entries.list);
    d->n_files_refused = entries.n_files_refused;
    if (rc < 0)
        rc = xd_fail_nomem(err);
    else if (d->n == 0 && d->n_files_refused > 0)
        rc = xd_fail(err, XD_E_NOREPLICA,
                     "the manifest names only files of this machine as "
                     "sources: allow-file lets them be used");
    if (rc < 0)
        xd_depots_fini(d);
    return rc;
}

void xd_depots_fini(struct xd_depots *d)
{
    for (size_t i = 0; i < d->n; i++)
        xd_depot_free(d->list[i]);
    xd_free(d->list);
    xd_manifest_unref(d->manifest);
    *d = (struct xd_depots){0};
}

struct xd_depot *xd_depots_find(const struct xd_depots *d,
                                const struct xd_url *url)
{
    for (size_t i = 0; i < d->n; i++) {
        if (!d->list[i]->node_id &&
            d->list[i]->kind == xd_transport_kind_of(url) &&
            xd_url_compare_depots(&d->list[i]->url, url) == 0)
            return d->list[i];
    }
    return NULL;
}

int xd_depots_add(struct xd_depots *d, const struct xd_new_source *what,
                  struct xd_depot **out)
{
    struct xd_depot *found = xd_depots_find(d, &what->url);
    struct xd_depot *depot = found ? found : xd_depot_new(&what->url);

    if (!depot)
        return XD_E_NOMEM;
    if (xd_depot_add_source(depot, what) == 0 &&
        (found || put_depot(d, depot) == 0)) {
        *out = depot;
        return 0;
    }
    if (!found)
        xd_depot_free(depot);
    return XD_E_NOMEM;
}

int xd_depots_append(struct xd_depots *d, struct xd_range range,
                     const struct xd_model_file *in, uint32_t place,
                     struct xd_depot **out, bool *out_is_new)
{
    const struct xd_url *url = &in->urls[place];
    struct xd_depot *found = xd_depots_find(d, url);
    struct xd_depot *depot = found ? found : xd_depot_new(url);

    if (!depot)
        return XD_E_NOMEM;
    if (xd_depot_append_source(depot, range, in, place) == 0 &&
        (found || put_depot(d, depot) == 0)) {
        *out = depot;
        *out_is_new = !found;
        return 0;
    }
    if (!found)
        xd_depot_free(depot);
    return XD_E_NOMEM;
}

/* Returns a name such as "via a (10.0.0.1:8080)"; NULL when out of memory. */
static char *name_node(const char *id, const char *host)
{
    struct xd_text t = {0};

    xd_text_addf(&t, "via %s (%s)", id, host);
    if (!t.failed)
        return t.s;
    xd_text_fini(&t);
    return NULL;
}

struct xd_depot *xd_depots_add_node(struct xd_depots *d,
                                    const struct xd_url *url, const char *id,
                                    unsigned node, bool is_other_address)
{
    struct xd_depot *depot = xd_depot_new(url);
    char *name = depot ? name_node(id, depot->host) : NULL;

    if (!name || put_depot(d, depot) < 0) {
        xd_free(name);
        if (depot)
            xd_depot_free(depot);
        return NULL;
    }
    xd_free(depot->host);
    depot->host = name;
    depot->node_id = id;
    depot->node = node;
    depot->is_other_address = is_other_address;
    return depot;
}

void xd_depots_set_state(struct xd_depots *d, struct xd_depot *depot,
                         enum xd_depot_state state)
{
    d->n_failed -= depot->state == XD_DEPOT_FAILED;
    d->n_in_reserve -= depot->state == XD_DEPOT_RESERVE;
    depot->state = state;
    d->n_failed += state == XD_DEPOT_FAILED;
    d->n_in_reserve += state == XD_DEPOT_RESERVE;
}

int xd_depots_note_failures(struct xd_depots *d)
{
    const struct xd_model_failure *f = d->manifest->failures;

    for (; f; f = f->next) {
        struct xd_depot *depot = xd_depots_find(d, &f->url);

        if (!depot && d->size == XD_SIZE_UNKNOWN)
            continue;
        if (!depot) {
            depot = depot_of(d, &f->url);
            if (!depot)
                return XD_E_NOMEM;
            xd_depots_set_state(d, depot, XD_DEPOT_FAILED);
        }
        depot->requests++;
        xd_depot_note_failure(depot, &f->why);
    }
    return 0;
}

void xd_depots_set_size(struct xd_depots *d, uint64_t size)
{
    d->size = size;
    for (size_t i = 0; i < d->n; i++) {
        struct xd_depot_source *s = NULL;

        while ((s = xd_depot_next_source(d->list[i], s))) {
            s->range.end = size;
            s->is_sized = true;
        }
    }
}

/* Depots whose throughput is known.  A few of them are enough to estimate the
 * throughput of the others. */
struct known {
    const struct xd_depot *list[64];
    size_t n;
    double most; /* highest throughput of one of them */
};

static struct known find_known(const struct xd_depots *d)
{
    struct known known = {.n = 0};

    for (size_t i = 0; i < d->n; i++) {
        const struct xd_depot *depot = d->list[i];

        if (!depot->is_known)
            continue;
        if (depot->promise > known.most)
            known.most = depot->promise;
        if (known.n < sizeof known.list / sizeof *known.list)
            known.list[known.n++] = depot;
    }
    return known;
}

/* Returns the average throughput of known depots at the same location; half of
 * the highest throughput if there are none. */
static double promise_at(const struct known *known, const char *location)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; location && i < known->n; i++) {
        const char *there =
            xd_source_replica(xd_depot_best_source(known->list[i]))->location;

        if (!there || strcmp(there, location) != 0)
            continue;
        sum += known->list[i]->promise;
        n++;
    }
    return n > 0 ? sum / (double)n : known->most / 2;
}

void xd_depots_rank(struct xd_depots *d)
{
    const struct known known = find_known(d);

    for (size_t i = 0; i < d->n; i++) {
        struct xd_depot *depot = d->list[i];

        if (!depot->is_known)
            depot->promise = promise_at(
                &known,
                xd_source_replica(xd_depot_best_source(depot))->location);
    }
    sort_depots(d);
}
