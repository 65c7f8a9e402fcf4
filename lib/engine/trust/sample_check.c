/* SPDX-License-Identifier: MIT */
#include "engine/trust/sample_check.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/resume.h"
#include "engine/source.h"
#include "engine/trust/sample_places.h"
#include "os/clock.h"
#include "transfer/sample.h"

typedef unsigned long long ull;

#define MOST_SLOTS 8u

/* A place of the file and the samples taken there. */
struct place {
    struct xd_range at;
    const char *digest; /* digest of the existing bytes */
    size_t next_depot;  /* the depots before this one were asked */
    size_t n_asked, n_agree, n_differ;
    size_t differs; /* one of the depots that differ, if n_differ > 0 */
};

/* A depot that can be asked. */
struct witness {
    bool is_out; /* the depot has failed or was outvoted */
    bool no_ranges;
    bool was_asked;
    size_t place;     /* the last place for which the depot was asked */
    char *validator;  /* the depot's validator, or NULL */
    int64_t modified; /* modification time that the depot states, or 0 */
    bool is_known;    /* the depot's validator is known from an earlier run */
};

struct check {
    struct xd_sample_check *c;
    struct xd_sample_places chosen;
    struct place *places;
    size_t n_places;
    struct witness *witnesses; /* one for each depot */

    /* requests of one round */
    struct xd_sample *samples;
    size_t *place_of, *depot_of; /* place and depot of each sample */
    size_t n_samples;
};

/* Allows two requests for each depot, unless the manifest allows fewer. */
unsigned xd_sample_check_slots(const struct xd_depots *d)
{
    unsigned n = d->n < MOST_SLOTS / 2 ? 2 * (unsigned)d->n : MOST_SLOTS;

    for (size_t i = 0; i < d->n; i++) {
        if (d->list[i]->max_connections == 1)
            n = 1;
    }
    if (d->max_connections > 0 && d->max_connections < n)
        n = d->max_connections;
    return n > 0 ? n : 1;
}

/* ---- a round of requests ---- */

static bool is_settled(const struct place *p)
{
    return p->n_agree > p->n_differ;
}

/* Returns the next depot that can be asked for the place, in turn; n if there
 * is none. */
static size_t find_depot(const struct check *k, const struct place *p)
{
    const struct xd_depots *d = k->c->depots;

    for (size_t i = p->n_asked; i < d->n; i++) {
        size_t depot = (p->next_depot + i - p->n_asked) % d->n;

        if (!k->witnesses[depot].is_out && !k->witnesses[depot].no_ranges &&
            xd_depot_source(d->list[depot], p->at))
            return depot;
    }
    return d->n;
}

static void ask(struct check *k, size_t place, size_t depot)
{
    struct place *p = &k->places[place];
    struct xd_depots *d = k->c->depots;
    const struct xd_depot_source *source =
        xd_depot_source(d->list[depot], p->at);

    p->n_asked += (depot + d->n - p->next_depot) % d->n + 1;
    p->next_depot = (depot + 1) % d->n;
    k->witnesses[depot].was_asked = true;
    k->witnesses[depot].place = place;
    k->place_of[k->n_samples] = place;
    k->depot_of[k->n_samples] = depot;
    k->samples[k->n_samples++] = (struct xd_sample){
        .request = {.url = xd_source_url(source),
                    .offset = xd_source_offset(source) +
                              (p->at.begin - source->range.begin),
                    .length = xd_range_length(p->at),
                    .object_size = xd_source_object_size(source),
                    .framing = xd_source_framing(source),
                    .wants_time = true,
                    .takes_encoded = true /* a content encoding does no harm:
                                             encoded bytes differ from the
                                             sample */}};
}

/* Requests samples for places that are not settled.  In the first round each
 * depot is asked once, because its validator may make the comparison
 * unnecessary, or it may not answer. */
static void ask_open(struct check *k, bool is_first)
{
    for (size_t i = 0; i < k->n_places; i++) {
        size_t depot = is_settled(&k->places[i]) ? k->c->depots->n
                                                 : find_depot(k, &k->places[i]);

        if (depot < k->c->depots->n &&
            !(is_first && k->witnesses[depot].was_asked))
            ask(k, i, depot);
    }
}

