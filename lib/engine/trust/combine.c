/* SPDX-License-Identifier: MIT */
#include "engine/trust/combine.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "code/reed_solomon.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/outputs.h"
#include "engine/resume.h"
#include "engine/source.h"
#include "engine/trust/blame.h"
#include "engine/trust/pieces.h"
#include "io/hash.h"
#include "io/sinks/sink.h"
#include "session/combinations.h"
#include "session/stripes.h"
#include "transfer/batch.h"

/* Maximum length of a piece whose copies are kept in memory.  Copies of a
 * longer piece are kept in a file without a name. */
#define LONGEST_IN_MEMORY ((uint64_t)16 << 20)

/* Limits of all copies together: in memory as a number of bytes, on disk as a
 * multiple of the length of the piece.  Decoding a few bytes of a stripe takes
 * as many bytes of each of its other shards. */
#define MOST_IN_MEMORY ((uint64_t)64 << 20)
#define MOST_COPIES_ON_DISK 16u

/* Maximum number of bytes hashed for one piece.  It takes about half a
 * minute. */
#define MOST_HASHED ((uint64_t)16 << 30)

#define CHUNK ((size_t)64 << 10) /* bytes read, decoded and hashed at a time */

/* Maximum number of parts of a piece: enough for a piece of 256 KiB in parts of
 * 256 bytes. */
#define MOST_PARTS ((size_t)1024)

#define MOST_REQUESTS 8u /* simultaneous requests */

/* A range of bytes of the piece, or of bytes from which bytes of the piece can
 * be computed. */
struct place {
    /* range in the file; for parity, the same positions in the first data
     * shard */
    struct xd_range range;
    unsigned shard; /* number of the shard in its stripe */
};

/* The places at the same positions in all shards of a stripe, or a single place
 * without parity. */
struct column {
    size_t stripe; /* or XD_NO_STRIPE */
    uint64_t begin;
    unsigned first, n; /* places */
};

struct copy {
    struct xd_request request; /* how to get the copy; has no URL if the copy is
                                  in the sink */
    uint64_t at;               /* offset of the copy in the scratch sink */
    uint64_t length, received; /* the copy is complete if these are equal */
};

struct xd_combine {
    struct xd_engine *e;
    size_t piece;
    struct xd_range range;
    const char *algorithm, *hex;

    uint64_t *cuts; /* borders of parts, ascending */
    size_t n_cuts, cuts_capacity;
    struct column *columns;
    struct place *places;
    struct copy *copies;
    size_t columns_capacity, places_capacity, copies_capacity;
    size_t needed_capacity, kinds_capacity, owners_capacity;
    uint64_t n_bytes; /* total length of the copies */
    unsigned *needed;
    struct xd_combined_place *kinds; /* kind of each place */
    struct xd_combined_copy *owners; /* depot of each copy */
    size_t n_copies;
    struct xd_combinations list; /* the search, which uses the arrays above and
                                    these two: */
    struct xd_combined_copy *complete;
    size_t *copy_of; /* index in `copies` of each complete copy */

    struct xd_sink *scratch; /* stores all copies */
    unsigned *in_order;      /* wanted places by position in the file */
    unsigned n_in_order;
    unsigned char *chunk;  /* bytes of the combination being tried */
    unsigned char *shards; /* chunks of shards to decode from */
    size_t *found;         /* the right combination, or NULL */
    struct xd_hasher *hasher;
    struct xd_error error; /* reason for ending the search early */
    bool is_bound;         /* the search was limited, so some combinations may
                              remain untried */
};

/* ---- parts ---- */

static int put_cut(struct xd_combine *c, uint64_t byte)
{
    uint64_t *cuts;

    if (byte < c->range.begin || byte > c->range.end)
        return 0;
    cuts = xd_grow(c->cuts, c->n_cuts, &c->cuts_capacity, sizeof *cuts);
    if (!cuts)
        return XD_E_NOMEM;
    c->cuts = cuts;
    cuts[c->n_cuts++] = byte;
    return 0;
}

