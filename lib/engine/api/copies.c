/* SPDX-License-Identifier: MIT */
/*
 * A list of URLs claims that all of them are copies of one file, but nothing
 * has checked it.  Here each is asked for a few samples before anything is
 * fetched, and the hosts vote (trust/copies_vote.h).
 *
 *     1  the first bytes of each: its size, or that it does not answer; where
 *        the list has a size, the rest of the samples at the same time
 *     2  the rest of the samples, of those that have one size with another
 *     3  the vote
 */
#include "engine/api/copies_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "base/url.h"
#include "engine/api/cancelable_batch.h"
#include "engine/trust/copies_vote.h"
#include "engine/trust/places.h"
#include "manifest/format.h"
#include "manifest/model.h"
#include "manifest/select.h"
#include "os/clock.h"
#include "transfer/sample.h"

typedef unsigned long long ull;

/* Samples of each URL: its first bytes, and further ones. */
#define SAMPLE_BYTES ((uint64_t)32 << 10)
#define FURTHER_PLACES ((size_t)XD_COPY_SAMPLES - 1)

struct copies {
    const struct xd_manifest *manifest;
    const struct xd_options *options;
    struct xd_cancelable_batch *requests;
    size_t n;
    const struct xd_url *urls; /* the manifest's */
    struct xd_sample *first;   /* of each URL; behind them: */
    struct xd_sample *further; /* at most FURTHER_PLACES of each URL */
    size_t n_further;
    size_t *further_of; /* of each URL: where its own begin among them */
    uint64_t *sizes;    /* that were found, ascending */
    size_t n_sizes;
    uint64_t size; /* as the list has it, or XD_SIZE_UNKNOWN */
    struct xd_copy *votes;
    bool *keeps;
    bool is_one_name;
};

/* ---- asking ---- */

static int take(struct copies *c, struct xd_sample *list, size_t n,
                struct xd_error *err)
{
    struct xd_batch_times times = {.until = c->requests->until,
                                   .first = XD_LONGEST_TURN,
                                   .grace = XD_BATCH_GRACE,
                                   .turn = XD_LONGEST_TURN};

    return n > 0 ? xd_samples_take(c->requests->batch, list, n, &times, err)
                 : 0;
}

static struct xd_request request_for(const struct copies *c, size_t i,
                                     struct xd_range at, uint64_t size)
{
    return (struct xd_request){.url = &c->urls[i],
                               .offset = at.begin,
                               .length = xd_range_length(at),
                               .object_size = size,
                               .wants_size = true,
                               .takes_encoded =
                                   xd_url_names_compressed(&c->urls[i])};
}

/* Of a short file all the rest is compared. */
static int find_places(struct xd_places *out, uint64_t size)
{
    struct xd_range rest = {SAMPLE_BYTES, size};

    return xd_places_init(out, rest, FURTHER_PLACES,
                          xd_range_length(rest) < XD_COMPARED_WHOLE
                              ? xd_range_length(rest)
                              : SAMPLE_BYTES,
                          size);
}

/* The rest of the samples of URL `i` are to be taken. */
static int add_further(struct copies *c, size_t i, uint64_t size)
{
    struct xd_places places;

    if (size == XD_SIZE_UNKNOWN || size <= SAMPLE_BYTES)
        return 0;
    if (find_places(&places, size) < 0)
        return XD_E_NOMEM;
    c->further_of[i] = c->n_further;
    for (size_t k = 0; k < places.n; k++)
        c->further[c->n_further++].request =
            request_for(c, i, places.list[k], size);
    xd_places_fini(&places);
    return 0;
}

static int take_first(struct copies *c, struct xd_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        c->first[i].request = request_for(
            c, i, (struct xd_range){0, SAMPLE_BYTES}, XD_SIZE_UNKNOWN);
        if (add_further(c, i, c->size) < 0)
            return xd_fail_nomem(err);
    }
    return take(c, c->first, c->n + c->n_further, err);
}

