/* SPDX-License-Identifier: MIT */
#include "engine/trust/validator_check.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/string_hash.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/source.h"
#include "engine/trust/blame.h"
#include "engine/trust/growing.h"
#include "engine/trust/sampler_ask.h"
#include "os/clock.h"

/* Number of places of the file that are compared. */
#define MAX_PLACES 4
#define PLACE_BYTES ((uint64_t)XD_SAMPLE_BYTES)

/* If this many responses had the same validator, no other is expected.  If the
 * host chooses at random between two servers, all come from the same one once
 * in two thousand checks. */
#define MAX_ALIKE 12

/* Minimum number of responses for each place.  A server with several files
 * under one validator may return the same file twice. */
#define MIN_ANSWERS 4

/* Number of failed requests for one place after which the depot is not asked
 * for a while. */
#define MAX_FAILED 2

/* Number of comparisons without a result after which the file of a source
 * counts as changed. */
#define MAX_CHECKS 3

enum finding {
    FOUND_EQUAL,     /* equal bytes under two validators */
    FOUND_DIFFERENT, /* different bytes */
    FOUND_ALIKE,     /* all responses had the same validator */
    FOUND_NOTHING    /* no response */
};

/* The responses for one place.  All are compared with the first. */
struct answers {
    unsigned n;
    uint64_t hashes[MAX_ALIKE]; /* hashes of their validators */
    char validator[XD_SAMPLER_VALIDATOR_BYTES];
    unsigned char bytes[XD_SAMPLE_BYTES];
    bool is_each_another; /* no two responses at the first place had the same
                             validator */
};

/* The check of a source, place by place, as long as the finding is
 * FOUND_EQUAL. */
struct comparison {
    struct xd_depot_source *source;
    struct xd_range places[MAX_PLACES];
    size_t n_places, place;     /* the current place */
    unsigned n_asked, n_failed; /* requests for the current place */
    struct answers answers;
    enum finding finding;
};

uint64_t xd_validator_hash(const char *validator)
{
    uint64_t h = xd_string_hash(validator, strlen(validator));

    return h != 0 ? h : 1;
}

static bool is_compared(const struct xd_source_check *k, uint64_t hash)
{
    for (unsigned i = 0; i < k->n_alike; i++)
        if (k->alike[i] == hash)
            return true;
    return false;
}

bool xd_validator_is_new(const struct xd_depot_source *s, uint64_t hash)
{
    const struct xd_source_check *k = xd_source_known(s)->check;

    return k && k->n_alike < XD_ALIKE_MAX && !is_compared(k, hash);
}

static void note_alike(struct xd_depot_source *s, uint64_t hash)
{
    struct xd_source_check *k = xd_source_known(s)->check;

    if (xd_validator_is_new(s, hash))
        k->alike[k->n_alike++] = hash;
}

/* Drops the source if a sample has shown that the file changed.  If a request
 * has shown it, the depot is banned when that request ends. */
static void drop_if_sampled_locked(struct xd_engine *e,
                                   struct xd_depot_source *s)
{
    struct xd_depot *depot = s->facts->check->depot;
    struct xd_error error = {0};

    if (!s->was_sampled || s->validators != XD_VALIDATORS_CHANGED)
        return;
    xd_fail(
        &error, XD_E_DIFFERENT,
        "%s: its file has changed during the download: a sample has another "
        "validator, and answers differ",
        xd_url_name(xd_source_url(s)).s);
    xd_blame_ban_locked(e, depot->number, &error);
    depot->answers_differ = depot->is_banned;
}

void xd_validator_check_begin_locked(struct xd_engine *e,
                                     struct xd_depot *depot,
                                     struct xd_depot_source *s, uint64_t sought)
{
    struct xd_source_facts *facts = xd_source_facts(s);
    struct xd_source_check *k;

    if (facts && !facts->check)
        facts->check = xd_alloc(1, sizeof *k);
    if (!facts || !facts->check) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    k = facts->check;
    k->source = s;
    k->depot = depot;
    k->sought = sought;
    if (k->n == MAX_CHECKS) {
        s->validators = XD_VALIDATORS_CHANGED;
        drop_if_sampled_locked(e, s);
        return;
    }
    k->n++;
    s->validators = XD_VALIDATORS_UNCHECKED;
    k->next = e->unchecked;
    e->unchecked = k;
    xd_sampler_run_locked(e);
}