static int note_validator(struct witness *w, const char *validator)
{
    if (!validator || w->validator)
        return 0;
    w->validator = xd_strdup(validator);
    return w->validator ? 0 : XD_E_NOMEM;
}

static void note_failure(struct check *k, size_t depot,
                         const struct xd_sample *s)
{
    struct witness *w = &k->witnesses[depot];

    if (xd_sample_needs_whole(s))
        w->no_ranges = true;
    else
        w->is_out = true;
    if (s->outcome.error.code < 0 && k->c->error.code == XD_OK)
        k->c->error = s->outcome.error;
}

static void note_time(struct xd_sample_check *c, struct witness *w,
                      const struct xd_sample *s)
{
    c->n_answers += s->has_head;
    if (s->modified != 0 && (w->modified == 0 || s->modified < w->modified))
        w->modified = s->modified;
}

/* Returns the modification time of the newest version that a depot has.  The
 * depots with the version of an earlier run have the same file.  Some of them
 * may have copied it without its time, and then state a later one, so only the
 * oldest of their times counts. */
static int64_t newest_time(const struct check *k)
{
    int64_t newest = 0, known = 0;

    for (size_t i = 0; i < k->c->depots->n; i++) {
        const struct witness *w = &k->witnesses[i];

        if (!w->is_known && w->modified > newest)
            newest = w->modified;
        if (w->is_known && w->modified != 0 &&
            (known == 0 || w->modified < known))
            known = w->modified;
    }
    return newest > known ? newest : known;
}

static int note_samples(struct check *k, struct xd_error *err)
{
    for (size_t i = 0; i < k->n_samples; i++) {
        const struct xd_sample *s = &k->samples[i];
        struct place *p = &k->places[k->place_of[i]];
        size_t depot = k->depot_of[i];

        note_time(k->c, &k->witnesses[depot], s);
        if (note_validator(&k->witnesses[depot], s->validator) < 0)
            return xd_fail_nomem(err);
        if (!xd_sample_was_taken(s)) {
            note_failure(k, depot, s);
        } else if (strcmp(s->digest, p->digest) == 0) {
            p->n_agree++;
        } else {
            p->n_differ++;
            p->differs = depot;
        }
    }
    return 0;
}

static int run_round(struct check *k, struct xd_error *err)
{
    struct xd_batch_times times = {.until = k->c->until,
                                   .first = XD_NEVER,
                                   .grace = XD_BATCH_GRACE,
                                   .turn = XD_NEVER};
    int rc =
        xd_samples_take(k->c->batch, k->samples, k->n_samples, &times, err);

    if (rc == 0)
        rc = note_samples(k, err);
    return rc;
}

static void end_round(struct check *k)
{
    xd_samples_fini(k->samples, k->n_samples);
    k->n_samples = 0;
}

static bool was_canceled(const struct check *k)
{
    return k->c->error.code == XD_E_CANCELED;
}

/* ---- validators of earlier runs ---- */

static bool is_strong_tag(const char *validator)
{
    return validator[0] == '"';
}

/* Returns true if any URL had this validator in an earlier run. */
static bool was_given(const char *known, const char *validator)
{
    size_t len = strlen(validator);

    while (*known) {
        size_t line = strcspn(known, "\n"), url = strcspn(known, " \n");

        if (url < line && line - url - 1 == len &&
            strncmp(known + url + 1, validator, len) == 0)
            return true;
        known += line + (known[line] == '\n');
    }
    return false;
}

/* Returns 1 if the depot has the same validator as before, -1 if it has another
 * one, and 0 if nothing is known. */
