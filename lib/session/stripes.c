/* SPDX-License-Identifier: MIT */
#include "session/stripes.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"
#include "ledger/ledger.h"
#include "session/pieces.h"
#include "session/stripes_parts.h"

void xd_stripes_fini(struct xd_stripes *s)
{
    for (size_t i = 0; i < s->n_open; i++)
        xd_free(s->open[i].runs);
    xd_free(s->open);
    xd_free(s->states);
    xd_free(s->waiting.list);
    xd_free(s->put_off.list);
    xd_free(s->ready.list);
    xd_free(s->list);
    *s = (struct xd_stripes){0};
}

/* ---- shapes ---- */

size_t xd_stripes_find(const struct xd_stripes *s, uint64_t byte)
{
    const size_t n =
        xd_count_up_to(byte, s->list, s->n, sizeof *s->list,
                       offsetof(struct xd_stripe_shape, range.begin));

    return n > 0 && byte < s->list[n - 1].range.end ? n - 1 : XD_NO_STRIPE;
}

size_t xd_stripes_from(const struct xd_stripes *s, uint64_t byte)
{
    const size_t n =
        xd_count_up_to(byte, s->list, s->n, sizeof *s->list,
                       offsetof(struct xd_stripe_shape, range.begin));

    return n > 0 && byte < s->list[n - 1].range.end ? n - 1 : n;
}

struct xd_range xd_stripes_data(const struct xd_stripe_shape *shape,
                                unsigned number)
{
    const uint64_t length = xd_range_length(shape->range);
    const uint64_t before = number <= length / shape->shard_bytes
                                ? number * shape->shard_bytes
                                : length;

    return xd_range_clip(
        (struct xd_range){shape->range.begin + before,
                          shape->range.begin + before + shape->shard_bytes},
        shape->range);
}

struct xd_range xd_stripes_part(const struct xd_stripes *s, struct xd_range r)
{
    const size_t i = xd_stripes_from(s, r.begin);

    if (i < s->n && r.begin < s->list[i].range.begin)
        return xd_range_clip(
            r, (struct xd_range){r.begin, s->list[i].range.begin});
    return i < s->n ? xd_range_clip(r, s->list[i].range) : r;
}

struct xd_range xd_stripes_shard(const struct xd_stripe_shape *shape,
                                 uint64_t byte, unsigned *out_number)
{
    *out_number = (unsigned)((byte - shape->range.begin) / shape->shard_bytes);
    return xd_stripes_data(shape, *out_number);
}

static uint64_t position_of(const struct xd_stripe_shape *shape, uint64_t byte)
{
    return (byte - shape->range.begin) % shape->shard_bytes;
}

struct xd_range xd_stripes_beside(const struct xd_stripe_shape *shape,
                                  unsigned number, struct xd_range r)
{
    const uint64_t begin =
        xd_stripes_data(shape, number).begin + position_of(shape, r.begin);

    return xd_range_clip((struct xd_range){begin, begin + xd_range_length(r)},
                         shape->range);
}

/* ---- runs ---- */

struct xd_open_stripe *xd_stripes_open(const struct xd_stripes *s,
                                       size_t stripe)
{
    const size_t at = s->states ? s->states[stripe].open_at : 0;

    return at > 0 ? &s->open[at - 1] : NULL;
}

bool xd_stripes_is_open(const struct xd_stripes *s, size_t stripe)
{
    return xd_stripes_open(s, stripe) != NULL;
}

struct xd_stripe_state *xd_stripes_state(struct xd_stripes *s, size_t stripe)
{
    if (!s->states)
        s->states = xd_alloc(s->n, sizeof *s->states);
    return s->states ? &s->states[stripe] : NULL;
}

static struct xd_open_stripe *open_stripe(struct xd_stripes *s, size_t stripe)
{
    struct xd_stripe_state *state = xd_stripes_state(s, stripe);
    struct xd_open_stripe *list;

    if (state && state->open_at > 0)
        return &s->open[state->open_at - 1];
    list = xd_grow(s->open, s->n_open, &s->capacity, sizeof *list);
    if (list)
        s->open = list;
    if (!list || !state)
        return NULL;
    list[s->n_open] = (struct xd_open_stripe){.number = stripe};
    state->open_at = ++s->n_open;
    return &list[s->n_open - 1];
}

static void close_if_empty(struct xd_stripes *s, struct xd_open_stripe *o)
{
    if (o->n_runs > 0)
        return;
    xd_free(o->runs);
    s->states[o->number].open_at = 0;
    if (o != &s->open[--s->n_open]) {
        *o = s->open[s->n_open];
        s->states[o->number].open_at = (size_t)(o - s->open) + 1;
    }
}

static int add_run(struct xd_open_stripe *o, const struct xd_coded_run *run)
{
    struct xd_coded_run *runs =
        xd_grow(o->runs, o->n_runs, &o->capacity, sizeof *runs);

    if (!runs)
        return XD_E_NOMEM;
    o->runs = runs;
    runs[o->n_runs++] = *run;
    return 0;
}