/* A depot may not know the size, but that its object has ended. */
static uint64_t size_of(const struct xd_sample *first)
{
    return first->object_size == XD_SIZE_UNKNOWN &&
                   first->received < SAMPLE_BYTES
               ? first->received
               : first->object_size;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void sort_sizes(struct copies *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (xd_sample_was_taken(&c->first[i]))
            c->sizes[c->n_sizes++] = size_of(&c->first[i]);
    qsort(c->sizes, c->n_sizes, sizeof *c->sizes, by_size);
}

/* Only a copy that has the size of another needs to be compared further. */
static bool has_equal(const struct copies *c, size_t i)
{
    uint64_t size = size_of(&c->first[i]);
    size_t n;

    if (!xd_sample_was_taken(&c->first[i]) || size == XD_SIZE_UNKNOWN ||
        size <= SAMPLE_BYTES)
        return false;
    n = xd_count_up_to(size, c->sizes, c->n_sizes, sizeof *c->sizes, 0);
    return n > 1 && c->sizes[n - 2] == size;
}

static int take_further(struct copies *c, struct xd_error *err)
{
    size_t n_taken = c->n_further;

    sort_sizes(c);
    for (size_t i = 0; i < c->n; i++) {
        uint64_t size = size_of(&c->first[i]);

        if (size == c->size) /* they were taken with the first ones */
            continue;
        if (has_equal(c, i) && add_further(c, i, size) < 0)
            return xd_fail_nomem(err);
    }
    return take(c, c->further + n_taken, c->n_further - n_taken, err);
}

/* ---- what they say ---- */

/* Add the digests of what URL `i` was asked for beside its first bytes.  A
 * depot that knows no ranges cannot show them: the size and the first bytes
 * have to do.  False if it failed to show one otherwise. */
static bool note_further(const struct copies *c, size_t i, struct xd_copy *copy)
{
    const struct xd_sample *s = c->further + c->further_of[i];
    const struct xd_sample *end = c->further + c->n_further;

    for (size_t k = 1;
         k < XD_COPY_SAMPLES && s < end && s->request.url == &c->urls[i] &&
         s->request.object_size == copy->size;
         s++, k++) {
        if (xd_sample_was_taken(s))
            copy->samples[k] = s->digest;
        else if (!xd_sample_needs_whole(s))
            return false;
    }
    return true;
}

static struct xd_copies_vote vote(const struct copies *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct xd_copy *copy = &c->votes[i];

        *copy = (struct xd_copy){.url = &c->urls[i],
                                 .size = size_of(&c->first[i]),
                                 .samples = {c->first[i].digest}};
        copy->has_answered =
            xd_sample_was_taken(&c->first[i]) && note_further(c, i, copy);
    }
    return xd_copies_vote(c->votes, c->n);
}

/* ---- what follows ---- */

/* "URL has 17 bytes" */
static void describe(char *out, size_t out_size, const struct copies *c,
                     size_t i)
{
    uint64_t size = size_of(&c->first[i]);

    if (size == XD_SIZE_UNKNOWN)
        snprintf(out, out_size, "%.200s does not say its size",
                 xd_url_name(&c->urls[i]).s);
    else
        snprintf(out, out_size, "%.200s has %llu bytes",
                 xd_url_name(&c->urls[i]).s, (ull)size);
}

static int fail_different(const struct copies *c,
                          const struct xd_copies_vote *v, struct xd_error *err)
{
    char one[250], other[250];
    bool is_size = size_of(&c->first[v->file]) != size_of(&c->first[v->other]);

    describe(one, sizeof one, c, v->file);
    describe(other, sizeof other, c, v->other);
    if (!c->is_one_name)
        return xd_fail(err, XD_E_INVAL,
                       "these are different files: %s, %s%s; -i fetches each, "
                       "--same-file takes them for copies of one",
                       one, other, is_size ? "" : ", and their bytes differ");
    return xd_fail(err, XD_E_CORRUPT,
                   "these are not copies of one file: %s, %s%s; no checksum "
                   "and no majority decides: give --checksum, or the URL that "
                   "is meant",
                   one, other, is_size ? "" : ", and their bytes differ");
}

static void warn(struct xd_text *out, const struct copies *c, size_t i,
                 const struct xd_copies_vote *v)
{
    const struct xd_error *why = &c->first[i].outcome.error;
    char what[250];

    describe(what, sizeof what, c, i);
    if (!c->votes[i].has_answered)
        xd_text_addf(out, "%s: could not be compared, and is not used%s%s",
                     xd_url_name(&c->urls[i]).s, why->code < 0 ? ": " : "",
                     why->code < 0 ? why->msg : "");
    else if (size_of(&c->first[i]) != size_of(&c->first[v->file]))
        xd_text_addf(out, "%s, but most others have %llu: it is not used", what,
                     (ull)size_of(&c->first[v->file]));
    else
        xd_text_addf(out,
                     "%s: its bytes differ from those of most others: it "
                     "is not used",
                     xd_url_name(&c->urls[i]).s);
}

/* A URL that did not answer may still be of use later, and the engine compares
 * what it sends: but not if the file is short. */
static bool may_be_used(const struct copies *c, size_t i,
                        const struct xd_copies_vote *v)
{
    if (c->votes[i].has_answered)
        return c->votes[i].file == v->file;
    return c->is_one_name && size_of(&c->first[v->file]) >= XD_COMPARED_WHOLE;
}