static int put_both(struct xd_combine *c, struct xd_range r)
{
    const int rc = put_cut(c, r.begin);

    return rc == 0 ? put_cut(c, r.end) : rc;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void sort_cuts(struct xd_combine *c)
{
    size_t n = 0;

    qsort(c->cuts, c->n_cuts, sizeof *c->cuts, by_value);
    for (size_t i = 0; i < c->n_cuts; i++)
        if (n == 0 || c->cuts[i] != c->cuts[n - 1])
            c->cuts[n++] = c->cuts[i];
    c->n_cuts = n;
}

static bool is_near(struct xd_range a, struct xd_range b)
{
    return a.begin <= b.end && b.begin <= a.end;
}

/* Cuts the piece where sources begin or end, and where the bytes of another
 * depot begin. */
static int cut_at_sources_locked(struct xd_combine *c)
{
    const struct xd_engine *e = c->e;
    struct xd_range rest = c->range, run;
    unsigned depot;
    int rc = put_both(c, c->range);

    for (size_t i = 0; rc == 0 && i < e->depots.n; i++) {
        const struct xd_depot_source *s = NULL;

        while (rc == 0 && (s = xd_depot_next_source(e->depots.list[i], s)))
            if (is_near(s->range, c->range) &&
                (!s->is_gone ||
                 xd_blame_may_pardon_locked(e, e->depots.list[i], s, c->range)))
                rc = put_both(c, s->range);
    }
    while (rc == 0 &&
           (run = xd_runs_next_depot(&e->ledger.origins, rest, &depot),
            !xd_range_is_empty(run))) {
        rc = put_both(c, run);
        rest.begin = run.end;
    }
    return rc;
}

/* Cuts each shard of the stripe at the position of `byte`. */
static int cut_beside(struct xd_combine *c, const struct xd_stripe_shape *shape,
                      uint64_t byte)
{
    const uint64_t at = (byte - shape->range.begin) % shape->shard_bytes;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < shape->k; i++)
        rc = put_cut(c, xd_stripes_data(shape, i).begin + at);
    return rc;
}

/* Cuts the piece so that two parts of a stripe have either the same positions
 * in their shards or none in common. */
static int cut_at_shards_locked(struct xd_combine *c)
{
    const struct xd_stripes *s = &c->e->coded.stripes;
    const size_t n = c->n_cuts;
    int rc = 0;

    for (size_t i = xd_stripes_from(s, c->range.begin);
         rc == 0 && i < s->n && s->list[i].range.begin < c->range.end; i++) {
        const struct xd_stripe_shape *shape = &s->list[i];

        rc = put_both(c, shape->range);
        if (rc == 0)
            rc = cut_beside(c, shape, shape->range.begin);
        if (rc == 0) /* the last shard of data may be short */
            rc = cut_beside(c, shape, shape->range.end);
        for (size_t k = 0; rc == 0 && k < n; k++)
            if (shape->range.begin < c->cuts[k] &&
                c->cuts[k] < shape->range.end)
                rc = cut_beside(c, shape, c->cuts[k]);
    }
    return rc;
}

/* ---- copies ---- */

static bool is_in_memory(const struct xd_combine *c)
{
    return xd_range_length(c->range) <= LONGEST_IN_MEMORY;
}

static uint64_t most_bytes(const struct xd_combine *c)
{
    return is_in_memory(c) ? MOST_IN_MEMORY
                           : MOST_COPIES_ON_DISK * xd_range_length(c->range);
}

static int add_copy(struct xd_combine *c, const struct xd_combined_copy *owner,
                    const struct xd_request *request, uint64_t length)
{
    struct xd_combined_copy *owners =
        xd_grow(c->owners, c->n_copies, &c->owners_capacity, sizeof *owners);
    struct copy *copies;

    if (!owners)
        return XD_E_NOMEM;
    c->owners = owners;
    copies =
        xd_grow(c->copies, c->n_copies, &c->copies_capacity, sizeof *copies);
    if (!copies)
        return XD_E_NOMEM;
    c->copies = copies;
    if (length > most_bytes(c) - c->n_bytes)
        return 0; /* skip it: other copies may suffice */
    owners[c->n_copies] = *owner;
    copies[c->n_copies++] =
        (struct copy){.request = *request, .at = c->n_bytes, .length = length};
    c->n_bytes += length;
    return 0;
}

