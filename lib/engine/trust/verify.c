/* SPDX-License-Identifier: MIT */
#include "engine/trust/verify.h"

#include <string.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "base/text.h"
#include "command/manifests.h"
#include "engine/engine.h"
#include "engine/sched_events.h"
#include "engine/readers/window.h"
#include "engine/trust/blame.h"
#include "engine/trust/combine.h"
#include "engine/trust/discard.h"

#define BUFFER_BYTES ((size_t)256 * 1024)

/* Number of bytes of the whole file that are hashed at a time.  In between,
 * pieces are hashed, because readers may wait for them. */
#define STEP ((uint64_t)1 << 20)

/* Maximum number of pieces that are fetched again because another program has
 * changed them.  After that the download fails. */
#define MOST_CHANGED 16

/* If bytes are dropped after reading, pieces are verified only if two of them
 * fit into this much memory. */
#define MAX_WINDOW ((uint64_t)512 << 20)

/* Makes the window long enough to hash a piece in it while another block is
 * being received. */
static void fit_window(struct xd_engine *e)
{
    struct xd_readers *all = &e->readers;
    uint64_t longest = 0;

    all->window = xd_window_bytes(&e->options, all->media_rate);
    for (size_t i = 0; i < e->verify.pieces.n; i++) {
        uint64_t length =
            xd_range_length(xd_pieces_range(&e->verify.pieces, i));

        if (length > longest)
            longest = length;
    }
    for (size_t i = 0; i < e->coded.stripes.n; i++) {
        uint64_t length = xd_range_length(e->coded.stripes.list[i].range);

        if (length > longest)
            longest = length;
    }
    if (longest > MAX_WINDOW / 2 && xd_engine_is_bounded(e))
        xd_pieces_fini(&e->verify.pieces);
    else
        all->least_window = 2 * longest;
    if (all->window < all->least_window)
        all->window = all->least_window;
}

/* Warns if the strongest hash is weak, so that an attacker could create another
 * file with it. */
static void log_if_weak_locked(struct xd_engine *e)
{
    const char *proof =
        xd_proof_strongest(e->verify.whole, &e->verify.pieces, e->wanted);

    if (proof && xd_hash_is_weak(proof))
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "there is no better checksum than %s, which is "
                             "weak: it detects damage, but no forgery",
                             proof);
}

int xd_verify_start_locked(struct xd_engine *e, struct xd_error *err)
{
    struct xd_verify *v = &e->verify;
    int rc = 0;

    if (xd_pieces_init(&v->pieces, e->depots.manifest, e->depots.file,
                       e->wanted) < 0)
        return xd_fail_nomem(err);
    fit_window(e);
    v->hashed_to = e->wanted.begin;
    /* Bytes that are dropped cannot be read back to hash the whole file.  A
     * pipe can still hash them, because it does so as it reads. */
    if (xd_options_want_all(&e->options) &&
        (e->dest.output->is_read_once || !xd_engine_is_bounded(e)))
        rc = xd_proof_new(&v->whole, e->depots.manifest, e->depots.file,
                          &v->pieces, e->wanted, err);
    if (rc == 0 && !e->dest.output->has_many_files)
        rc = xd_signed_new(&v->signature, e->depots.manifest, e->depots.file,
                           &e->options, err);
    if (rc == 0 && (xd_verify_passes_whole(e) || v->pieces.n > 0)) {
        v->buffer = xd_alloc(BUFFER_BYTES, 1);
        rc = v->buffer ? 0 : xd_fail_nomem(err);
    }
    if (rc == 0)
        log_if_weak_locked(e);
    return rc;
}

int xd_verify_expect_locked(struct xd_engine *e, size_t n_pieces)
{
    struct xd_verify *v = &e->verify;

    if (!v->buffer)
        v->buffer = xd_alloc(BUFFER_BYTES, 1);
    return v->buffer ? xd_pieces_reserve(&v->pieces, n_pieces) : XD_E_NOMEM;
}

