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
#include "engine/source.h"
#include "engine/trust/blame.h"
#include "engine/trust/discard.h"
#include "io/hash.h"
#include "manifest/model.h"
#include "manifest/parity.h"
#include "session/stand_in.h"
#include "transfer/sample.h"

/* Bytes of each shard that are decoded at a time, few enough that k slices fit
 * in a cache. */
#define SLICE ((size_t)32 * 1024)

#define MOST_REQUESTS 8u /* simultaneous requests to verify parity */

/* A shard that is compared with its hash before or after decoding. */
struct check {
    struct xd_range range; /* range of the shard in the file */
    unsigned number;
    unsigned depot; /* depot that delivered it, if it is parity; else
                       XD_NO_DEPOT */
    const char *sha256;
};

/* A parity shard that replaces data only in part.  If its hash must be checked,
 * all of it is fetched. */
struct part_of_parity {
    struct check whole;
    struct xd_request request;
};

/* The decoding of a stripe, done without the lock, and its result. */
struct job {
    size_t stripe;
    struct xd_stripe_shape shape;
    struct xd_stripe_step *steps;
    size_t n_steps, capacity;
    struct check before[XD_SHARDS_MAX], after[XD_SHARDS_MAX];
    struct part_of_parity parts[XD_SHARDS_MAX];
    unsigned n_before, n_after, n_parts;
    unsigned n_coded; /* number of shards to decode */
    unsigned n_whole; /* how many of these are replaced by a whole parity
                         shard */
    /* k slices of shards, and room for as many results */
    unsigned char *buffer;

    int rc; /* negative on failure, with `error` */
    struct xd_error error;
    const struct check *wrong; /* wrong shard in `before` or `parts` */
    const struct check *unfit; /* wrong data in `after` */
};

bool xd_decode_can_work_locked(const struct xd_engine *e)
{
    return xd_stripes_has_ready(&e->coded.stripes) &&
           e->session.phase == XD_PHASE_FETCH;
}

/* ---- preparation, with the lock ---- */

/* Returns the range of the file with the `len` bytes at offset `at` of a shard.
 * It is shorter at the end of the file. */
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

/* Returns the depot's source of the parity shard, or NULL. */
static struct xd_depot_source *parity_source(const struct xd_engine *e,
                                             const struct job *j,
                                             unsigned depot, unsigned number)
{
    const struct xd_depot *d = e->depots.list[depot];
    struct xd_depot_source *s;

    for (size_t i = 0; (s = xd_depot_parity(d, j->shape.range.begin, i)); i++)
        if (xd_source_parity(s).number == number)
            return s;
    return NULL;
}

/* Adds the parity shard of a run to the list, unless it is in the list
 * already. */
static void put_part_locked(const struct xd_engine *e, struct job *j,
                            const struct xd_coded_run *run, const char *sha256)
{
    const struct xd_depot_source *s =
        parity_source(e, j, run->depot, run->parity);

    for (unsigned i = 0; i < j->n_parts; i++)
        if (j->parts[i].whole.depot == run->depot &&
            j->parts[i].whole.number == run->parity)
            return;
    if (!s || !sha256 || j->n_parts == XD_SHARDS_MAX)
        return;
    j->parts[j->n_parts++] = (struct part_of_parity){
        .whole = {run->range, run->parity, run->depot, sha256},
        .request = {.url = xd_source_url(s),
                    .offset = xd_source_offset(s),
                    .length = j->shape.shard_bytes,
                    .object_size = xd_source_object_size(s),
                    .framing = xd_source_framing(s),
                    /* a content encoding does no harm: encoded bytes would not
                     * match the hash */
                    .takes_encoded = true}};
}

/* Adds the parity shards that replace parts of the data shard to the list. */
static void put_parts_locked(const struct xd_engine *e, struct job *j,
                             const struct xd_range shard)
{
    const struct xd_model_stripe *m = e->coded.of[j->stripe].model;
    const struct xd_model_file *f = &e->depots.manifest->files[e->depots.file];
    struct xd_coded_run run;

    for (size_t i = 0;
         xd_stripes_next_run(&e->coded.stripes, j->stripe, &i, &run); i++)
        if (!xd_range_is_empty(xd_range_clip(run.range, shard)))
            put_part_locked(e, j, &run, xd_stripe_sha256(f, m, run.parity));
}

/* Lists the hashes to check: before decoding, the hashes of whole parity shards
 * and of unverified data; after decoding, the hashes of the decoded data. */
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
        if (!xd_stripes_is_whole(&e->coded.stripes, j->stripe, i, &run)) {
            put_parts_locked(e, j, data.range);
            continue;
        }
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

/* ---- decoding, without the lock ---- */

/* Reads a slice of each shard, or of the parity that replaces it.  NULL stands
 * for zeros after the end of the file. */
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

/* Finds the first shard with a wrong hash, or NULL. */
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

/* Records in the journal that the decoded bytes were written. */
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

/* Fetches and hashes the parity shards that were used in part, to find a depot
 * that sent wrong bytes.  A depot that does not answer is not blamed. */