static void remove_run(struct xd_stripes *s, struct xd_open_stripe *o, size_t i)
{
    o->runs[i] = o->runs[--o->n_runs];
    close_if_empty(s, o);
}

int xd_stripes_begin(struct xd_stripes *s, size_t stripe,
                     const struct xd_coded_run *run)
{
    struct xd_open_stripe *o = open_stripe(s, stripe);

    if (o && add_run(o, run) == 0)
        return 0;
    if (o)
        close_if_empty(s, o);
    return XD_E_NOMEM;
}

/* Returns the run that the request for that byte will deliver; NULL if it is
 * not a request for parity. */
static struct xd_coded_run *find_fetch(const struct xd_stripes *s,
                                       unsigned fetch, uint64_t byte,
                                       struct xd_open_stripe **out)
{
    const size_t stripe = xd_stripes_find(s, byte);

    *out = stripe == XD_NO_STRIPE ? NULL : xd_stripes_open(s, stripe);
    for (size_t i = 0; *out && i < (*out)->n_runs; i++)
        if ((*out)->runs[i].fetch == fetch)
            return &(*out)->runs[i];
    return NULL;
}

/* Extends a stored run if `run` continues it. */
static bool lengthen(struct xd_open_stripe *o, const struct xd_coded_run *run)
{
    for (size_t i = 0; i < o->n_runs; i++) {
        struct xd_coded_run *before = &o->runs[i];

        if (before->fetch == XD_STORED && before->parity == run->parity &&
            before->depot == run->depot &&
            before->range.end == run->range.begin) {
            before->range.end = run->range.end;
            return true;
        }
    }
    return false;
}

/* Returns false at the first byte of a shard.  A run must not extend into it,
 * because the same parity may be used there. */
static bool is_in_one_shard(const struct xd_stripe_shape *shape, uint64_t byte)
{
    return position_of(shape, byte) != 0;
}

int xd_stripes_stored(struct xd_stripes *s, unsigned fetch,
                      struct xd_range range)
{
    struct xd_open_stripe *o;
    const struct xd_coded_run *from = find_fetch(s, fetch, range.begin, &o);
    struct xd_coded_run run;

    run = *from;
    run.fetch = XD_STORED;
    run.range = range;
    if (is_in_one_shard(&s->list[o->number], range.begin) && lengthen(o, &run))
        return 0;
    return add_run(o, &run);
}

bool xd_stripes_end(struct xd_stripes *s, unsigned fetch, uint64_t byte,
                    size_t *out_stripe, struct xd_coded_run *out)
{
    struct xd_open_stripe *o;
    struct xd_coded_run *run = find_fetch(s, fetch, byte, &o);

    if (!run)
        return false;
    *out = *run;
    *out_stripe = o->number;
    remove_run(s, o, (size_t)(run - o->runs));
    return true;
}

/* Returns the bytes of data shard `number` at the positions of the run. */
static struct xd_range run_in(const struct xd_stripe_shape *shape,
                              unsigned number, const struct xd_coded_run *run)
{
    return xd_stripes_beside(shape, number, run->range);
}

struct xd_range xd_stripes_next_unused(const struct xd_stripes *s,
                                       size_t stripe, unsigned parity,
                                       struct xd_range r)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    unsigned number;
    bool has_moved = true;

    if (!o || xd_range_is_empty(r))
        return r;
    (void)xd_stripes_shard(shape, r.begin, &number);
    while (has_moved && !xd_range_is_empty(r)) {
        has_moved = false;
        for (size_t i = 0; i < o->n_runs; i++) {
            struct xd_range run;

            /* skips most runs, because a wide code has many */
            if (o->runs[i].parity != parity)
                continue;
            run = run_in(shape, number, &o->runs[i]);
            if (run.begin > r.begin || run.end <= r.begin)
                continue;
            r.begin = run.end;
            has_moved = true;
        }
    }
    for (size_t i = 0; i < o->n_runs; i++) {
        struct xd_range run;

        if (o->runs[i].parity != parity)
            continue;
        run = run_in(shape, number, &o->runs[i]);
        if (run.begin > r.begin && run.begin < r.end)
            r.end = run.begin;
    }
    if (r.begin > r.end)
        r.begin = r.end;
    return r;
}

bool xd_stripes_take(struct xd_stripes *s, size_t stripe, unsigned depot,
                     struct xd_range r, struct xd_coded_run *out)
{
    struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    for (size_t i = 0; o && i < o->n_runs; i++) {
        const struct xd_coded_run *run = &o->runs[i];

        if (run->fetch != XD_STORED || run->range.begin < r.begin ||
            run->range.begin >= r.end ||
            (depot != XD_STORED && run->depot != depot))
            continue;
        *out = *run;
        remove_run(s, o, i);
        return true;
    }
    return false;
}

bool xd_stripes_is_asked(const struct xd_stripes *s, size_t stripe)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    for (size_t i = 0; o && i < o->n_runs; i++)
        if (o->runs[i].fetch != XD_STORED)
            return true;
    return false;
}

