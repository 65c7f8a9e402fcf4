/* SPDX-License-Identifier: MIT */
#include "engine/depot.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/text.h"
#include "base/url.h"
#include "manifest/model.h"

/* One replica of the manifest, on its way to its depot: no more than is needed,
 * as there may be 100 000. */
struct entry {
    struct xd_range range;
    const struct xd_model_file *in;
    uint32_t place, order;
};

/* The order of what joined, and before that of what was appended. */
#define ADDED UINT32_MAX
#define APPENDED (UINT32_MAX - 1)

/* One that joined: with what a manifest says of others. */
struct xd_added_source {
    struct xd_depot_source source; /* the first member */
    struct xd_added_source *next;
    struct xd_model_file file;
    struct xd_model_replica replica;
    struct xd_replica more;
    struct xd_url *url; /* with its text */
};

/* One of a node of a mesh. */
struct node_source {
    struct xd_depot_source source; /* the first member */
    struct xd_model_file file;
    struct xd_model_replica replica;
    const struct xd_via_file *via;
    struct xd_url *url; /* with its text */
};

struct entries {
    struct entry *list;
    size_t n;
    const struct xd_choice *choice;
    size_t n_files_refused;
};

static const struct xd_model_replica *replica_of(
    const struct xd_depot_source *s)
{
    return &s->in->replicas[s->place];
}

static unsigned priority_of(const struct xd_depot_source *s)
{
    return replica_of(s)->priority;
}