bool xd_validator_check_can_work_locked(const struct xd_engine *e)
{
    return e->unchecked != NULL;
}

/* Chooses the places.  The last place is at the end of the file, because the
 * bytes that are written last, such as the directory of an archive, differ most
 * often. */
static size_t choose_places(struct xd_range all,
                            struct xd_range out[MAX_PLACES])
{
    uint64_t length = xd_range_length(all);
    size_t n = length / PLACE_BYTES >= MAX_PLACES ? MAX_PLACES : 1;

    for (size_t i = 0; i < n; i++) {
        out[i].end = all.begin + length / n * (i + 1);
        if (i + 1 == n)
            out[i].end = all.end;
        out[i].begin = all.begin;
        if (out[i].end - all.begin > PLACE_BYTES)
            out[i].begin = out[i].end - PLACE_BYTES;
    }
    return n;
}

/* Adds a response.  Returns false if its bytes differ from those of the first
 * response. */
static bool add_answer(struct answers *answers,
                       const struct xd_sampler *sampler, size_t len)
{
    if (answers->n == 0) {
        memcpy(answers->validator, sampler->validator,
               sizeof answers->validator);
        memcpy(answers->bytes, sampler->buffer, len);
    }
    answers->hashes[answers->n++] = xd_validator_hash(sampler->validator);
    return memcmp(answers->bytes, sampler->buffer, len) == 0;
}

static unsigned count_of(const struct answers *answers, uint64_t hash)
{
    unsigned n = 0;

    for (unsigned i = 0; i < answers->n; i++)
        n += answers->hashes[i] == hash;
    return n;
}

static bool are_several(const struct answers *answers)
{
    return answers->n > 0 && count_of(answers, answers->hashes[0]) < answers->n;
}

/* Returns true if a validator was returned twice, or in an earlier
 * comparison. */
static bool is_one_repeated(const struct answers *answers,
                            const struct xd_depot_source *s)
{
    for (unsigned i = 0; i < answers->n; i++)
        if (is_compared(s->facts->check, answers->hashes[i]) ||
            count_of(answers, answers->hashes[i]) > 1)
            return true;
    return false;
}

/* Returns true if one of the validators is the source's own validator or was
 * compared with it.  Without this condition, each of two different files might
 * only be compared with itself. */
static bool are_linked(const struct answers *answers,
                       const struct xd_depot_source *s)
{
    uint64_t own = xd_validator_hash(s->facts->validator);

    for (unsigned i = 0; i < answers->n; i++)
        if (answers->hashes[i] == own ||
            is_compared(s->facts->check, answers->hashes[i]))
            return true;
    return false;
}

static bool are_enough(const struct answers *answers,
                       const struct xd_depot_source *s, uint64_t sought)
{
    return answers->n >= MIN_ANSWERS && are_several(answers) &&
           (answers->is_each_another ||
            (are_linked(answers, s) &&
             (sought == 0 || count_of(answers, sought) > 0)));
}

/* Judges the responses for a place, whose bytes are all equal. */
static enum finding judge(struct answers *answers,
                          const struct xd_depot_source *s, bool is_first)
{
    if (answers->n == 0)
        return FOUND_NOTHING;
    if (!are_several(answers))
        return FOUND_ALIKE;
    if (are_enough(answers, s, is_first ? s->facts->check->sought : 0))
        return FOUND_EQUAL;
    answers->is_each_another = is_first && !is_one_repeated(answers, s);
    return answers->is_each_another ? FOUND_EQUAL : FOUND_DIFFERENT;
}

/* Returns true if the place needs no more responses: they had at least two
 * validators.  At the first place, one of these must be the validator that
 * caused the check. */
static bool has_enough(const struct comparison *c)
{
    return c->n_asked == MAX_ALIKE ||
           are_enough(&c->answers, c->source,
                      c->place == 0 ? c->source->facts->check->sought : 0);
}