/* Adds a copy to fetch, beginning at `byte`. */
static int add_source(struct xd_combine *c, unsigned place, unsigned depot,
                      const struct xd_depot_source *s, uint64_t byte,
                      uint64_t length)
{
    const struct xd_request request = {
        .url = xd_source_url(s),
        .offset = xd_source_at(s, byte),
        .length = length,
        .object_size = xd_source_object_size(s),
        .framing = xd_source_framing(s),
        .takes_encoded =
            true /* wrong bytes do no harm, because the piece is hashed */};

    return add_copy(c, &(struct xd_combined_copy){place, depot, false},
                    &request, length);
}

static bool is_of_use(const struct xd_depot *d)
{
    return !d->is_banned && !d->node_id && d->state != XD_DEPOT_FAILED;
}

/* Returns a source of the range, or NULL.  Sources that were given up because
 * of wrong bytes elsewhere are included: if each host was wrong somewhere,
 * there might be no other source. */
static const struct xd_depot_source *source_locked(const struct xd_engine *e,
                                                   struct xd_depot *d,
                                                   struct xd_range r)
{
    const struct xd_depot_source *s =
        is_of_use(d) ? xd_depot_source(d, r) : NULL;

    if (s)
        return s;
    s = xd_depot_any_source(d, r);
    return s && xd_blame_may_pardon_locked(e, d, s, r) ? s : NULL;
}

/* Returns the depot that delivered the whole range, or depots.n if several did
 * or it is unknown. */
static unsigned origin_locked(const struct xd_engine *e, struct xd_range r)
{
    const unsigned n = (unsigned)e->depots.n;
    unsigned depot;
    const struct xd_range run =
        xd_runs_next_depot(&e->ledger.origins, r, &depot);

    return run.begin == r.begin && run.end == r.end && depot < n ? depot : n;
}

/* Adds the copies of a range of data.  The copy in the sink is added if the
 * range is wanted or verified, and copies on depots are added unless it is
 * verified. */
static int add_data_locked(struct xd_combine *c, unsigned place, bool is_wanted)
{
    const struct xd_engine *e = c->e;
    const struct xd_range r = c->places[place].range;
    const bool is_proved = xd_ledger_has(&e->ledger, 1u << XD_BYTE_VERIFIED, r);
    const unsigned origin =
        is_wanted ? origin_locked(e, r) : (unsigned)e->depots.n;
    int rc = 0;

    if (is_wanted || is_proved)
        rc = add_copy(c, &(struct xd_combined_copy){place, origin, is_proved},
                      &(struct xd_request){.url = NULL}, xd_range_length(r));
    for (unsigned i = 0; rc == 0 && i < e->depots.n && !is_proved; i++) {
        struct xd_depot *d = e->depots.list[i];
        const struct xd_depot_source *s =
            i != origin ? source_locked(e, d, r) : NULL;

        if (s)
            rc = add_source(c, place, i, s, r.begin, xd_range_length(r));
    }
    return rc;
}

static int add_parity_locked(struct xd_combine *c, unsigned place)
{
    const struct place *p = &c->places[place];
    const struct xd_engine *e = c->e;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];
        const struct xd_depot_source *s;

        for (size_t k = 0; rc == 0 && is_of_use(d) &&
                           (s = xd_depot_parity(d, p->range.begin, k));
             k++)
            if (xd_source_parity(s).number == p->shard)
                rc = add_source(c, place, i, s, p->range.begin,
                                xd_range_length(p->range));
    }
    return rc;
}

/* ---- columns ---- */

static int add_place(struct xd_combine *c, struct xd_range range,
                     unsigned shard, bool is_wanted)
{
    const unsigned n = c->list.n_places;
    struct place *places =
        xd_grow(c->places, n, &c->places_capacity, sizeof *places);
    struct xd_combined_place *kinds;

    if (!places)
        return XD_E_NOMEM;
    c->places = places;
    kinds = xd_grow(c->kinds, n, &c->kinds_capacity, sizeof *kinds);
    if (!kinds)
        return XD_E_NOMEM;
    c->kinds = kinds;
    places[n] = (struct place){range, shard};
    kinds[n] = (struct xd_combined_place){c->list.n_columns, is_wanted};
    c->list.n_places++;
    return 0;
}