static int prove_parts(struct xd_engine *e, struct job *j)
{
    const struct xd_batch_times times = {.until = e->times.deadline,
                                         .first = XD_NEVER,
                                         .grace = XD_NEVER,
                                         .turn = XD_NEVER};
    struct xd_batch_config config = xd_options_batch(&e->options);
    struct xd_sample *samples;
    int rc;

    if (j->n_parts == 0)
        return 0;
    samples = xd_alloc(j->n_parts, sizeof *samples);
    if (!samples)
        return xd_fail_nomem(&j->error);
    for (unsigned i = 0; i < j->n_parts; i++)
        samples[i].request = j->parts[i].request;
    config.max_failures = 1;
    rc = xd_resume_open_batch(e, &config, MOST_REQUESTS, &j->error);
    if (rc == 0) {
        rc = xd_samples_take(e->resume.batch, samples, j->n_parts, &times,
                             &j->error);
        xd_resume_close_batch(e);
    }
    for (unsigned i = 0; rc == 0 && i < j->n_parts && !j->wrong; i++)
        if (xd_sample_was_taken(&samples[i]) &&
            strcmp(samples[i].digest, j->parts[i].whole.sha256) != 0)
            j->wrong = &j->parts[i].whole;
    xd_samples_fini(samples, j->n_parts);
    xd_free(samples);
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
    if (j->rc == 0 && !j->wrong && j->n_after < j->n_coded)
        j->rc = prove_parts(e, j); /* no other hash would prove them */
    if (j->rc == 0 && !j->wrong)
        j->rc = decode(e, j);
    if (j->rc == 0 && !j->wrong)
        j->rc = find_wrong(e, j, j->after, j->n_after, &j->unfit);
    if (j->rc == 0 && j->unfit && j->n_after == j->n_coded)
        j->rc = prove_parts(e, j);
    if (j->rc == 0 && !j->wrong && !j->unfit)
        j->rc = note_written(e, j);
}

/* ---- results, with the lock ---- */

/* Discards data that no piece proves, except for data that was read and cannot
 * be fetched again.  Returns true if it discarded any. */
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

/* Returns the depot that delivered all of the range, or XD_NO_DEPOT. */
static unsigned origin_of_locked(const struct xd_engine *e, struct xd_range r)
{
    for (size_t i = 0; i < e->depots.n; i++)
        if (xd_ledger_bytes_of(&e->ledger, (unsigned)i, r) ==
            xd_range_length(r))
            return (unsigned)i;
    return XD_NO_DEPOT;
}

/* Blames the depot of a shard that does not match its hash.  If several depots
 * delivered the shard, it is fetched once more. */
static void blame_locked(struct xd_engine *e, const struct job *j)
{
    struct xd_coded_stripe *of = &e->coded.of[j->stripe];
    unsigned depot = j->wrong->depot;
    struct xd_depot_source *source;
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
    source = j->wrong->depot == XD_NO_DEPOT
                 ? xd_depot_source(e->depots.list[depot], j->wrong->range)
                 : parity_source(e, j, depot, j->wrong->number);
    if (!source || !xd_blame_spare_locked(e, depot, source, &why))
        xd_blame_ban_locked(e, depot, &why);
}

/* Returns the only parity shard that was used; 0 if there were several. */
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

/* Handles wrong decoded data.  If all shards match their hashes, repeating will
 * not help.  Otherwise the stripe is decoded once more, after fetching
 * unverified data again, and once with whole parity shards, whose hashes can be
 * checked. */
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
        "stripe %llu: its parity does not match its data: shard %u, decoded, "
        "does not match its sha-256; the parity is not used",
        (unsigned long long)of->model->number, j->unfit->number);
    xd_coded_give_up_locked(e, j->stripe, only_parity(j));
}

/* Returns true if a depot whose bytes were used was banned meanwhile. */
static bool has_banned_locked(const struct xd_engine *e, size_t stripe)
{
    struct xd_coded_run run;

    for (size_t i = 0; xd_stripes_next_run(&e->coded.stripes, stripe, &i, &run);
         i++)
        if (e->depots.list[run.depot]->is_banned)
            return true;
    return false;
}

/* Accepts decoded bytes.  Verified data gets no origin, because it was computed
 * from bytes of several depots.  If it turns out to be wrong, the depot of the
 * parity is not to blame, because its parity was verified. */
static void accept_locked(struct xd_engine *e, const struct xd_coded_run *run)
{
    const bool is_proved = xd_pieces_cover(&e->verify.pieces, run->range);

    if (xd_ledger_written(&e->ledger, run->range,
                          is_proved ? XD_NO_DEPOT : run->depot) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    xd_verify_written_locked(e, run->range, NULL);
    xd_resume_written_locked(e, xd_range_length(run->range));
}

/* Takes over the result.  It is dropped if data of the stripe was discarded
 * meanwhile, because that data may have been wrong. */
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
        if (is_good) {
            accept_locked(e, &run);
            xd_stand_in_decoded(&e->coded.stripes, j->stripe, &run);
        } else {
            xd_stand_in_release(&e->coded.stripes, j->stripe, &run,
                                XD_DISCARD_BAD_PIECE);
        }
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