static int compare_known(const struct check *k, size_t depot, bool *out_no_mem)
{
    const char *validator = k->witnesses[depot].validator, *before;
    const struct xd_depot *d = k->c->depots->list[depot];
    size_t len;
    int known = 0;

    for (size_t i = 0; known == 0 && i < d->n_sources; i++) {
        char *url = xd_url_public(xd_source_url(&d->sources[i]));

        *out_no_mem |= !url;
        before = url ? xd_resume_find_validator(k->c->known, url, &len) : NULL;
        if (before)
            known =
                strlen(validator) == len && strncmp(validator, before, len) == 0
                    ? 1
                    : -1;
        xd_free(url);
    }
    if (known <= 0 && is_strong_tag(validator) &&
        was_given(k->c->known, validator))
        return 1;
    return known;
}

/* Requests the validator of a depot again.  If it differs, several servers
 * probably answer for the depot, and their validators say nothing. */
static int is_stable(struct check *k, size_t depot, bool *out,
                     struct xd_error *err)
{
    char *validator = k->witnesses[depot].validator;
    size_t place = k->witnesses[depot].place;
    int rc;

    k->witnesses[depot].validator = NULL;
    k->places[place].next_depot = depot;
    ask(k, place, depot);
    rc = run_round(k, err);
    end_round(k);
    *out = rc == 0 && k->witnesses[depot].validator &&
           strcmp(k->witnesses[depot].validator, validator) == 0;
    xd_free(validator);
    return rc;
}

/* Returns the first place where more depots differ than agree, or NULL. */
static const struct place *find_dispute(const struct check *k)
{
    for (size_t i = 0; i < k->n_places; i++) {
        if (!is_settled(&k->places[i]) && k->places[i].n_differ > 0)
            return &k->places[i];
    }
    return NULL;
}

/* Sets *out_decides to true if the validators of the first round decide the
 * result. */
static int heed_validators(struct check *k, bool *out_decides,
                           struct xd_error *err)
{
    bool has_no_memory = false, is_new = false;
    size_t outdated = k->c->depots->n;
    int rc = 0;

    *out_decides = false;
    for (size_t i = 0; k->c->known && i < k->c->depots->n; i++) {
        int known =
            k->witnesses[i].validator ? compare_known(k, i, &has_no_memory) : 0;

        if (has_no_memory)
            return xd_fail_nomem(err);
        k->witnesses[i].is_known = known > 0;
        if (known > 0 && !find_dispute(k) && !k->c->compares_always) {
            k->c->verdict = XD_SAMPLES_SPARED;
            *out_decides = true;
            return 0;
        }
        if (known < 0 && outdated == k->c->depots->n)
            outdated = i;
    }
    if (outdated < k->c->depots->n)
        rc = is_stable(k, outdated, &is_new, err);
    if (is_new) {
        k->c->verdict = XD_SAMPLES_OUTDATED;
        xd_fail(&k->c->error, XD_E_DIFFERENT,
                "%s: leads to a new version of the file",
                k->c->depots->list[outdated]->shown_url);
        *out_decides = true;
    }
    return rc;
}

/* ---- verdict ---- */

static void judge(struct check *k)
{
    struct xd_sample_check *c = k->c;
    const struct place *dispute = find_dispute(k);

    c->n_compared = 0;
    for (size_t i = 0; i < k->n_places; i++)
        c->n_compared += is_settled(&k->places[i]);
    c->verdict = XD_SAMPLES_AGREE;
    if (dispute) {
        c->verdict = XD_SAMPLES_DIFFER;
        xd_fail(&c->error, XD_E_CORRUPT,
                "its bytes %llu-%llu differ from those of %s",
                (ull)dispute->at.begin, (ull)(dispute->at.end - 1),
                c->depots->list[dispute->differs]->shown_url);
    } else if (c->n_compared < k->n_places) {
        c->verdict = XD_SAMPLES_IMPOSSIBLE;
        if (c->error.code == XD_OK)
            xd_fail(&c->error, XD_E_NOREPLICA,
                    "no depot can show samples of it");
    }
}

/* If no depot supports ranges, compares all existing bytes with the object of
 * one of them. */
static int compare_whole(struct check *k, char digest[XD_HASH_HEX_MAX + 1],
                         struct xd_error *err)
{
    const struct xd_range all = k->c->held->ranges[0];
    int rc = 0;