static bool is_in(struct xd_range r, struct xd_range of)
{
    return of.begin <= r.begin && r.end <= of.end;
}

/* Adds the places of a stripe at the positions of `part`.  Those in the piece
 * come first, and parity comes last. */
static int add_stripe(struct xd_combine *c, const struct xd_stripe_shape *shape,
                      struct xd_range part)
{
    int rc = 0;

    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; rc == 0 && i < shape->k; i++) {
            const struct xd_range r = xd_stripes_beside(shape, i, part);
            const bool is_wanted = !xd_range_is_empty(r) && is_in(r, c->range);

            if (is_wanted == (round == 0))
                rc = add_place(c, r, i, is_wanted);
        }
    for (unsigned i = shape->k; rc == 0 && i < shape->n; i++)
        rc = add_place(c, xd_stripes_beside(shape, 0, part), i, false);
    return rc;
}

/* Adds a part that lies after the end of the file and consists of zeros. */
static int add_zeros(struct xd_combine *c, unsigned place)
{
    return add_copy(
        c, &(struct xd_combined_copy){place, (unsigned)c->e->depots.n, true},
        &(struct xd_request){.url = NULL}, 0);
}

static int add_copies_locked(struct xd_combine *c, const struct column *column,
                             unsigned k)
{
    int rc = 0;

    for (unsigned i = column->first; rc == 0 && i < column->first + column->n;
         i++) {
        if (c->places[i].shard >= k)
            rc = add_parity_locked(c, i);
        else if (xd_range_is_empty(c->places[i].range))
            rc = add_zeros(c, i);
        else
            rc = add_data_locked(c, i, c->kinds[i].is_wanted);
    }
    return rc;
}

static bool has_column(const struct xd_combine *c, size_t stripe,
                       uint64_t begin)
{
    for (unsigned i = c->list.n_columns; stripe != XD_NO_STRIPE && i-- > 0;)
        if (c->columns[i].stripe == stripe && c->columns[i].begin == begin)
            return true;
    return false;
}

/* Adds the column that contains `part`, unless it exists. */
static int add_column_locked(struct xd_combine *c, struct xd_range part)
{
    const struct xd_stripes *s = &c->e->coded.stripes;
    const size_t stripe = xd_stripes_find(s, part.begin);
    const struct xd_stripe_shape *shape =
        stripe == XD_NO_STRIPE ? NULL : &s->list[stripe];
    const uint64_t begin =
        shape ? (part.begin - shape->range.begin) % shape->shard_bytes
              : part.begin;
    const unsigned n = c->list.n_columns;
    struct column *columns;
    unsigned *needed;
    int rc;

    if (has_column(c, stripe, begin))
        return 0;
    columns = xd_grow(c->columns, n, &c->columns_capacity, sizeof *columns);
    if (!columns)
        return XD_E_NOMEM;
    c->columns = columns;
    needed = xd_grow(c->needed, n, &c->needed_capacity, sizeof *needed);
    if (!needed)
        return XD_E_NOMEM;
    c->needed = needed;
    needed[n] = shape ? shape->k : 1;
    columns[n] = (struct column){stripe, begin, c->list.n_places, 0};
    rc = shape ? add_stripe(c, shape, part) : add_place(c, part, 0, true);
    columns[n].n = c->list.n_places - columns[n].first;
    c->list.n_columns++;
    return rc == 0 ? add_copies_locked(c, &columns[n], needed[n]) : rc;
}

static int list_locked(struct xd_combine *c)
{
    int rc = cut_at_sources_locked(c);

    if (rc == 0)
        rc = cut_at_shards_locked(c);
    if (rc < 0)
        return rc;
    sort_cuts(c);
    c->is_bound = c->n_cuts > MOST_PARTS;
    for (size_t i = 0; rc == 0 && i + 1 < c->n_cuts && !c->is_bound; i++)
        rc =
            add_column_locked(c, (struct xd_range){c->cuts[i], c->cuts[i + 1]});
    return rc;
}

