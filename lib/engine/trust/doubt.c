#include "engine/trust/doubt.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/engine.h"
#include "engine/trust/sampler_thread.h"
#include "os/clock.h"

/* Where bytes are compared: so many places, spread over the file. */
#define MAX_PLACES 4
#define PLACE_BYTES ((uint64_t)XD_SAMPLE_BYTES)

/* Answers with one and the same validator after which no other is expected: of
 * two servers chosen at random, both are met but once in two thousand times. */
#define MAX_ALIKE 12

/* Requests for one place in which the depot is silent or busy, after which it
 * is left alone for a while. */
#define MAX_FAILED 2

/* After so many comparisons of one source with no result its file counts as
 * changed. */
#define MAX_DOUBTS 3

enum finding {
    FOUND_EQUAL,     /* the same bytes under two validators */
    FOUND_DIFFERENT, /* other bytes */
    FOUND_ALIKE,     /* one validator only */
    FOUND_NOTHING    /* there was no answer */
};

/* An answer that others are compared with. */
struct first {
    bool is_set;
    char validator[XD_SAMPLER_VALIDATOR_BYTES];
    unsigned char bytes[XD_SAMPLE_BYTES];
};

uint64_t xd_doubt_hash(const char *validator)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */

    for (; *validator; validator++)
        h = (h ^ (unsigned char)*validator) * 1099511628211u;
    return h != 0 ? h : 1;
}

bool xd_doubt_is_new(const struct xd_depot_source *s, uint64_t hash)
{
    if (!s->alike || s->n_alike == XD_ALIKE_MAX)
        return false;
    for (unsigned i = 0; i < s->n_alike; i++)
        if (s->alike[i] == hash)
            return false;
    return true;
}

static void note_alike(struct xd_depot_source *s, uint64_t hash)
{
    if (xd_doubt_is_new(s, hash))
        s->alike[s->n_alike++] = hash;
}

void xd_doubt_locked(struct xd_engine *e, struct xd_depot *depot,
                     struct xd_depot_source *s, uint64_t sought)
{
    if (!s->alike)
        s->alike = xd_alloc(XD_ALIKE_MAX, sizeof *s->alike);
    if (!s->alike) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    s->sought = sought;
    if (s->n_doubts == MAX_DOUBTS) {
        s->validators = XD_VALIDATORS_CHANGED;
        return;
    }
    s->n_doubts++;
    s->validators = XD_VALIDATORS_DOUBTED;
    s->doubted_of = depot;
    s->next_doubted = e->doubted;
    e->doubted = s;
    xd_sampler_run_locked(e);
}

bool xd_doubt_can_work_locked(const struct xd_engine *e)
{
    return e->doubted != NULL;
}

/* The last one ends where the bytes do: what is written last, as the directory
 * of an archive, tells most. */
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

/* One answer more.  False: its bytes differ from those of the first. */
static bool is_alike(struct xd_depot_source *s,
                     const struct xd_sampler *sampler, size_t len,
                     struct first *first)
{
    if (!first->is_set) {
        memcpy(first->validator, sampler->validator, sizeof first->validator);
        memcpy(first->bytes, sampler->buffer, len);
        first->is_set = true;
    }
    if (memcmp(first->bytes, sampler->buffer, len) != 0)
        return false;
    note_alike(s, xd_doubt_hash(sampler->validator));
    return true;
}

/* Until two validators are met; at the first place the one that raised the doubt
 * and the source's own are among them, unless each answer has another. */
static enum finding compare_locked(struct xd_engine *e,
                                   struct xd_depot_source *s,
                                   struct xd_range place, bool is_first,
                                   struct first *first)
{
    const struct xd_sampler *sampler = &e->sampler;
    uint64_t own = xd_doubt_hash(s->validator), hash;
    size_t len = (size_t)xd_range_length(place);
    unsigned n_failed = 0;
    bool are_several = false, is_repeated = false;
    bool is_met = !is_first, is_sought_met = !is_first || s->sought == 0;

    first->is_set = false;
    for (unsigned i = 0; i < MAX_ALIKE && !xd_engine_is_over_locked(e); i++) {
        if (!xd_sampler_ask_anew_locked(e, s->doubted_of, s, place)) {
            if (sampler->verdict == XD_VERDICT_AGAIN &&
                ++n_failed == MAX_FAILED)
                return FOUND_NOTHING;
            continue;
        }
        hash = xd_doubt_hash(sampler->validator);
        is_repeated |= !xd_doubt_is_new(s, hash);
        if (!is_alike(s, sampler, len, first))
            return FOUND_DIFFERENT;
        are_several |= strcmp(first->validator, sampler->validator) != 0;
        is_met |= hash == own;
        is_sought_met |= hash == s->sought;
        if (are_several && is_met && is_sought_met)
            return FOUND_EQUAL;
    }
    if (are_several)
        return is_repeated && is_first ? FOUND_DIFFERENT : FOUND_EQUAL;
    return first->is_set ? FOUND_ALIKE : FOUND_NOTHING;
}

static enum finding compare_places_locked(struct xd_engine *e,
                                          struct xd_depot_source *s,
                                          struct first *first)
{
    struct xd_range places[MAX_PLACES];
    size_t n = choose_places(xd_range_clip(s->range, e->wanted), places);
    enum finding finding = FOUND_EQUAL;

    for (size_t i = 0; i < n && finding == FOUND_EQUAL; i++) {
        finding = compare_locked(e, s, places[i], i == 0, first);
        /* That there are several validators is known from the first place. */
        if (i > 0 && finding == FOUND_ALIKE)
            finding = FOUND_EQUAL;
    }
    return finding;
}

static void conclude_locked(struct xd_engine *e, struct xd_depot_source *s,
                            enum finding finding, const struct first *first)
{
    char *url;

    s->validators = XD_VALIDATORS_CHANGED;
    if (finding == FOUND_NOTHING) {
        s->validators = XD_VALIDATORS_OPEN;
        s->open_since = xd_now();
    } else if (finding == FOUND_ALIKE &&
               strcmp(first->validator, s->validator) == 0) {
        /* It never changed: the depot takes every condition for not met. */
        s->validators = XD_VALIDATORS_HOLD;
        s->knows_no_conditions = true;
    } else if (finding == FOUND_EQUAL) {
        s->validators = XD_VALIDATORS_VARY;
        s->n_doubts = 0;
        note_alike(s, xd_doubt_hash(s->validator));
        if (s->varies)
            return;
        s->varies = true;
        url = xd_url_public(s->url);
        xd_engine_say_locked(e, XD_LOG_WARN,
                             "%s: its validators differ "
                             "between answers, but samples of its bytes are "
                             "the same: the validators are ignored",
                             url ? url : "a depot");
        xd_free(url);
    }
}

void xd_doubt_work_locked(struct xd_engine *e)
{
    struct xd_depot_source *s = e->doubted;
    const struct xd_worker *worker;
    struct first *first = xd_alloc(1, sizeof *first);

    e->doubted = s->next_doubted;
    if (!first) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    conclude_locked(e, s, compare_places_locked(e, s, first), first);
    xd_free(first);
    worker = s->doubted_of->worker;
    if (worker)
        xd_runner_wakeup(worker->runner);
}
