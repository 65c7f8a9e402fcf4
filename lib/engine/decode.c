/* SPDX-License-Identifier: MIT */
#include "engine/decode.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "code/reed_solomon.h"
#include "engine/coded.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/trust/blame.h"
#include "engine/trust/discard.h"
#include "io/hash.h"
#include "manifest/model.h"
#include "manifest/parity.h"
#include "session/stand_in.h"

/* So much of each shard at a time: with k of them it fits in a cache. */
#define SLICE ((size_t)32 * 1024)

/* A shard that can be proved before, or after, and what it is to be. */
struct check {
    struct xd_range range; /* of the file, where it lies */
    unsigned number;
    unsigned depot; /* of parity: where it came from; or XD_NO_DEPOT */
    const char *sha256;
};

/* What is done without the lock, and what came of it. */
struct job {
    size_t stripe;
    struct xd_stripe_shape shape;
    struct xd_stripe_step *steps;
    size_t n_steps, capacity;
    struct check before[XD_SHARDS_MAX], after[XD_SHARDS_MAX];
    unsigned n_before, n_after;
    unsigned n_coded; /* shards that are to be decoded, */
    unsigned n_whole; /* and those of them in whose place a whole shard is */
    unsigned char *buffer; /* k slices, and as many for what is decoded */

    int rc; /* negative: as `error` says */
    struct xd_error error;
    const struct check *wrong; /* of `before` */
    const struct check *unfit; /* of `after`: data that does not come out */
};

bool xd_decode_can_work_locked(const struct xd_engine *e)
{
    return xd_stripes_has_ready(&e->coded.stripes) &&
           e->session.phase == XD_PHASE_FETCH;
}

/* ---- what is to be done ---- */

/* Where `len` bytes of a shard at a position lie in the file, as far as it has
 * them. */
static struct xd_range place_of(const struct job *j, unsigned number,
                                uint64_t at, uint64_t len)
{
    const uint64_t begin = xd_stripes_data(&j->shape, number).begin + at;

    return xd_range_clip((struct xd_range){begin, begin + len}, j->shape.range);
}

static void put_check(struct check *list, unsigned *n, struct check what)
{
    list[*n] = what;
    *n += what.sha256 != NULL;
}

/* Before, of whole shards of parity, and of data that no piece has proved; after, of
 * the data that comes out. */
static void find_checks_locked(const struct xd_engine *e, struct job *j)
{
    const struct xd_model_stripe *m = e->coded.of[j->stripe].model;
    const struct xd_model_file *f = &e->depots.manifest->files[e->depots.file];

    for (unsigned i = 0; i < j->shape.k; i++) {
        const struct check data = {place_of(j, i, 0, j->shape.shard_bytes), i,
                                   XD_NO_DEPOT, xd_stripe_sha256(f, m, i)};
        struct xd_coded_run run;

        if (!xd_stripes_is_coded(&e->coded.stripes, j->stripe, i)) {
            if (!xd_pieces_cover(&e->verify.pieces, data.range))
                put_check(j->before, &j->n_before, data);
            continue;
        }
        j->n_coded++;
        put_check(j->after, &j->n_after, data);
        if (!xd_stripes_is_whole(&e->coded.stripes, j->stripe, i, &run))
            continue;
        j->n_whole++;
        put_check(j->before, &j->n_before,
                  (struct check){run.range, run.parity, run.depot,
                                 xd_stripe_sha256(f, m, run.parity)});
    }
}

static int find_steps_locked(const struct xd_engine *e, struct job *j)
{
    uint64_t at = 0;

    for (;;) {
        struct xd_stripe_step *steps =
            xd_grow(j->steps, j->n_steps, &j->capacity, sizeof *steps);

        if (!steps)
            return XD_E_NOMEM;
        j->steps = steps;
        if (!xd_stripes_next_step(&e->coded.stripes, j->stripe, at,
                                  &steps[j->n_steps]))
            return 0;
        at = steps[j->n_steps++].end;
    }
}