int xd_combine_new_locked(struct xd_combine **out, struct xd_engine *e,
                          size_t piece)
{
    struct xd_combine *c = xd_alloc(1, sizeof *c);
    const struct xd_pieces *p = &e->verify.pieces;

    *out = c;
    if (!c)
        return XD_E_NOMEM;
    *c = (struct xd_combine){.e = e,
                             .piece = piece,
                             .range = xd_pieces_range(p, piece),
                             .algorithm = xd_pieces_algorithm(p, piece),
                             .hex = xd_pieces_hex(p, piece)};
    return list_locked(c);
}

void xd_combine_free(struct xd_combine *c)
{
    if (!c)
        return;
    xd_sink_free(c->scratch);
    xd_hasher_free(c->hasher);
    xd_free(c->cuts);
    xd_free(c->columns);
    xd_free(c->places);
    xd_free(c->copies);
    xd_free(c->needed);
    xd_free(c->kinds);
    xd_free(c->owners);
    xd_free(c->complete);
    xd_free(c->copy_of);
    xd_free(c->in_order);
    xd_free(c->chunk);
    xd_free(c->shards);
    xd_free(c->found);
    xd_free(c);
}

/* ---- fetching, without the lock ---- */

struct fetching {
    struct xd_combine *c;
    size_t *copy_of; /* copy of each request */
    struct xd_request *requests;
    size_t n;
};

static int on_head(void *user, size_t i, const struct xd_head *head)
{
    struct fetching *f = user;

    (void)head;
    /* discard bytes of an earlier attempt */
    f->c->copies[f->copy_of[i]].received = 0;
    return 0;
}

static int on_bytes(void *user, size_t i, const void *data, size_t len)
{
    struct fetching *f = user;
    struct copy *copy = &f->c->copies[f->copy_of[i]];
    int rc;

    if (len > copy->length - copy->received)
        return XD_E_BUG; /* more than was requested */
    rc = xd_sink_write(f->c->scratch, copy->at + copy->received, data, len,
                       NULL);
    copy->received += rc == 0 ? len : 0;
    return rc;
}

static void on_end(void *user, size_t i, const struct xd_outcome *outcome)
{
    struct fetching *f = user;
    struct copy *copy = &f->c->copies[f->copy_of[i]];

    if (outcome->verdict != XD_VERDICT_OK)
        copy->received = 0;
}

/* Opens the sink that stores all copies.  Errors: IO, NOMEM. */
static int open_scratch(struct xd_combine *c, struct xd_error *err)
{
    const struct xd_engine *e = c->e;
    struct xd_bounded_sink *self;

    if (is_in_memory(c))
        return xd_bounded_sink_new(&c->scratch, &self, NULL, err);
    if (e->dest.path)
        return xd_scratch_sink_new(&c->scratch, e->dest.sink, err);
    return xd_spool_sink_new(&c->scratch, xd_output_spool(&e->options), err);
}

/* Logs why copies cannot be stored. */
static void log_no_scratch(struct xd_combine *c, const struct xd_error *why)
{
    xd_log(&c->e->log, XD_LOG_WARN,
           "copies of bytes %llu-%llu cannot be combined: %s",
           (unsigned long long)c->range.begin,
           (unsigned long long)(c->range.end - 1), why->msg);
}

static int make_room(struct xd_combine *c)
{
    const unsigned n = c->list.n_places;
    unsigned most = 1;

    c->complete = xd_alloc(c->n_copies + 1, sizeof *c->complete);
    c->copy_of = xd_alloc(c->n_copies + 1, sizeof *c->copy_of);
    c->in_order = xd_alloc(n + 1, sizeof *c->in_order);
    for (unsigned i = 0; i < c->list.n_columns; i++)
        if (c->needed[i] > most)
            most = c->needed[i];
    c->chunk = xd_alloc(CHUNK, 1);
    c->shards = xd_alloc(most, CHUNK);
    return c->complete && c->copy_of && c->in_order && c->chunk && c->shards
               ? 0
               : XD_E_NOMEM;
}