    for (size_t i = 0; i < k->c->depots->n && k->c->held->n == 1; i++) {
        const struct xd_depot_source *source =
            xd_depot_source(k->c->depots->list[i], all);

        if (!k->witnesses[i].no_ranges || k->witnesses[i].is_out || !source ||
            xd_source_offset(source) + (all.begin - source->range.begin) > 0)
            continue;
        k->n_places = 1;
        k->places[0] =
            (struct place){.at = all, .digest = digest, .next_depot = i};
        k->c->error = (struct xd_error){0};
        rc = xd_sample_places_hash(&k->chosen, k->c, all, digest, err);
        if (rc == 0) {
            ask(k, 0, i);
            k->samples[0].request.whole = true;
            rc = run_round(k, err);
            end_round(k);
        }
        break;
    }
    return rc;
}

static bool no_ranges_at_all(const struct check *k)
{
    bool some = false;

    for (size_t i = 0; i < k->c->depots->n; i++) {
        if (!k->witnesses[i].is_out && !k->witnesses[i].no_ranges)
            return false;
        some |= k->witnesses[i].no_ranges;
    }
    return some;
}

static int ask_all(struct check *k, struct xd_error *err)
{
    bool is_first = true, decides = false;
    char digest[XD_HASH_HEX_MAX + 1];
    int rc = 0;

    while (rc == 0) {
        ask_open(k, is_first);
        if (k->n_samples == 0)
            break;
        rc = run_round(k, err);
        end_round(k);
        if (rc == 0 && was_canceled(k)) {
            k->c->verdict = XD_SAMPLES_CANCELED;
            return 0;
        }
        if (rc == 0 && is_first)
            rc = heed_validators(k, &decides, err);
        if (decides)
            return 0;
        is_first = false;
    }
    if (rc == 0 && !find_dispute(k) && no_ranges_at_all(k))
        rc = compare_whole(k, digest, err);
    if (rc == 0)
        judge(k);
    return rc;
}

/* ---- creation and release ---- */

static int init(struct check *k, struct xd_error *err)
{
    size_t n_depots = k->c->depots->n, n;
    int rc = xd_sample_places_init(&k->chosen, k->c, err);

    if (rc < 0)
        return rc;
    n = k->chosen.n;
    k->witnesses = xd_alloc(n_depots + 1, sizeof *k->witnesses);
    k->places = xd_alloc(n + 1, sizeof *k->places);
    k->samples = xd_alloc(n + 1, sizeof *k->samples);
    k->place_of = xd_alloc(n + 1, sizeof *k->place_of);
    k->depot_of = xd_alloc(n + 1, sizeof *k->depot_of);
    if (!k->witnesses || !k->places || !k->samples || !k->place_of ||
        !k->depot_of)
        return xd_fail_nomem(err);
    for (; k->n_places < n; k->n_places++)
        k->places[k->n_places] = (struct place){
            .at = k->chosen.list[k->n_places].at,
            .digest = k->chosen.list[k->n_places].digest,
            .next_depot = n_depots > 0 ? k->n_places % n_depots : 0};
    return 0;
}

static void fini(struct check *k)
{
    for (size_t i = 0; k->witnesses && i < k->c->depots->n; i++)
        xd_free(k->witnesses[i].validator);
    xd_sample_places_fini(&k->chosen);
    xd_free(k->places);
    xd_free(k->witnesses);
    xd_free(k->samples);
    xd_free(k->place_of);
    xd_free(k->depot_of);
}

int xd_sample_check_run(struct xd_sample_check *c, struct xd_error *err)
{
    struct check k = {.c = c};
    int rc;

    c->error = (struct xd_error){0};
    c->n_compared = c->n_answers = 0;
    c->modified = 0;
    c->verdict = XD_SAMPLES_AGREE;
    if (c->held->bytes == 0)
        return 0;
    rc = init(&k, err);
    if (rc == 0)
        rc = ask_all(&k, err);
    if (rc == 0)
        c->modified = newest_time(&k);
    fini(&k);
    return rc;
}