/* ---- without the lock ---- */

/* Of each shard, or what lies in its place; NULL: there is nothing, which is
 * zeros. */
static int read_slices(struct xd_engine *e, struct job *j, uint64_t at,
                       size_t len, const uint8_t **from)
{
    for (unsigned i = 0; i < j->shape.k; i++) {
        const struct xd_range r = place_of(j, i, at, len);
        const size_t n = (size_t)xd_range_length(r);
        unsigned char *to = j->buffer + i * SLICE;
        int rc;

        from[i] = n > 0 ? to : NULL;
        if (n == 0)
            continue;
        rc = xd_sink_read(e->dest.sink, r.begin - e->wanted.begin, to, n,
                          &j->error);
        if (rc < 0)
            return rc;
        memset(to + n, 0, len - n);
    }
    return 0;
}

static int write_slices(struct xd_engine *e, struct job *j,
                        const struct xd_stripe_step *step, uint64_t at,
                        size_t len, uint8_t *const *out)
{
    for (unsigned i = 0; i < step->n_lost; i++) {
        const struct xd_range r = place_of(j, step->lost[i], at, len);
        int rc = xd_sink_write(e->dest.sink, r.begin - e->wanted.begin, out[i],
                               (size_t)xd_range_length(r), &j->error);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int decode_step(struct xd_engine *e, struct job *j,
                       const struct xd_coder *coder,
                       const struct xd_stripe_step *step)
{
    const uint8_t *from[XD_SHARDS_MAX];
    uint8_t *out[XD_SHARDS_MAX];
    struct xd_decoder *decoder;
    int rc;

    if (step->n_lost == 0)
        return 0;
    rc = xd_decoder_new(&decoder, coder, step->present, step->lost,
                        step->n_lost, &j->error);
    for (unsigned i = 0; i < step->n_lost; i++)
        out[i] = j->buffer + (j->shape.k + i) * SLICE;
    for (uint64_t at = step->begin; rc == 0 && at < step->end; at += SLICE) {
        const size_t len =
            step->end - at < SLICE ? (size_t)(step->end - at) : SLICE;

        rc = read_slices(e, j, at, len, from);
        if (rc < 0)
            break;
        xd_decoder_run(decoder, len, from, out);
        rc = write_slices(e, j, step, at, len, out);
    }
    xd_decoder_free(decoder);
    return rc;
}

static int decode(struct xd_engine *e, struct job *j)
{
    struct xd_coder *coder;
    int rc = xd_coder_new(&coder, j->shape.k, j->shape.n, &j->error);

    for (size_t i = 0; rc == 0 && i < j->n_steps; i++)
        rc = decode_step(e, j, coder, &j->steps[i]);
    xd_coder_free(coder);
    return rc;
}

static int hash(struct xd_engine *e, struct job *j, struct xd_range r,
                char hex[XD_HASH_HEX_MAX + 1])
{
    struct xd_hasher *hasher = NULL;
    int rc = xd_hasher_become(&hasher, "sha-256", &j->error);

    while (rc == 0 && !xd_range_is_empty(r)) {
        const size_t len =
            xd_range_length(r) < SLICE ? (size_t)xd_range_length(r) : SLICE;

        rc = xd_sink_read(e->dest.sink, r.begin - e->wanted.begin, j->buffer,
                          len, &j->error);
        if (rc == 0)
            xd_hasher_add(hasher, j->buffer, len);
        r.begin += len;
    }
    if (rc == 0)
        xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
    return rc;
}

/* The first that is not as it is to be, or NULL. */
static int find_wrong(struct xd_engine *e, struct job *j,
                      const struct check *checks, unsigned n,
                      const struct check **out)
{
    char hex[XD_HASH_HEX_MAX + 1];

    for (unsigned i = 0; i < n; i++) {
        int rc = hash(e, j, checks[i].range, hex);

        if (rc < 0)
            return rc;
        if (strcmp(hex, checks[i].sha256) != 0) {
            *out = &checks[i];
            return 0;
        }
    }
    return 0;
}

/* For later runs, too. */
static int note_written(struct xd_engine *e, struct job *j)
{
    int rc = 0;

    for (size_t i = 0; i < j->n_steps; i++) {
        const struct xd_stripe_step *step = &j->steps[i];

        for (unsigned l = 0; rc == 0 && l < step->n_lost; l++)
            rc = xd_resume_written(e,
                                   place_of(j, step->lost[l], step->begin,
                                            step->end - step->begin),
                                   &j->error);
    }
    return rc;
}

static void carry_out(struct xd_engine *e, struct job *j)
{
    j->buffer = xd_alloc((size_t)2 * j->shape.k, SLICE);
    if (!j->buffer) {
        j->rc = xd_fail_nomem(&j->error);
        return;
    }
    j->rc = find_wrong(e, j, j->before, j->n_before, &j->wrong);
    if (j->rc == 0 && !j->wrong)
        j->rc = decode(e, j);
    if (j->rc == 0 && !j->wrong)
        j->rc = find_wrong(e, j, j->after, j->n_after, &j->unfit);
    if (j->rc == 0 && !j->wrong && !j->unfit)
        j->rc = note_written(e, j);
}

/* ---- what came of it ---- */

/* The data of shards that no piece proves, unless it was read once and is gone, is
 * missing again.  Whether there was any. */
static bool discard_unproved_locked(struct xd_engine *e, const struct job *j)
{
    bool has_any = false;

    for (unsigned i = 0; i < j->shape.k; i++) {
        const struct xd_range r = place_of(j, i, 0, j->shape.shard_bytes);

        if (xd_pieces_cover(&e->verify.pieces, r) ||
            r.begin < e->readers.handed_out ||
            xd_stripes_is_coded(&e->coded.stripes, j->stripe, i))
            continue;
        has_any = true;
        xd_discard_locked(e, r, XD_DISCARD_BAD_PIECE);
    }
    return has_any;
}

/* The depot that delivered all of it, or XD_NO_DEPOT. */
static unsigned origin_of_locked(const struct xd_engine *e, struct xd_range r)
{
    for (size_t i = 0; i < e->depots.n; i++)
        if (xd_ledger_bytes_of(&e->ledger, (unsigned)i, r) ==
            xd_range_length(r))
            return (unsigned)i;
    return XD_NO_DEPOT;
}

/* A shard is not what the manifest says.  If several depots have delivered it, it is
 * fetched anew once. */
static void blame_locked(struct xd_engine *e, const struct job *j)
{
    struct xd_coded_stripe *of = &e->coded.of[j->stripe];
    unsigned depot = j->wrong->depot;
    struct xd_error why = {0};

    if (depot == XD_NO_DEPOT)
        depot = origin_of_locked(e, j->wrong->range);
    if (depot == XD_NO_DEPOT) {
        if (of->was_refetched || !discard_unproved_locked(e, j))
            xd_coded_give_up_locked(e, j->stripe, 0);
        of->was_refetched = true;
        return;
    }
    xd_fail(&why, XD_E_CORRUPT,
            "%s: delivered wrong bytes: shard %u of stripe %llu does not match "
            "its sha-256",
            e->depots.list[depot]->shown_url, j->wrong->number,
            (unsigned long long)of->model->number);
    xd_blame_ban_locked(e, depot, &why);
}

/* The only shard of parity that was used; 0: there were several. */
static unsigned only_parity(const struct job *j)
{
    unsigned only = 0;

    for (size_t i = 0; i < j->n_steps; i++)
        for (unsigned l = 0; l < j->steps[i].n_lost; l++) {
            const unsigned number = j->steps[i].present[j->steps[i].lost[l]];

            if (only != 0 && only != number)
                return 0;
            only = number;
        }
    return only;
}

/* What comes out is not as it is to be.  Where all shards are what the manifest says,
 * that is so however often; else it is tried once more with data that nothing has
 * proved, and with whole shards of parity, which can be. */
static void give_up_locked(struct xd_engine *e, const struct job *j)
{
    struct xd_coded_stripe *of = &e->coded.of[j->stripe];
    struct xd_stripe_state *state = &e->coded.stripes.states[j->stripe];

    if (!of->was_refetched && discard_unproved_locked(e, j)) {
        of->was_refetched = true;
        return;
    }
    if (j->n_whole < j->n_coded && !state->is_apart) {
        state->is_apart = true;
        return;
    }
    xd_engine_log_locked(
        e, XD_LOG_WARN,
        "stripe %llu: its parity is not that of its data: shard %u is "
        "decoded to other bytes than its sha-256 is of; it is not used",
        (unsigned long long)of->model->number, j->unfit->number);
    xd_coded_give_up_locked(e, j->stripe, only_parity(j));
}

/* Whether a depot of what was decoded from was banned meanwhile. */
static bool has_banned_locked(const struct xd_engine *e, size_t stripe)
{
    struct xd_coded_run run;

    for (size_t i = 0; xd_stripes_next_run(&e->coded.stripes, stripe, &i, &run);
         i++)
        if (e->depots.list[run.depot]->is_banned)
            return true;
    return false;
}

static void accept_locked(struct xd_engine *e, const struct xd_coded_run *run)
{
    if (xd_ledger_written(&e->ledger, run->range, run->depot) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    xd_verify_written_locked(e, run->range, NULL);
    xd_resume_written_locked(e, xd_range_length(run->range));
}

/* What was discarded meanwhile of the data would have come out wrong. */
static void give_locked(struct xd_engine *e, struct job *j)
{
    const bool is_good = !j->wrong && !j->unfit && e->verify.postponed.n == 0 &&
                         !has_banned_locked(e, j->stripe);
    struct xd_coded_run run;

    e->verify.reading = (struct xd_range){0, 0};
    xd_discard_postponed_locked(e);
    if (j->rc < 0)
        xd_engine_fail_locked(e, &j->error);
    else if (j->wrong)
        blame_locked(e, j);
    else if (j->unfit)
        give_up_locked(e, j);
    while (j->rc == 0 && !xd_engine_is_over_locked(e) &&
           xd_stripes_take(&e->coded.stripes, j->stripe, XD_STORED,
                           j->shape.range, &run)) {
        if (is_good)
            accept_locked(e, &run);
        else
            xd_stand_in_release(&e->coded.stripes, j->stripe, &run,
                                XD_DISCARD_BAD_PIECE);
    }
    if (is_good && j->rc == 0)
        xd_engine_log_locked(
            e, XD_LOG_DEBUG, "stripe %llu: decoded",
            (unsigned long long)e->coded.of[j->stripe].model->number);
    xd_engine_decide_later_locked(e);
}

void xd_decode_work_locked(struct xd_engine *e)
{
    struct job *j = xd_alloc(1, sizeof *j);

    if (!j) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    j->stripe = xd_stripes_take_ready(&e->coded.stripes);
    if (j->stripe == XD_NO_STRIPE) {
        xd_free(j);
        return;
    }
    j->shape = e->coded.stripes.list[j->stripe];
    find_checks_locked(e, j);
    if (find_steps_locked(e, j) < 0)
        j->rc = xd_fail_nomem(&j->error);
    e->verify.reading = j->shape.range;
    xd_engine_unlock(e);
    if (j->rc == 0)
        carry_out(e, j);
    xd_engine_lock(e);
    give_locked(e, j);
    xd_free(j->buffer);
    xd_free(j->steps);
    xd_free(j);
}
