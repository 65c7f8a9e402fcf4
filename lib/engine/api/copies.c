/* SPDX-License-Identifier: MIT */
/*
 * Checks a list of URLs that are said to lead to copies of one file.  A few
 * samples are requested from each before anything is downloaded, and the hosts
 * vote (trust/copies_vote.h).
 *
 *     1  Request the first bytes of each URL, which show its size, or that it
 *        does not answer.  An inspection has usually requested them already
 *        (engine/begun.h).  If the list states a size, request the other
 *        samples at the same time.
 *     2  Request the other samples of the URLs that have the same size as
 *        another URL.
 *     3  Let the hosts vote.
 *
 * For long files with the same name, the size and the first bytes are enough,
 * because a download compares what each depot delivers.
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
#include "command/manifests.h"
#include "engine/api/cancelable_batch.h"
#include "engine/begun.h"
#include "engine/trust/copies_vote.h"
#include "engine/trust/places.h"
#include "manifest/format.h"
#include "manifest/model.h"
#include "manifest/select.h"
#include "os/clock.h"
#include "transfer/sample.h"

typedef unsigned long long ull;

/* Length of a sample, and number of samples after the first bytes of each
 * URL. */
#define SAMPLE_BYTES XD_BEGUN_SAMPLE
#define FURTHER_PLACES ((size_t)XD_COPY_SAMPLES - 1)

struct copies {
    const struct xd_manifest *manifest;
    const struct xd_options *options;
    struct xd_cancelable_batch *requests;
    struct xd_begun_samples *begun; /* owned; samples taken by an inspection, or
                                       NULL */
    size_t n;
    const struct xd_url *urls; /* their strings belong to the manifest */
    /* samples of the first bytes of each URL, in the same array as `further` */
    struct xd_sample *first;
    struct xd_sample *further; /* other samples, at most FURTHER_PLACES for each
                                  URL */
    size_t n_further;
    size_t *further_of; /* for each URL, the index of its first sample in
                           `further` */
    uint64_t *sizes;    /* sizes that were found, ascending */
    size_t n_sizes;
    uint64_t size; /* size in the list, or XD_SIZE_UNKNOWN */
    struct xd_copy *votes;
    bool *keeps;
    bool is_one_name;
    bool are_offered; /* the server of the first URL has named the other URLs */
};

/* ---- requests ---- */

/* Returns true if the download compares what each URL delivers. */
static bool is_compared_later(const struct copies *c)
{
    return c->is_one_name && c->size != XD_SIZE_UNKNOWN &&
           c->size >= XD_COMPARED_WHOLE;
}

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
    return (struct xd_request){
        .url = &c->urls[i],
        .reach = xd_model_reach(&c->manifest->files[0], i),
        .offset = at.begin,
        .length = xd_range_length(at),
        .object_size = size,
        .wants_size = true,
        .takes_encoded = xd_url_names_compressed(&c->urls[i])};
}

/* Chooses the places of the other samples.  A short file is compared
 * completely. */
static int find_places(struct xd_places *out, uint64_t size)
{
    struct xd_range rest = {SAMPLE_BYTES, size};

    return xd_places_init(out, rest, FURTHER_PLACES,
                          xd_range_length(rest) < XD_COMPARED_WHOLE
                              ? xd_range_length(rest)
                              : SAMPLE_BYTES,
                          size);
}

/* Adds the other samples of URL `i` to the requests. */
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

/* Uses the sample of an inspection.  Returns false if there is none. */
static bool use_begun(const struct copies *c, struct xd_sample *first,
                      const struct xd_begun_sample *begun)
{
    if (!begun->was_taken && !is_compared_later(c))
        return false;
    first->outcome.verdict =
        begun->was_taken ? XD_VERDICT_OK : XD_VERDICT_STOPPED;
    first->outcome.error = begun->error;
    first->object_size = begun->size;
    first->received = begun->received;
    memcpy(first->digest, begun->digest, sizeof first->digest);
    return true;
}

/* Returns the sample that an inspection took of URL `i`, or NULL.  *k is the
 * position in its list.  Call it with ascending `i`. */
static const struct xd_begun_sample *find_begun(const struct copies *c,
                                                size_t i, size_t *k)
{
    const struct xd_begun_samples *begun = c->begun;

    while (begun && *k < begun->n &&
           xd_url_compare(begun->list[*k].url, &c->urls[i]) != 0)
        ++*k; /* the inspected URL is not in the list of copies */
    return begun && *k < begun->n ? &begun->list[(*k)++] : NULL;
}

/* A server that failed during the inspection is asked again after a pause, and
 * may then be reported as late.  Reports its earlier failure instead, which
 * says more. */
static void recall_failures(struct copies *c)
{
    size_t k = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct xd_begun_sample *begun = find_begun(c, i, &k);
        struct xd_error *error = &c->first[i].outcome.error;

        if (begun && begun->error.code < 0 && error->code == XD_E_AGAIN)
            *error = begun->error;
    }
}

static int take_first(struct copies *c, struct xd_error *err)
{
    size_t k = 0;
    int rc = 0;

    c->begun = xd_begun_take_samples(c->options->begun);
    for (size_t i = 0; rc == 0 && i < c->n; i++) {
        const struct xd_begun_sample *begun = find_begun(c, i, &k);

        if (!begun || !use_begun(c, &c->first[i], begun))
            c->first[i].request = request_for(
                c, i, (struct xd_range){0, SAMPLE_BYTES}, XD_SIZE_UNKNOWN);
        if (!is_compared_later(c) && add_further(c, i, c->size) < 0)
            rc = xd_fail_nomem(err);
    }
    if (rc == 0)
        rc = take(c, c->first, c->n + c->n_further, err);
    if (rc == 0)
        recall_failures(c);
    return rc;
}