int xd_verify_bind_locked(struct xd_engine *e, const struct xd_manifest *m,
                          struct xd_error *err)
{
    struct xd_verify *v = &e->verify;
    int rc =
        xd_proof_new(&v->whole, m, e->depots.file, &v->pieces, e->wanted, err);

    if (rc == 0 && !v->buffer) {
        v->buffer = xd_alloc(BUFFER_BYTES, 1);
        rc = v->buffer ? 0 : xd_fail_nomem(err);
    }
    return rc;
}

void xd_verify_fini(struct xd_verify *v)
{
    xd_blame_fini(&v->blame);
    xd_proof_free(v->whole);
    xd_signature_free(v->signature);
    xd_hasher_free(v->piece_hasher);
    xd_rangeset_fini(&v->postponed);
    xd_pieces_fini(&v->pieces);
    xd_free(v->queue);
    xd_free(v->buffer);
    *v = (struct xd_verify){0};
}

bool xd_verify_passes_whole(const struct xd_engine *e)
{
    return e->verify.whole || e->verify.signature;
}

void xd_verify_pass(struct xd_engine *e, const void *data, size_t len)
{
    struct xd_verify *v = &e->verify;

    if (v->whole)
        xd_proof_add(v->whole, data, len);
    if (v->signature)
        xd_signature_add(v->signature, data, len);
}

bool xd_verify_decides(const struct xd_engine *e, struct xd_range range)
{
    const struct xd_pieces *pieces = &e->verify.pieces;
    const struct xd_output_traits *output = e->dest.output;

    return (pieces->n > 0 &&
            xd_pieces_cover(pieces,
                            output->has_many_files ? range : e->wanted)) ||
           (e->verify.whole && output->is_seen_at_end);
}

/* Returns true if the lane that wrote piece `i` hashed it, and no byte of it
 * was written again since. */
static bool is_proved_locked(const struct xd_engine *e, size_t i,
                             const struct xd_piece_hash *hash)
{
    return hash && hash->has_ended && hash->ended_piece == i &&
           hash->ended_era == e->verify.era &&
           strcmp(hash->hex, xd_pieces_hex(&e->verify.pieces, i)) == 0 &&
           !xd_blame_suspects(&e->verify.blame, i);
}