static int select_copies(struct xd_manifest **out, struct copies *c,
                         const struct xd_copies_vote *v, struct xd_error *err)
{
    int rc;

    for (size_t i = 0; i < c->n; i++)
        c->keeps[i] = may_be_used(c, i, v);
    rc = xd_manifest_select(out, c->manifest, c->keeps,
                            size_of(&c->first[v->file]), err);
    for (size_t i = 0; rc == 0 && i < c->n; i++) {
        struct xd_text line = {0};

        if (c->keeps[i])
            continue;
        warn(&line, c, i, v);
        if (line.failed || xd_model_warn(*out, line.s) < 0)
            rc = xd_fail_nomem(err);
        xd_text_fini(&line);
    }
    return rc;
}

/* No URL has answered.  With one name the download may try them, and says why
 * if they fail; files with different names are not to be mixed. */
static int take_uncompared(struct xd_manifest **out, const struct copies *c,
                           struct xd_manifest *m, struct xd_error *err)
{
    if (!c->is_one_name) {
        if (err)
            *err = c->first[0].outcome.error;
        return c->first[0].outcome.error.code;
    }
    *out = xd_manifest_ref(m);
    return 0;
}

static int judge(struct xd_manifest **out, struct copies *c,
                 struct xd_manifest *m, struct xd_error *err)
{
    struct xd_copies_vote v = vote(c);

    if (v.file == XD_NO_COPY)
        return take_uncompared(out, c, m, err);
    if (v.other != XD_NO_COPY && (!v.is_decided || !c->is_one_name))
        return fail_different(c, &v, err);
    return select_copies(out, c, &v, err);
}

/* ---- life ---- */

static int init(struct copies *c, struct xd_error *err)
{
    c->urls = c->manifest->files[0].urls;
    /* Each may be asked twice, for the list's size and for its own. */
    c->first = xd_alloc(c->n, (1 + 2 * FURTHER_PLACES) * sizeof *c->first);
    c->votes = xd_alloc(c->n, sizeof *c->votes);
    c->keeps = xd_alloc(c->n, sizeof *c->keeps);
    c->further_of = xd_alloc(c->n, sizeof *c->further_of);
    c->sizes = xd_alloc(c->n, sizeof *c->sizes);
    if (!c->first || !c->votes || !c->keeps || !c->further_of || !c->sizes)
        return xd_fail_nomem(err);
    c->further = c->first + c->n;
    c->is_one_name =
        c->options->same_file || xd_copies_have_one_name(c->urls, c->n);
    return 0;
}

static void fini(struct copies *c)
{
    if (c->first)
        xd_samples_fini(c->first, c->n + c->n_further);
    xd_free(c->first);
    xd_free(c->votes);
    xd_free(c->keeps);
    xd_free(c->further_of);
    xd_free(c->sizes);
}

static int ask(struct copies *c, struct xd_error *err)
{
    int rc = xd_cancelable_batch_new(&c->requests, c->options,
                                     XD_COPY_SAMPLES * c->n, err);

    if (rc < 0)
        return rc;
    rc = take_first(c, err);
    if (rc == 0)
        rc = take_further(c, err);
    return xd_cancelable_batch_end(c->requests, c->options, rc, err);
}

static int compare(struct xd_manifest **out, struct xd_manifest *m, size_t n,
                   const struct xd_options *o, struct xd_error *err)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct copies c = {.manifest = m, .options = o, .n = n};
    int rc = init(&c, err);

    (void)xd_manifest_file(m, 0, &file);
    c.size = file.size;
    if (rc == 0)
        rc = ask(&c, err);
    if (rc == 0)
        rc = judge(out, &c, m, err);
    fini(&c);
    return rc;
}

static bool has_hash(const struct xd_manifest *m)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    for (size_t i = 0; xd_manifest_hash(m, 0, i, &hash) == 0; i++) {
        if (xd_hash_strength(hash.algorithm) >= 0)
            return true;
    }
    return false;
}

int xd_copies_check(struct xd_manifest **out, struct xd_manifest *m,
                    const struct xd_options *o, struct xd_error *err)
{
    struct xd_extent extent = {.struct_size = sizeof extent};
    struct xd_options defaults;

    *out = NULL;
    xd_options_init(&defaults);
    xd_manifest_extent(m, 0, 0, &extent);
    if (strcmp(xd_manifest_format(m), XD_FORMAT_URLS) != 0 ||
        extent.n_replicas < 2 || has_hash(m)) {
        *out = xd_manifest_ref(m);
        return 0;
    }
    return compare(out, m, extent.n_replicas, o ? o : &defaults, err);
}