/* Sorts the wanted places by their position in the file.  Places of a stripe
 * are not in this order. */
static void put_in_order(struct xd_combine *c)
{
    for (unsigned i = 0; i < c->list.n_places; i++) {
        unsigned k = c->n_in_order;

        if (!c->kinds[i].is_wanted)
            continue;
        for (; k > 0 && c->places[c->in_order[k - 1]].range.begin >
                            c->places[i].range.begin;
             k--)
            c->in_order[k] = c->in_order[k - 1];
        c->in_order[k] = i;
        c->n_in_order++;
    }
}

/* Copies bytes from the sink, which may drop them, to the scratch sink.  If
 * they cannot be read, this copy stays incomplete. */
static void take_stored(struct xd_combine *c, struct copy *copy, uint64_t from)
{
    int rc = 0;

    while (rc == 0 && copy->received < copy->length) {
        const uint64_t left = copy->length - copy->received;
        const size_t n = left < CHUNK ? (size_t)left : CHUNK;

        rc = xd_sink_read(c->e->dest.sink, from + copy->received, c->chunk, n,
                          NULL);
        if (rc == 0)
            rc = xd_sink_write(c->scratch, copy->at + copy->received, c->chunk,
                               n, NULL);
        copy->received += rc == 0 ? n : 0;
    }
}

static void read_sink(struct xd_combine *c)
{
    for (size_t i = 0; i < c->n_copies; i++)
        if (!c->copies[i].request.url)
            take_stored(c, &c->copies[i],
                        c->places[c->owners[i].place].range.begin -
                            c->e->wanted.begin);
}

static bool is_complete(const struct copy *copy)
{
    return copy->received == copy->length;
}

/* Lists the requests for all copies that are not complete. */
static void list_requests(struct fetching *f)
{
    const struct xd_combine *c = f->c;

    for (size_t i = 0; i < c->n_copies; i++)
        if (c->copies[i].request.url && !is_complete(&c->copies[i])) {
            f->copy_of[f->n] = i;
            f->requests[f->n++] = c->copies[i].request;
        }
}

static int run_batch(struct fetching *f, xd_usec grace, struct xd_error *err)
{
    struct xd_engine *e = f->c->e;
    const struct xd_batch_handler handler = {
        .user = f, .head = on_head, .bytes = on_bytes, .end = on_end};
    const struct xd_batch_times times = {.until = e->times.deadline,
                                         .first = XD_NEVER,
                                         .grace = grace,
                                         .turn = XD_NEVER};
    struct xd_batch_config config = xd_options_batch(&e->options);
    int rc;

    if (f->n == 0)
        return 0;
    config.max_failures = 1; /* there are other copies */
    rc = xd_resume_open_batch(e, &config, MOST_REQUESTS, err);
    if (rc < 0)
        return rc;
    rc =
        xd_batch_run(e->resume.batch, f->requests, f->n, &times, &handler, err);
    xd_resume_close_batch(e);
    return rc;
}

/* Lists the complete copies, from which combinations are made.  Returns true if
 * all copies are complete. */
static bool list_complete(struct xd_combine *c)
{
    c->list.n_copies = 0;
    for (size_t i = 0; i < c->n_copies; i++) {
        if (!is_complete(&c->copies[i]))
            continue;
        c->complete[c->list.n_copies] = c->owners[i];
        c->copy_of[c->list.n_copies++] = i;
    }
    return c->list.n_copies == c->n_copies;
}

/* Fetches the incomplete copies.  Skips depots that answer more than `grace`
 * after the others. */
static int fetch(struct xd_combine *c, xd_usec grace, struct xd_error *err)
{
    struct fetching f = {
        .c = c,
        .copy_of = xd_alloc(c->n_copies + 1, sizeof *f.copy_of),
        .requests = xd_alloc(c->n_copies + 1, sizeof *f.requests)};
    int rc;

    if (f.copy_of && f.requests) {
        list_requests(&f);
        rc = run_batch(&f, grace, err);
    } else {
        rc = xd_fail_nomem(err);
    }
    xd_free(f.copy_of);
    xd_free(f.requests);
    return rc;
}