static int by_preference(const struct xd_depot_source *x,
                         const struct xd_depot_source *y)
{
    if (x->is_preferred != y->is_preferred)
        return x->is_preferred ? -1 : 1;
    if (priority_of(x) != priority_of(y))
        return priority_of(x) < priority_of(y) ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_place(const void *a, const void *b)
{
    const struct xd_depot_source *x = a, *y = b;

    if (x->range.begin != y->range.begin)
        return x->range.begin < y->range.begin ? -1 : 1;
    return by_preference(x, y);
}

static const struct xd_model_replica *entry_replica(const struct entry *e)
{
    return &e->in->replicas[e->place];
}

static const struct xd_url *entry_url(const struct entry *e)
{
    return &e->in->urls[e->place];
}

/* A server of the web and an IBP depot at one host and port are two. */
static int by_depot(const struct entry *x, const struct entry *y)
{
    int c = xd_url_compare_depots(entry_url(x), entry_url(y));

    return c != 0 ? c
                  : strcmp(xd_transport_kind_of(entry_url(x))->name,
                           xd_transport_kind_of(entry_url(y))->name);
}

/* By depot, object and place, and then by preference. */
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

static bool has_framing(const struct xd_model_replica *r)
{
    return r->more && r->more->framing;
}

/* Whether `next` goes on where `e` ends, in the file and in the object. */
static bool goes_on(const struct entry *e, const struct entry *next)
{
    const struct xd_model_replica *r = entry_replica(e),
                                  *s = entry_replica(next);

    return e->range.end == next->range.begin &&
           xd_model_offset(e->in, e->place) + xd_range_length(e->range) ==
               xd_model_offset(next->in, next->place) &&
           xd_model_object_size(e->in, e->place) ==
               xd_model_object_size(next->in, next->place) &&
           !has_framing(r) && !has_framing(s) && r->priority == s->priority &&
           r->max_connections == s->max_connections &&
           r->location == s->location &&
           xd_url_compare(entry_url(e), entry_url(next)) == 0;
}

/* Extents are edges that no request crosses.  Those of one object that follow
 * each other are one source, and no edge.  Returns how many are left. */
static size_t join_entries(struct entry *e, size_t n)
{
    size_t n_left = 0;

    for (size_t i = 0; i < n; i++) {
        if (n_left > 0 && goes_on(&e[n_left - 1], &e[i]))
            e[n_left - 1].range.end = e[i].range.end;
        else
            e[n_left++] = e[i];
    }
    return n_left;
}

struct xd_depot_source *xd_depot_next_source(const struct xd_depot *d,
                                             const struct xd_depot_source *s)
{
    const struct xd_added_source *last = (const struct xd_added_source *)s;
    struct xd_added_source *added = d->added;
    size_t next = 0, appended = 0;

    if (s && s->order == ADDED)
        added = last->next;
    else if (s && s->order == APPENDED)
        appended = s->furthest + (size_t)1;
    else if (s)
        next = (size_t)(s - d->sources) + 1;
    if ((!s || s->order < APPENDED) && next < d->n_sources)
        return &d->sources[next];
    if ((!s || s->order != ADDED) && appended < d->n_appended)
        return d->appended[appended];
    return added ? &added->source : NULL;
}

/* The source that people would name first. */
static const struct xd_depot_source *best_source(const struct xd_depot *d)
{
    const struct xd_depot_source *best = xd_depot_next_source(d, NULL);

    for (const struct xd_depot_source *s = best; s;
         s = xd_depot_next_source(d, s)) {
        if (by_preference(s, best) < 0)
            best = s;
    }
    return best;
}

/* Without a promise the manifest's order holds. */
static int by_promise(const void *a, const void *b)
{
    const struct xd_depot *const *p = a, *const *q = b;
    const struct xd_depot *x = *p, *y = *q;
    const struct xd_depot_source *s = best_source(x), *t = best_source(y);
    bool are_equal =
        s->is_preferred == t->is_preferred && priority_of(s) == priority_of(t);

    if (are_equal && x->promise > y->promise)
        return -1;
    if (are_equal && x->promise < y->promise)
        return 1;
    return by_preference(s, t);
}

/* Replica number `k` of the file `f`, which has the extent's. */
static int add_entry(struct entries *e, const struct xd_model_extent *extent,
                     const struct xd_model_file *f, size_t k)
{
    const struct xd_url *url = &f->urls[k];
    const struct xd_transport_kind *kind = xd_transport_kind_of(url);
    struct entry *entry = &e->list[e->n];
    const char *why;
    int is_refused;

    if (!kind)
        return 0;
    if (kind->reads_machine && !e->choice->allow_file) {
        e->n_files_refused++;
        return 0;
    }
    is_refused = xd_choice_refuses(e->choice, url, &why);
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

/* Number of sources that begin at or before `begin`. */
static size_t count_before(const struct xd_depot *d, uint64_t begin)
{
    return xd_count_up_to(begin, d->sources, d->n_sources, sizeof *d->sources,
                          offsetof(struct xd_depot_source, range.begin));
}

/* The same of those that were appended. */
static size_t count_appended(const struct xd_depot *d, uint64_t begin)
{
    size_t low = 0, high = d->n_appended;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (d->appended[middle]->range.begin <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether none of the sources up to this one ends at or behind `byte`. */
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

/* Errors: NOMEM. */
static int name_depot(struct xd_depot *d, const struct xd_url *url)
{
    d->url = *url;
    d->kind = xd_transport_kind_of(url);
    d->host = xd_url_depot(url);
    d->shown_url = xd_url_public(url);
    return d->host && d->shown_url ? 0 : XD_E_NOMEM;
}

/* By their places, best first. */
static void sort_sources(struct xd_depot *d)
{
    uint32_t furthest = 0;

    qsort(d->sources, d->n_sources, sizeof *d->sources, by_place);
    for (size_t i = 0; i < d->n_sources; i++) {
        struct xd_depot_source *s = &d->sources[i];

        if (s->range.end > d->sources[furthest].range.end)
            furthest = (uint32_t)i;
        s->furthest = furthest;
        d->max_connections = xd_stricter_limit(d->max_connections,
                                               replica_of(s)->max_connections);
    }
}

static int fill_depot(struct xd_depot *d, const struct entry *run, size_t n,
                      const struct xd_choice *choice)
{
    d->sources = xd_alloc(n, sizeof *d->sources);
    if (!d->sources)
        return XD_E_NOMEM;
    d->n_sources = d->n_left = n;
    for (size_t i = 0; i < n; i++)
        d->sources[i] = (struct xd_depot_source){
            .range = run[i].range,
            .in = run[i].in,
            .place = run[i].place,
            .is_preferred =
                xd_choice_prefers(choice, entry_replica(&run[i])->location),
            .order = run[i].order};
    sort_sources(d);
    return name_depot(d, xd_source_url(best_source(d))) == 0 ? count_held(d)
                                                             : XD_E_NOMEM;
}

static void free_facts(struct xd_depot_source *s)
{
    struct xd_source_facts *f = s->facts;

    if (!f)
        return;
    xd_free(f->check);
    xd_free(f->validator);
    xd_free(f->stated_by);
    xd_free(f->final_url);
    xd_kept_error_free(f->error);
    xd_free(f);
    s->facts = NULL;
}

static void free_added(struct xd_added_source *a)
{
    free_facts(&a->source);
    xd_free(a->url);
    xd_free(a);
}

static void free_appended(struct xd_depot_source *s)
{
    free_facts(s);
    if (s->is_of_node)
        xd_free(((struct node_source *)s)->url);
    xd_free(s);
}

static void free_depot(struct xd_depot *d)
{
    xd_free(d->host);
    xd_free(d->shown_url);
    xd_kept_error_free(d->last_error);
    xd_free(d->addresses);
    for (size_t i = 0; i < d->n_sources; i++)
        free_facts(&d->sources[i]);
    xd_free(d->sources);
    for (size_t i = 0; i < d->n_appended; i++)
        free_appended(d->appended[i]);
    xd_free(d->appended);
    while (d->added) {
        struct xd_added_source *next = d->added->next;

        free_added(d->added);
        d->added = next;
    }
    xd_free(d);
}

/* NULL when out of memory. */
static struct xd_depot *make_depot(const struct entry *run, size_t n,
                                   const struct xd_choice *choice)
{
    struct xd_depot *d = xd_alloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->first_byte = XD_NEVER;
    if (fill_depot(d, run, n, choice) == 0)
        return d;
    free_depot(d);
    return NULL;
}

static void sort_depots(struct xd_depots *d)
{
    qsort(d->list, d->n, sizeof(struct xd_depot *), by_promise);
    for (size_t i = 0; i < d->n; i++)
        d->list[i]->number = (unsigned)i;
}

/* `e` is sorted: each run of equal depots is one. */
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
    sort_depots(d);
    d->n_in_reserve = d->n;
    return 0;
}

/* NULL when out of memory. */
static struct xd_added_source *copy_source(const struct xd_new_source *what)
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
        .range = what->range, .in = &a->file, .order = ADDED};
    return a;
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

/* It holds nothing yet. */
static struct xd_depot *new_depot(const struct xd_url *url)
{
    struct xd_depot *depot = xd_alloc(1, sizeof *depot);

    if (!depot)
        return NULL;
    depot->first_byte = XD_NEVER;
    if (name_depot(depot, url) == 0)
        return depot;
    free_depot(depot);
    return NULL;
}

static int put_source(struct xd_depot *depot, const struct xd_new_source *what)
{
    struct xd_added_source *a = copy_source(what);

    if (!a)
        return XD_E_NOMEM;
    if (!xd_depot_next_source(depot, NULL))
        depot->url = *a->url; /* its text lives as long as the depot */
    a->next = depot->added;
    depot->added = a;
    if (count_held(depot) < 0) {
        depot->added = a->next;
        free_added(a);
        return XD_E_NOMEM;
    }
    depot->n_left++;
    depot->max_connections =
        xd_stricter_limit(depot->max_connections, what->max_connections);
    return 0;
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

int xd_depots_add(struct xd_depots *d, const struct xd_new_source *what,
                  struct xd_depot **out)
{
    struct xd_depot *found = xd_depots_find(d, &what->url);
    struct xd_depot *depot = found ? found : new_depot(&what->url);

    if (!depot)
        return XD_E_NOMEM;
    if (put_source(depot, what) == 0 && (found || put_depot(d, depot) == 0)) {
        *out = depot;
        return 0;
    }
    if (!found)
        free_depot(depot);
    return XD_E_NOMEM;
}

/* They lie one behind the other, or are of one file.  Errors: NOMEM. */
static int put_appended(struct xd_depot *depot, struct xd_depot_source *s)
{
    struct xd_depot_source **list =
        xd_grow(depot->appended, depot->n_appended, &depot->appended_capacity,
                sizeof(struct xd_depot_source *));
    const struct xd_depot_source *last;

    if (!list)
        return XD_E_NOMEM;
    depot->appended = list;
    s->order = APPENDED;
    s->furthest = (uint32_t)depot->n_appended;
    last = depot->n_appended > 0 ? list[depot->n_appended - 1] : NULL;
    if (!last || last->range.begin < s->range.begin)
        depot->bytes_held += xd_range_length(s->range);
    list[depot->n_appended++] = s;
    depot->n_left++;
    depot->max_connections = xd_stricter_limit(depot->max_connections,
                                               replica_of(s)->max_connections);
    return 0;
}

static int append_source(struct xd_depot *depot, struct xd_range range,
                         const struct xd_model_file *in, uint32_t place)
{
    struct xd_depot_source *s = xd_alloc(1, sizeof *s);

    if (!s)
        return XD_E_NOMEM;
    *s = (struct xd_depot_source){.range = range, .in = in, .place = place};
    if (put_appended(depot, s) == 0)
        return 0;
    xd_free(s);
    return XD_E_NOMEM;
}

int xd_depots_append(struct xd_depots *d, struct xd_range range,
                     const struct xd_model_file *in, uint32_t place,
                     struct xd_depot **out, bool *out_is_new)
{
    const struct xd_url *url = &in->urls[place];
    struct xd_depot *found = xd_depots_find(d, url);
    struct xd_depot *depot = found ? found : new_depot(url);

    if (!depot)
        return XD_E_NOMEM;
    if (append_source(depot, range, in, place) == 0 &&
        (found || put_depot(d, depot) == 0)) {
        *out = depot;
        *out_is_new = !found;
        return 0;
    }
    if (!found)
        free_depot(depot);
    return XD_E_NOMEM;
}

/* "via a (10.0.0.1:8080)"; NULL when out of memory. */
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
    struct xd_depot *depot = new_depot(url);
    char *name = depot ? name_node(id, depot->host) : NULL;

    if (!name || put_depot(d, depot) < 0) {
        xd_free(name);
        if (depot)
            free_depot(depot);
        return NULL;
    }
    xd_free(depot->host);
    depot->host = name;
    depot->node_id = id;
    depot->node = node;
    depot->is_other_address = is_other_address;
    return depot;
}

int xd_depot_add_via(struct xd_depot *depot, const struct xd_via_file *via,
                     struct xd_range range, const struct xd_url *url)
{
    struct node_source *n = xd_alloc(1, sizeof *n);

    if (!n)
        return XD_E_NOMEM;
    n->url = xd_url_copy(url);
    n->replica.priority = XD_PRIORITY_NONE;
    n->file = (struct xd_model_file){.size = xd_range_length(range),
                                     .replicas = &n->replica,
                                     .urls = n->url,
                                     .rare = &xd_model_plain};
    n->via = via;
    n->source = (struct xd_depot_source){
        .range = range, .in = &n->file, .is_of_node = true};
    if (!n->url || put_appended(depot, &n->source) < 0) {
        xd_free(n->url);
        xd_free(n);
        return XD_E_NOMEM;
    }
    if (depot->n_appended == 1)
        depot->url = *n->url; /* its text lives as long as the depot */
    return 0;
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
        free_depot(d->list[i]);
    xd_free(d->list);
    xd_manifest_unref(d->manifest);
    *d = (struct xd_depots){0};
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

/* Depots of which something is known: as many as decide for others. */
struct known {
    const struct xd_depot *list[64];
    size_t n;
    double most; /* that one of them promises */
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

/* What those at its location promise on average; without any, half of what the
 * best does. */
static double promise_at(const struct known *known, const char *location)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; location && i < known->n; i++) {
        const char *there = replica_of(best_source(known->list[i]))->location;

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
            depot->promise =
                promise_at(&known, replica_of(best_source(depot))->location);
    }
    sort_depots(d);
}

static struct xd_depot_source *find_source(struct xd_depot *depot,
                                           struct xd_range range,
                                           bool may_be_gone)
{
    /* Enough to see every alternative of real manifests, and a bound for one
     * that lies a whole replica under a hundred thousand fragments. */
    enum { ENOUGH = 64 };
    struct xd_depot_source *best = NULL;
    size_t looked_at = 0;

    for (size_t i = count_before(depot, range.begin); i-- > 0;) {
        struct xd_depot_source *s = &depot->sources[i];

        if (all_end_before(depot, s, range.end) ||
            (best && ++looked_at > ENOUGH))
            break;
        if ((s->is_gone && !may_be_gone) || s->range.end < range.end)
            continue;
        if (!best || by_preference(s, best) < 0)
            best = s;
    }
    for (size_t i = count_appended(depot, range.begin);
         i-- > 0 && depot->appended[i]->range.end >= range.end;) {
        struct xd_depot_source *s = depot->appended[i];

        if ((!s->is_gone || may_be_gone) &&
            (!best || by_preference(s, best) < 0))
            best = s;
    }
    for (struct xd_added_source *a = depot->added; a; a = a->next) {
        struct xd_depot_source *s = &a->source;

        if ((!s->is_gone || may_be_gone) && s->range.begin <= range.begin &&
            range.end <= s->range.end && (!best || by_preference(s, best) < 0))
            best = s;
    }
    return best;
}

struct xd_depot_source *xd_depot_source(struct xd_depot *depot,
                                        struct xd_range range)
{
    return find_source(depot, range, false);
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
}

void xd_depot_restore_source(struct xd_depot *depot,
                             struct xd_depot_source *source)
{
    depot->n_left += source->is_gone;
    source->is_gone = false;
}

const struct xd_url *xd_source_url(const struct xd_depot_source *s)
{
    return &s->in->urls[s->place];
}

uint64_t xd_source_offset(const struct xd_depot_source *s)
{
    return xd_model_offset(s->in, s->place);
}

uint64_t xd_source_object_size(const struct xd_depot_source *s)
{
    return s->is_sized ? s->range.end : xd_model_object_size(s->in, s->place);
}

const struct xd_framing *xd_source_framing(const struct xd_depot_source *s)
{
    return has_framing(replica_of(s)) ? replica_of(s)->more->framing : NULL;
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

void xd_source_forget(struct xd_depot_source *s)
{
    const struct xd_source_facts *f = xd_source_known(s);

    if (!f->check && !f->error && f->modified == 0)
        free_facts(s);
}

static enum xd_reach own_reach(const struct xd_depot_source *s)
{
    return xd_model_reach(s->in, s->place);
}

static bool is_led_on(const struct xd_depot_source *source)
{
    return source && xd_source_known(source)->final_url &&
           !source->final_url_fails;
}

const struct xd_url *xd_depot_source_url(const struct xd_depot_source *source)
{
    if (!source)
        return NULL;
    return is_led_on(source) ? source->facts->final_url : xd_source_url(source);
}

enum xd_reach xd_depot_source_reach(const struct xd_depot_source *source)
{
    if (!source)
        return XD_REACH_PUBLIC;
    return is_led_on(source) ? source->facts->reach : own_reach(source);
}

enum xd_reach xd_depot_reach(const struct xd_depot *depot)
{
    enum xd_reach reach = XD_REACH_PUBLIC;

    for (const struct xd_depot_source *s = NULL;
         (s = xd_depot_next_source(depot, s));) {
        if (own_reach(s) < reach)
            reach = own_reach(s);
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