bool xd_stripes_next_run(const struct xd_stripes *s, size_t stripe, size_t *i,
                         struct xd_coded_run *out)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    for (; o && *i < o->n_runs; ++*i)
        if (o->runs[*i].fetch == XD_STORED) {
            *out = o->runs[*i];
            return true;
        }
    return false;
}

/* ---- what is stored ---- */

/* Returns the stored run of parity that contains the byte; NULL if the byte is
 * data or missing. */
static const struct xd_coded_run *stored_at(const struct xd_open_stripe *o,
                                            uint64_t byte)
{
    for (size_t i = 0; i < o->n_runs; i++)
        if (o->runs[i].fetch == XD_STORED && o->runs[i].range.begin <= byte &&
            byte < o->runs[i].range.end)
            return &o->runs[i];
    return NULL;
}

static bool has_stored(const struct xd_open_stripe *o)
{
    for (size_t i = 0; i < o->n_runs; i++)
        if (o->runs[i].fetch == XD_STORED)
            return true;
    return false;
}

uint64_t xd_stripes_have_to(const struct xd_stripes *s, size_t stripe,
                            struct xd_range range)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    while (!xd_range_is_empty(range)) {
        const struct xd_coded_run *run;

        range.begin = xd_ledger_first_gap(s->ledger, XD_BYTES_STORED, range);
        if (range.begin == range.end)
            break;
        run = o ? stored_at(o, range.begin) : NULL;
        if (!run)
            return range.begin;
        range.begin = run->range.end;
    }
    return range.end;
}

bool xd_stripes_have(const struct xd_stripes *s, size_t stripe,
                     struct xd_range range)
{
    return xd_stripes_have_to(s, stripe, range) == range.end;
}

/* ---- decoding ---- */

/* Returns whether a complete piece in the range is not verified yet. */
static bool is_in_doubt(const struct xd_stripes *s, struct xd_range range)
{
    const struct xd_ledger *l = s->ledger;
    const struct xd_pieces *p = s->pieces;
    struct xd_range run;

    while (run = xd_ledger_next(l, 1u << XD_BYTE_WRITTEN, range),
           !xd_range_is_empty(run)) {
        size_t i = xd_pieces_find(p, run.begin);

        range.begin = run.end;
        for (; i < p->n && xd_pieces_range(p, i).begin < run.end; i++)
            if (xd_ledger_has(l, XD_BYTES_STORED, xd_pieces_range(p, i)))
                return true;
    }
    return false;
}

bool xd_stripes_is_ready(const struct xd_stripes *s, size_t stripe)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    const struct xd_range range = s->list[stripe].range;

    return o && has_stored(o) && xd_stripes_have(s, stripe, range) &&
           !is_in_doubt(s, range);
}

bool xd_stripes_next_step(const struct xd_stripes *s, size_t stripe,
                          uint64_t begin, struct xd_stripe_step *out)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    if (begin >= xd_range_length(xd_stripes_data(shape, 0)))
        return false;
    out->begin = begin;
    out->end = xd_range_length(xd_stripes_data(shape, 0));
    out->n_lost = 0;
    for (unsigned i = 0; i < shape->k; i++)
        out->present[i] = i;
    for (size_t i = 0; o && i < o->n_runs; i++) {
        const struct xd_coded_run *run = &o->runs[i];
        const uint64_t from = position_of(shape, run->range.begin),
                       to = from + xd_range_length(run->range);
        unsigned number;

        if (run->fetch != XD_STORED || to <= begin)
            continue;
        if (from > begin) {
            out->end = from < out->end ? from : out->end;
            continue;
        }
        out->end = to < out->end ? to : out->end;
        (void)xd_stripes_shard(shape, run->range.begin, &number);
        out->present[number] = run->parity;
        out->lost[out->n_lost++] = number;
    }
    return true;
}

bool xd_stripes_is_coded(const struct xd_stripes *s, size_t stripe,
                         unsigned number)
{
    const struct xd_range shard = xd_stripes_data(&s->list[stripe], number);
    struct xd_coded_run run;

    for (size_t i = 0; xd_stripes_next_run(s, stripe, &i, &run); i++)
        if (!xd_range_is_empty(xd_range_clip(run.range, shard)))
            return true;
    return false;
}

bool xd_stripes_is_whole(const struct xd_stripes *s, size_t stripe,
                         unsigned number, struct xd_coded_run *out)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    const struct xd_range range = xd_stripes_data(shape, number);
    struct xd_range rest = range;

    if (!o || xd_range_length(range) < shape->shard_bytes)
        return false;
    while (!xd_range_is_empty(rest)) {
        const struct xd_coded_run *run = stored_at(o, rest.begin);

        if (!run || (rest.begin > range.begin &&
                     (run->parity != out->parity || run->depot != out->depot)))
            return false;
        if (rest.begin == range.begin)
            *out = *run;
        rest.begin = run->range.end;
    }
    out->range = range;
    return true;
}