/* ---- combinations, without the lock ---- */

static const struct copy *copy_at(const struct xd_combine *c, size_t chosen)
{
    return &c->copies[c->copy_of[chosen]];
}

/* The decoding of one part of a piece for which no copy was chosen.  Its bytes
 * are computed from data and parity at the same positions of other shards. */
struct decoding {
    const struct copy *from[XD_SHARDS_MAX];
    unsigned n;
    struct xd_decoder *decoder;
};

static int begin_decoding(struct xd_combine *c, struct decoding *d,
                          unsigned place, const size_t *chosen)
{
    const struct column *column = &c->columns[c->kinds[place].column];
    const struct xd_stripe_shape *shape =
        &c->e->coded.stripes.list[column->stripe];
    unsigned present[XD_SHARDS_MAX];
    struct xd_coder *coder;
    int rc;

    for (unsigned i = column->first; i < column->first + column->n; i++)
        if (chosen[i] != XD_NO_COPY) {
            present[d->n] = c->places[i].shard;
            d->from[d->n++] = copy_at(c, chosen[i]);
        }
    rc = xd_coder_new(&coder, shape->k, shape->n, &c->error);
    if (rc < 0)
        return rc;
    rc = xd_decoder_new(&d->decoder, coder, present, &c->places[place].shard, 1,
                        &c->error);
    xd_coder_free(coder);
    return rc;
}

/* Computes n bytes of a place, starting at its byte `at`, and stores them in
 * the chunk. */
static int decode(struct xd_combine *c, const struct decoding *d, uint64_t at,
                  size_t n)
{
    const uint8_t *from[XD_SHARDS_MAX];
    uint8_t *out = c->chunk;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < d->n; i++) {
        unsigned char *shard = c->shards + i * CHUNK;

        from[i] = d->from[i]->length > 0 ? shard : NULL; /* zeros */
        if (from[i])
            rc = xd_sink_read(c->scratch, d->from[i]->at + at, shard, n,
                              &c->error);
    }
    if (rc == 0)
        xd_decoder_run(d->decoder, n, from, &out);
    return rc;
}

typedef int pass_fn(struct xd_combine *c, uint64_t byte, size_t n);

/* Calls `pass` with the bytes that a combination has at a wanted place. */
static int pass_place(struct xd_combine *c, unsigned place,
                      const size_t *chosen, pass_fn *pass)
{
    const struct xd_range r = c->places[place].range;
    const bool is_computed = chosen[place] == XD_NO_COPY;
    struct decoding d = {.n = 0};
    int rc = is_computed ? begin_decoding(c, &d, place, chosen) : 0;

    for (uint64_t at = 0; rc == 0 && at < xd_range_length(r); at += CHUNK) {
        const uint64_t left = xd_range_length(r) - at;
        const size_t n = left < CHUNK ? (size_t)left : CHUNK;

        rc = is_computed
                 ? decode(c, &d, at, n)
                 : xd_sink_read(c->scratch, copy_at(c, chosen[place])->at + at,
                                c->chunk, n, &c->error);
        if (rc == 0)
            rc = pass(c, r.begin + at, n);
    }
    xd_decoder_free(d.decoder);
    return rc;
}

static int pass_piece(struct xd_combine *c, const size_t *chosen, pass_fn *pass)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < c->n_in_order; i++)
        rc = pass_place(c, c->in_order[i], chosen, pass);
    return rc;
}

static int hash(struct xd_combine *c, uint64_t byte, size_t n)
{
    (void)byte;
    xd_hasher_add(c->hasher, c->chunk, n);
    return 0;
}

static int store(struct xd_combine *c, uint64_t byte, size_t n)
{
    return xd_sink_write(c->e->dest.sink, byte - c->e->wanted.begin, c->chunk,
                         n, &c->error);
}

static bool is_over(struct xd_engine *e)
{
    bool result;

    xd_engine_lock(e);
    result = xd_engine_is_over_locked(e);
    xd_engine_unlock(e);
    return result;
}