static void accept_locked(struct xd_engine *e, struct xd_range range)
{
    if (xd_ledger_change(&e->ledger, XD_VERIFY, range) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    xd_report_verified_locked(e, range);
    xd_set_verified_locked(e, range);
    xd_coded_written_locked(e, range);
    xd_engine_wake_readers_locked(e);
    if (xd_verify_passes_whole(e))
        xd_cond_signal(&e->bytes_ready);
}

static int enqueue(struct xd_verify *v, size_t piece)
{
    if (v->queue_n == v->queue_capacity) {
        size_t capacity = v->queue_capacity ? 2 * v->queue_capacity : 16;
        size_t *queue = xd_alloc(capacity, sizeof *queue);

        if (!queue)
            return XD_E_NOMEM;
        for (size_t i = 0; i < v->queue_n; i++)
            queue[i] = v->queue[(v->queue_first + i) % v->queue_capacity];
        xd_free(v->queue);
        v->queue = queue;
        v->queue_first = 0;
        v->queue_capacity = capacity;
    }
    v->queue[(v->queue_first + v->queue_n++) % v->queue_capacity] = piece;
    v->pieces.states[piece] = XD_PIECE_QUEUED;
    return 0;
}

static size_t dequeue(struct xd_verify *v)
{
    size_t piece = v->queue[v->queue_first];

    v->queue_first = (v->queue_first + 1) % v->queue_capacity;
    v->queue_n--;
    return piece;
}

/* Handles piece `i`, which is complete. */
static void complete_locked(struct xd_engine *e, size_t i,
                            const struct xd_piece_hash *hash)
{
    struct xd_pieces *p = &e->verify.pieces;

    if (is_proved_locked(e, i, hash)) {
        p->states[i] = XD_PIECE_GOOD;
        accept_locked(e, xd_pieces_range(p, i));
    } else if (enqueue(&e->verify, i) < 0) {
        xd_engine_fail_nomem_locked(e);
    }
}

void xd_verify_written_locked(struct xd_engine *e, struct xd_range range,
                              const struct xd_piece_hash *hash)
{
    const struct xd_range written = range;
    struct xd_verify *v = &e->verify;
    struct xd_range ready;
    size_t i;

    while (xd_pieces_next_ready(&v->pieces, &e->ledger, &range, &ready, &i)) {
        if (i == XD_NO_PIECE)
            accept_locked(e, ready);
        else
            complete_locked(e, i, hash);
    }
    xd_coded_written_locked(e, written);
    if (v->queue_n > 0)
        xd_cond_signal(&e->bytes_ready);
}

void xd_verify_held_locked(struct xd_engine *e, struct xd_range range)
{
    if (xd_ledger_change(&e->ledger, XD_CLAIM, range) < 0 ||
        xd_ledger_written(&e->ledger, range, XD_HELD) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    xd_report_held_locked(e, range);
    xd_verify_written_locked(e, range, NULL);
}

/* Returns true if the keeper hashes the whole file.  Bytes that are read only
 * once are hashed by their reader. */
static bool hashes_whole(const struct xd_engine *e)
{
    return xd_verify_passes_whole(e) && !e->dest.output->is_read_once;
}

/* Returns true if the file is hashed again at the end, because other programs
 * may write to it until it is complete. */
static bool hashes_at_the_end(const struct xd_engine *e)
{
    return e->dest.path && !e->options.no_final_check;
}

/* Returns true if pieces must be hashed again at the end, because another
 * program may have changed them. */
static bool reads_back_locked(const struct xd_engine *e)
{
    return hashes_at_the_end(e) && !xd_verify_passes_whole(e) &&
           e->verify.n_read_back < e->verify.pieces.n &&
           (e->dest.output->has_many_files ||
            xd_file_sink_was_opened(e->dest.sink));
}

bool xd_verify_has_check_locked(const struct xd_engine *e)
{
    return hashes_whole(e) || reads_back_locked(e);
}

/* Maximum length of a piece that is kept in memory for comparison.  If a longer
 * piece is wrong, the bad depots are only found by asking each depot alone. */
#define MAX_COPY ((uint64_t)16 << 20)

/* A unit of work of the keeper. */
struct job {
    enum { NOTHING, PIECE, PIECE_AGAIN, WHOLE, COMBINE } kind;
    size_t piece;
    struct xd_range range;
    bool needs_bytes[2];        /* PIECE: its bytes are needed if it is wrong
                                   [0], or right [1] */
    struct xd_combine *combine; /* COMBINE: copies of a wrong piece */
};

/* The result of a job. */
struct outcome {
    int rc; /* negative on failure, with `error` */
    struct xd_error error;
    bool is_right;
    unsigned char *bytes; /* bytes of the piece, or NULL */
};

static struct job job_of_piece(const struct xd_verify *v, size_t piece)
{
    return (struct job){.kind = PIECE,
                        .piece = piece,
                        .range = xd_pieces_range(&v->pieces, piece)};
}

/* Returns the job to hash the next bytes of the whole file; at the end, all
 * remaining bytes. */
static struct job job_of_whole_locked(const struct xd_engine *e)
{
    const struct xd_verify *v = &e->verify;
    bool is_last = e->session.phase == XD_PHASE_CHECK;
    struct job job = {.kind = NOTHING, .range = {v->hashed_to, v->hashed_to}};

    if (!hashes_whole(e) || e->wanted.end == v->hashed_to ||
        (e->session.phase != XD_PHASE_FETCH && !is_last))
        return job;
    job.range.end = xd_engine_readable_to_locked(e, v->hashed_to);
    if (xd_range_length(job.range) >= STEP)
        job.range.end = job.range.begin + STEP;
    else if (!is_last)
        return job;
    if (!xd_range_is_empty(job.range) && (is_last || !hashes_at_the_end(e)))
        job.kind = WHOLE;
    return job;
}

static struct job choose_locked(const struct xd_engine *e)
{
    const struct xd_verify *v = &e->verify;
    const struct xd_suspicion *suspicion;
    struct job job = {.kind = NOTHING};

    if (e->session.phase >= XD_PHASE_FAIL)
        return job;
    if (v->queue_n > 0)
        return job_of_piece(v, v->queue[v->queue_first]);
    if (xd_blame_to_combine(&v->blame, &suspicion)) {
        job = job_of_piece(v, suspicion->piece);
        job.kind = COMBINE;
        return job;
    }
    if (e->session.phase != XD_PHASE_CHECK || !reads_back_locked(e))
        return job_of_whole_locked(e);
    job = job_of_piece(v, v->n_read_back);
    job.kind = PIECE_AGAIN;
    return job;
}

bool xd_verify_can_work_locked(const struct xd_engine *e)
{
    return choose_locked(e).kind != NOTHING;
}

/* Records that a chosen job begins, before the lock is released.  Returns false
 * if it need not be done any more, because part of its piece was discarded
 * meanwhile, or if there is no memory for it. */
static bool take_locked(struct xd_engine *e, struct job *job)
{
    struct xd_verify *v = &e->verify;

    switch (job->kind) {
    case PIECE:
        dequeue(v);
        if (v->pieces.states[job->piece] != XD_PIECE_QUEUED)
            return false;
        v->pieces.states[job->piece] = XD_PIECE_HASHED;
        v->reading = job->range;
        for (unsigned right = 0; right < 2; right++)
            job->needs_bytes[right] =
                xd_range_length(job->range) <= MAX_COPY &&
                xd_blame_needs_bytes(&v->blame, job->piece, right);
        return true;
    case PIECE_AGAIN:
        v->n_read_back++;
        return true;
    case WHOLE: /* hashed_to is reset if bytes are discarded meanwhile */
        v->hashed_to = job->range.end;
        return true;
    case COMBINE:
        if (v->pieces.states[job->piece] != XD_PIECE_HASHED) {
            xd_blame_refetch(&v->blame, job->piece);
            return false;
        }
        if (xd_combine_new_locked(&job->combine, e, job->piece) < 0) {
            xd_combine_free(job->combine);
            xd_engine_fail_nomem_locked(e);
            return false;
        }
        v->reading = job->range;
        return true;
    case NOTHING:
        break;
    }
    return false;
}

/* Reads `range` back, and adds it to `hasher` or, if that is NULL, to the hash
 * of the whole file.  Called without the lock. */
static int hash_range(struct xd_engine *e, struct xd_hasher *hasher,
                      struct xd_range range, struct xd_error *err)
{
    while (!xd_range_is_empty(range)) {
        size_t len = BUFFER_BYTES;
        int rc;

        if (len > xd_range_length(range))
            len = (size_t)xd_range_length(range);
        rc = xd_sink_read(e->dest.sink, range.begin - e->wanted.begin,
                          e->verify.buffer, len, err);
        if (rc < 0)
            return rc;
        if (hasher)
            xd_hasher_add(hasher, e->verify.buffer, len);
        else
            xd_verify_pass(e, e->verify.buffer, len);
        range.begin += len;
    }
    return 0;
}

/* Returns the bytes of the piece.  Returns NULL if they cannot be read; then
 * nothing is compared with them. */
static unsigned char *read_piece(struct xd_engine *e, struct xd_range range)
{
    const size_t len = (size_t)xd_range_length(range);
    unsigned char *bytes = xd_alloc(len, 1);

    if (bytes && xd_sink_read(e->dest.sink, range.begin - e->wanted.begin,
                              bytes, len, NULL) < 0) {
        xd_free(bytes);
        return NULL;
    }
    return bytes;
}

static void restart_whole(struct xd_verify *v)
{
    if (v->whole)
        xd_proof_restart(v->whole);
    if (v->signature)
        xd_signature_restart(v->signature);
}

static void carry_out(struct xd_engine *e, const struct job *job,
                      struct outcome *out)
{
    struct xd_verify *v = &e->verify;
    char hex[XD_HASH_HEX_MAX + 1];

    if (job->kind == COMBINE) {
        out->rc = xd_combine_run(job->combine, &out->error);
        return;
    }
    if (job->kind == WHOLE) {
        if (job->range.begin == e->wanted.begin)
            restart_whole(v);
        out->rc = hash_range(e, NULL, job->range, &out->error);
        return;
    }
    out->rc = xd_hasher_become(&v->piece_hasher,
                               xd_pieces_algorithm(&v->pieces, job->piece),
                               &out->error);
    if (out->rc < 0)
        return;
    out->rc = hash_range(e, v->piece_hasher, job->range, &out->error);
    xd_hasher_end(v->piece_hasher, hex);
    out->is_right = !XD_DEFENDS("pieces") ||
                    strcmp(hex, xd_pieces_hex(&v->pieces, job->piece)) == 0;
    if (out->rc == 0 && job->needs_bytes[out->is_right])
        out->bytes = read_piece(e, job->range);
}

/* Fetches a piece again, because it was right when it was received but was
 * changed since. */
static void fetch_changed_locked(struct xd_engine *e, struct xd_range range)
{
    struct xd_error error = {0};

    xd_fail(&error, XD_E_IO,
            "%s.part: another program has changed it within %llu-%llu",
            e->dest.path, (unsigned long long)range.begin,
            (unsigned long long)(range.end - 1));
    if (++e->verify.n_changed > MOST_CHANGED) {
        xd_engine_fail_locked(e, &error);
        return;
    }
    xd_engine_log_locked(e, XD_LOG_WARN, "%s: fetched again", error.msg);
    xd_discard_locked(e, range, XD_DISCARD_CHANGED);
    xd_engine_step_locked(
        e, (struct xd_session_event){.kind = XD_SESSION_DISCARDED});
}

static void judge_piece_locked(struct xd_engine *e, const struct job *job,
                               struct outcome *outcome)
{
    struct xd_verify *v = &e->verify;

    if (v->pieces.states[job->piece] != XD_PIECE_HASHED)
        return; /* discarded meanwhile */
    if (outcome->is_right) {
        v->pieces.states[job->piece] = XD_PIECE_GOOD;
        accept_locked(e, job->range);
    }
    xd_blame_hashed_locked(e, job->piece, outcome->is_right, &outcome->bytes);
}

/* Handles the result of a COMBINE job.  If a combination is right, the piece is
 * hashed again like any other. */
static void judge_combinations_locked(struct xd_engine *e,
                                      const struct job *job)
{
    struct xd_verify *v = &e->verify;
    bool is_bound;
    const unsigned n = xd_combine_n_tried(job->combine, &is_bound);

    if (xd_engine_is_over_locked(e))
        return;
    if (v->pieces.states[job->piece] != XD_PIECE_HASHED) {
        xd_blame_refetch(&v->blame, job->piece); /* discarded meanwhile */
    } else if (!xd_combine_has_found(job->combine)) {
        xd_blame_combined_in_vain_locked(e, job->piece, n, is_bound);
    } else if (xd_combine_note_locked(job->combine) < 0 ||
               enqueue(v, job->piece) < 0) {
        xd_engine_fail_nomem_locked(e);
    } else {
        xd_engine_log_locked(
            e, XD_LOG_INFO,
            "bytes %llu-%llu are right in combination %u of the copies of "
            "their parts",
            (unsigned long long)job->range.begin,
            (unsigned long long)(job->range.end - 1), n);
    }
}

static void give_locked(struct xd_engine *e, const struct job *job,
                        struct outcome *outcome)
{
    e->verify.reading = (struct xd_range){0, 0};
    xd_discard_postponed_locked(e);
    if (outcome->rc < 0)
        xd_engine_fail_locked(e, &outcome->error);
    else if (job->kind == PIECE)
        judge_piece_locked(e, job, outcome);
    else if (job->kind == COMBINE)
        judge_combinations_locked(e, job);
    else if (job->kind == PIECE_AGAIN && !outcome->is_right)
        fetch_changed_locked(e, job->range);
    xd_combine_free(job->combine);
    xd_free(outcome->bytes);
}

void xd_verify_work_locked(struct xd_engine *e)
{
    struct job job = choose_locked(e);
    struct outcome outcome = {.rc = 0};

    if (!take_locked(e, &job))
        return;
    xd_engine_unlock(e);
    carry_out(e, &job, &outcome);
    xd_engine_lock(e);
    give_locked(e, &job, &outcome);
}

int xd_verify_judge_locked(struct xd_engine *e, struct xd_error *err)
{
    struct xd_verify *v = &e->verify;
    const char *wrong, *right;
    char hex[XD_HASH_HEX_MAX + 1];

    if (!v->whole)
        return 0;
    wrong = xd_proof_end(v->whole, &right, hex);
    if (!wrong || !XD_DEFENDS("whole"))
        return 0;
    v->hashed_to = e->wanted.begin;
    v->whole_algorithm = wrong;
    v->whole_hex = right;
    memcpy(v->whole_got, hex, sizeof v->whole_got);
    return xd_verify_fail_locked(e, "", err);
}

/* Returns the name of the file for messages. */
static const char *name_of(const struct xd_engine *e)
{
    return e->dest.path ? xd_path_name(e->dest.path) : "the file";
}

struct xd_signature_check xd_verify_take_signature_locked(
    const struct xd_engine *e)
{
    return (struct xd_signature_check){.signature = e->verify.signature};
}

void xd_verify_check_signature(struct xd_signature_check *c)
{
    if (c->signature)
        (void)xd_signature_end(c->signature, c->signer, &c->error);
}

int xd_verify_give_signature_locked(struct xd_engine *e,
                                    const struct xd_signature_check *c,
                                    struct xd_error *err)
{
    struct xd_verify *v = &e->verify;

    if (!c->signature)
        return 0;
    memcpy(v->signer, c->signer, sizeof v->signer);
    v->hashed_to = e->wanted.begin;
    return c->error.code < 0 ? xd_signed_fail(name_of(e), &c->error, err) : 0;
}

void xd_verify_stop_locked(struct xd_engine *e)
{
    if (e->verify.signature)
        xd_signature_stop(e->verify.signature);
}

int xd_verify_fail_locked(const struct xd_engine *e, const char *more,
                          struct xd_error *err)
{
    const struct xd_verify *v = &e->verify;

    return xd_fail(
        err, XD_E_CORRUPT, "%s mismatch for %s: expected %s, got %s%s",
        v->whole_algorithm, name_of(e), v->whole_hex, v->whole_got, more);
}

const char *xd_verify_algorithm_locked(const struct xd_engine *e)
{
    const struct xd_verify *v = &e->verify;

    if (e->session.phase != XD_PHASE_END || e->error.code != XD_OK)
        return NULL;
    return xd_proof_strongest(v->whole, &v->pieces, e->wanted);
}

const char *xd_verify_signer_locked(const struct xd_engine *e)
{
    const struct xd_verify *v = &e->verify;

    if (e->session.phase != XD_PHASE_END || e->error.code != XD_OK)
        return NULL;
    return v->signature ? v->signer
                        : xd_signed_by(e->depots.manifest, e->depots.file);
}