static void end_place_locked(struct comparison *c)
{
    struct xd_depot_source *s = c->source;

    c->finding = judge(&c->answers, s, c->place == 0);
    /* the first place has shown that there are several validators */
    if (c->place > 0 && c->finding == FOUND_ALIKE && are_linked(&c->answers, s))
        c->finding = FOUND_EQUAL;
    for (unsigned i = 0; i < c->answers.n && c->finding == FOUND_EQUAL; i++)
        note_alike(s, c->answers.hashes[i]);
    c->place++;
    c->answers.n = c->n_asked = c->n_failed = 0;
}

/* Sets *q to the next request.  Returns false if no more are needed. */
static bool take_locked(struct xd_engine *e, struct comparison *c,
                        struct xd_sampler_question *q)
{
    while (c->finding == FOUND_EQUAL && c->place < c->n_places &&
           (xd_engine_is_over_locked(e) || has_enough(c)))
        end_place_locked(c);
    if (c->finding != FOUND_EQUAL || c->place == c->n_places)
        return false;
    *q = (struct xd_sampler_question){
        .depot = c->source->facts->check->depot,
        .source = c->source,
        .range = c->places[c->place],
        .request = xd_sampler_request(c->source, c->places[c->place]),
        .is_anew = true};
    xd_sampler_take_locked(e, q);
    return true;
}

static void give_locked(struct xd_engine *e, struct comparison *c,
                        const struct xd_sampler_question *q)
{
    const struct xd_sampler *sampler = &e->sampler;
    const bool is_here = xd_sampler_give_locked(e, q);

    c->n_asked++;
    if (is_here &&
        !add_answer(&c->answers, sampler, (size_t)xd_range_length(q->range)))
        c->finding = FOUND_DIFFERENT;
    else if (!is_here && sampler->verdict == XD_VERDICT_AGAIN &&
             ++c->n_failed == MAX_FAILED)
        c->finding = FOUND_NOTHING;
}

static void conclude_locked(struct xd_engine *e, const struct comparison *c)
{
    struct xd_depot_source *s = c->source;
    const enum finding finding = c->finding;

    s->validators = XD_VALIDATORS_CHANGED;
    if (finding == FOUND_NOTHING) {
        s->validators = XD_VALIDATORS_OPEN;
        s->facts->check->open_since = xd_now();
    } else if (finding == FOUND_ALIKE &&
               strcmp(c->answers.validator, s->facts->validator) == 0) {
        /* The file has not changed: the depot answers every conditional request
         * as if the condition were false. */
        s->validators = XD_VALIDATORS_HOLD;
        s->knows_no_conditions = true;
    } else if (finding == FOUND_EQUAL) {
        s->validators = XD_VALIDATORS_VARY;
        s->facts->check->n = 0;
        note_alike(s, xd_validator_hash(s->facts->validator));
        if (s->varies)
            return;
        s->varies = true;
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "%s: its validators differ "
                             "between answers, but samples of its bytes are "
                             "the same: the validators are ignored",
                             xd_url_name(xd_source_url(s)).s);
    }
}

static void compare_answers_locked(struct xd_engine *e,
                                   struct xd_depot_source *s)
{
    struct comparison *c = xd_alloc(1, sizeof *c);
    struct xd_sampler_question q;

    if (!c) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    c->source = s;
    c->n_places = choose_places(xd_range_clip(s->range, e->wanted), c->places);
    while (take_locked(e, c, &q)) {
        xd_engine_unlock(e);
        xd_sampler_ask(e, &q);
        xd_engine_lock(e);
        give_locked(e, c, &q);
    }
    conclude_locked(e, c);
    drop_if_sampled_locked(e, s);
    xd_free(c);
}

void xd_validator_check_work_locked(struct xd_engine *e)
{
    struct xd_source_check *k = e->unchecked;
    const struct xd_worker *worker;

    e->unchecked = k->next;
    if (k->source->growth == XD_GROWTH_UNCHECKED)
        xd_growing_compare_locked(e, k);
    else
        compare_answers_locked(e, k->source);
    k->source->was_sampled = false;
    worker = k->depot->worker;
    if (worker)
        xd_runner_wakeup(worker->runner);
}