/* Returns true to end the search: the piece is right, or further attempts are
 * useless because of an error or the end of the download. */
static bool is_right(void *user, const size_t *chosen)
{
    struct xd_combine *c = user;
    const size_t n_places = c->list.n_places;
    char hex[XD_HASH_HEX_MAX + 1];

    if (is_over(c->e))
        return true;
    if (xd_hasher_become(&c->hasher, c->algorithm, &c->error) < 0 ||
        pass_piece(c, chosen, hash) < 0)
        return true;
    xd_hasher_end(c->hasher, hex);
    if (strcmp(hex, c->hex) != 0)
        return false;
    c->found = xd_alloc(n_places + 1, sizeof *c->found);
    if (c->found)
        memcpy(c->found, chosen, n_places * sizeof *chosen);
    else
        (void)xd_fail_nomem(&c->error);
    return true;
}

static unsigned most_tried(const struct xd_combine *c)
{
    const uint64_t n = MOST_HASHED / xd_range_length(c->range);

    return n == 0                     ? 1
           : n < XD_COMBINATIONS_MOST ? (unsigned)n
                                      : XD_COMBINATIONS_MOST;
}

static int try_combinations(struct xd_combine *c, struct xd_error *err)
{
    const int rc = xd_combinations_try(&c->list);

    if (rc < 0)
        return xd_fail_nomem(err);
    c->is_bound = rc == XD_COMBINED_BOUND;
    if (c->error.code < 0)
        *err = c->error;
    return c->error.code;
}

int xd_combine_run(struct xd_combine *c, struct xd_error *err)
{
    struct xd_combinations *list = &c->list;
    /* the second time, wait for all copies */
    const xd_usec graces[] = {XD_SECOND, XD_NEVER};
    struct xd_error why = {0};
    bool has_all = false;
    int rc;

    if (list->n_columns == 0)
        return 0;
    if (make_room(c) < 0)
        return xd_fail_nomem(err);
    if (open_scratch(c, &why) < 0) {
        log_no_scratch(c, &why);
        return 0;
    }
    put_in_order(c);
    read_sink(c);
    list->needed = c->needed;
    list->places = c->kinds;
    list->copies = c->complete;
    list->n_depots = (unsigned)c->e->depots.n + 1;
    list->most = most_tried(c);
    list->is_right = is_right;
    list->user = c;
    for (unsigned i = 0; i < 2 && !has_all && !c->found; i++) {
        rc = fetch(c, graces[i], err);
        if (rc < 0)
            return rc;
        has_all = list_complete(c);
        rc = try_combinations(c, err);
        if (rc < 0 || is_over(c->e))
            return rc;
    }
    rc = c->found ? pass_piece(c, c->found, store) : 0;
    if (rc < 0 && err)
        *err = c->error;
    return rc;
}

bool xd_combine_has_found(const struct xd_combine *c)
{
    return c->found != NULL;
}

unsigned xd_combine_n_tried(const struct xd_combine *c, bool *out_is_bound)
{
    *out_is_bound = c->is_bound;
    return c->list.n_tried;
}

/* ---- the result ---- */

/* Records in the ledger that `depot`, not the former depot, has delivered the
 * bytes of the range. */
static int replace_locked(struct xd_engine *e, struct xd_range r,
                          unsigned depot)
{
    int rc = xd_ledger_discard(&e->ledger, r, XD_DISCARD_BAD_PIECE);

    if (rc == 0)
        rc = xd_ledger_change(&e->ledger, XD_CLAIM, r);
    return rc == 0 ? xd_ledger_written(&e->ledger, r, depot) : rc;
}

int xd_combine_note_locked(const struct xd_combine *c)
{
    struct xd_engine *e = c->e;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < c->list.n_places; i++) {
        const size_t copy = c->found[i];
        const bool is_computed = copy == XD_NO_COPY;

        if (c->kinds[i].is_wanted &&
            (is_computed || copy_at(c, copy)->request.url))
            rc = replace_locked(e, c->places[i].range,
                                is_computed ? XD_NO_DEPOT
                                            : c->complete[copy].depot);
    }
    return rc;
}