/* Returns the size of the object.  If the server stated none but the object
 * ended within the sample, all of it was received. */
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

/* Returns true if another copy has the same size as copy `i`.  If not, copy `i`
 * needs no further samples. */
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

        if (size == c->size) /* already requested with the first bytes */
            continue;
        if (has_equal(c, i) && add_further(c, i, size) < 0)
            return xd_fail_nomem(err);
    }
    return take(c, c->further + n_taken, c->n_further - n_taken, err);
}

/* ---- comparison of the samples ---- */

/* Adds the digests of the other samples of URL `i`.  A depot without ranges
 * cannot serve these samples, so its size and first bytes must suffice.
 * Returns false if a sample failed for another reason. */
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

/* ---- choice of the copies ---- */

/* Writes a text such as "URL has 17 bytes". */
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
        xd_text_addf(out, "%s, but %s %llu: it is not used", what,
                     c->are_offered ? "the URL that names it has"
                                    : "most others have",
                     (ull)size_of(&c->first[v->file]));
    else
        xd_text_addf(out,
                     "%s: its bytes differ from those of %s: it is not used",
                     xd_url_name(&c->urls[i]).s,
                     c->are_offered ? "the URL that names it" : "most others");
}

/* Returns true if a URL that did not answer may be used later.  The engine then
 * compares what it sends, unless the file is short. */
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

        if (xd_model_note_failure(*out, &c->urls[i],
                                  &c->first[i].outcome.error) < 0)
            rc = xd_fail_nomem(err);
        if (c->keeps[i])
            continue;
        warn(&line, c, i, v);
        if (line.failed || xd_model_warn(*out, line.s) < 0)
            rc = xd_fail_nomem(err);
        xd_text_fini(&line);
    }
    return rc;
}

/* Handles the case that no URL has answered.  If all have the same name, the
 * download may try them and reports why they fail.  Files with different names
 * must not be mixed. */
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

/* Selects the copies that equal the first URL, because the user wants that
 * file, no matter what the other URLs lead to.  If the first URL does not
 * answer a second request, it is downloaded alone. */
static int select_like_first(struct xd_manifest **out, struct copies *c,
                             struct xd_error *err)
{
    const struct xd_copies_vote v = {.file = 0, .other = XD_NO_COPY};

    c->is_one_name = c->votes[0].has_answered;
    if (c->votes[0].has_answered)
        return select_copies(out, c, &v, err);
    c->keeps[0] = true;
    return xd_manifest_select(out, c->manifest, c->keeps, c->size, err);
}

static int judge(struct xd_manifest **out, struct copies *c,
                 struct xd_manifest *m, struct xd_error *err)
{
    struct xd_copies_vote v = vote(c);

    if (c->are_offered)
        return select_like_first(out, c, err);

    if (v.file == XD_NO_COPY)
        return take_uncompared(out, c, m, err);
    if (v.other != XD_NO_COPY && (!v.is_decided || !c->is_one_name))
        return fail_different(c, &v, err);
    return select_copies(out, c, &v, err);
}

/* ---- creation and release ---- */

static int init(struct copies *c, struct xd_error *err)
{
    c->urls = c->manifest->files[0].urls;
    /* each URL may be sampled twice: for the size in the list and for its own
     * size */
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
    /* In a list of URLs, only mirrors that a server named have a priority. */
    c->are_offered =
        c->manifest->files[0].replicas[0].priority != XD_PRIORITY_NONE;
    return 0;
}

static void fini(struct copies *c)
{
    if (c->first)
        xd_samples_fini(c->first, c->n + c->n_further);
    xd_free(c->first);
    xd_begun_samples_free(c->begun);
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

static int compare(struct xd_manifest **out, struct xd_manifest *m,
                   const struct xd_options *o, struct xd_error *err)
{
    struct copies c = {.manifest = m,
                       .options = o,
                       .n = m->files[0].extents[0].n_replicas,
                       .size = m->files[0].size};
    int rc = init(&c, err);

    if (rc == 0)
        rc = ask(&c, err);
    if (rc == 0)
        rc = judge(out, &c, m, err);
    fini(&c);
    return rc;
}

static bool has_hash(const struct xd_manifest *m, size_t file)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    for (size_t i = 0; xd_manifest_hash(m, file, i, &hash) == 0; i++) {
        if (xd_hash_strength(hash.algorithm) >= 0)
            return true;
    }
    return false;
}

/* Returns true if nothing but a comparison shows that the URLs of a file are
 * copies of it. */
static bool must_compare(const struct xd_manifest *m, size_t file)
{
    struct xd_extent extent = {.struct_size = sizeof extent};

    return strcmp(xd_manifest_format(m), XD_FORMAT_URLS) == 0 &&
           xd_manifest_extent(m, file, 0, &extent) == 0 &&
           extent.n_replicas > 1 && !has_hash(m, file);
}

int xd_copies_check(struct xd_manifest **out, struct xd_manifest *m,
                    const struct xd_options *o, struct xd_error *err)
{
    const size_t n = xd_manifest_n_files(m);
    struct xd_options defaults;
    size_t file = 0;

    *out = NULL;
    while (file < n && !must_compare(m, file))
        file++;
    if (file == n) {
        *out = xd_manifest_ref(m);
        return 0;
    }
    if (n > 1)
        return xd_fail(err, XD_E_INVAL,
                       "only the URLs of one file can be compared at a time, "
                       "and the list has %zu files: make a manifest of each",
                       n);
    xd_options_init(&defaults);
    return compare(out, m, o ? o : &defaults, err);
}
