/* SPDX-License-Identifier: MIT */
#include <xdownload/check.h>
#include <xdownload/manifest.h>

#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/page.h"
#include "base/span.h"
#include "base/text.h"
#include "base/typed_url.h"
#include "base/url.h"
#include "command/inspect.h"
#include "engine/api/cancelable_batch.h"
#include "engine/api/named_manifests.h"
#include "engine/api/text_fetch.h"
#include "engine/begun.h"
#include "engine/trust/copies_vote.h"
#include "manifest/model.h"
#include "manifest/offered.h"
#include "manifest/parse.h"
#include "os/clock.h"
#include "transfer/sample.h"

/* With more URLs than this, all responses are awaited, because is_enough()
 * takes quadratic time. */
#define MOST_VOTERS 64

/* After this many bytes, an object that does not look like a manifest is taken
 * for a file. */
#define DECIDES ((size_t)64 << 10)

struct item {
    char *typed; /* owned: the text of `url` */
    struct xd_url url;
    enum xd_reach reach; /* network scope allowed for the URL */
    enum xd_reach names; /* network scope allowed for URLs that the response
                            names */
    /* URL after redirects, to which relative URLs refer */
    struct xd_url *final_url;
    struct xd_text text; /* received bytes, as long as they may be a manifest */
    struct xd_offer offer; /* what the response headers announce */
    char *file_name;       /* file name from the server, or NULL */
    bool is_manifest;
    bool may_be_page; /* the response may be a web page instead of the file:
                         base/page.h */
    bool may_go_on;   /* a download may take over the response */
    bool is_encoded;  /* the response has a content encoding */
    bool needs_whole; /* the whole object must be requested, because its first
                         bytes do not suffice or were refused */
    uint64_t size;
    char *validator; /* with `looks`: validator of the response, or NULL */
    /* with `compares`: number of bytes at the beginning of the object that are
     * hashed in `digest` */
    uint64_t sampled;
    char digest[XD_HASH_HEX_MAX + 1]; /* "" if there is no sample */
    struct xd_manifest *manifest;
    struct xd_error error;
};

struct xd_inspection {
    struct item *items;
    size_t n;
    size_t *asked; /* item of each request */
    enum { FIND_OUT, ARE_MANIFESTS, ARE_TEXTS } what;
    size_t most; /* maximum length of a text */
    /* in the second round, which requests whole objects instead of their first
     * bytes */
    bool asks_again;
    bool accepts_html, takes_offers, takes_names;
    bool looks;    /* requests a few bytes of the only URL, and tells a download
                      what the response says */
    bool compares; /* requests a sample of each of several URLs, and passes them
                      on to the comparison of copies */
    bool keeps;    /* requests the first bytes of the only URL, and passes the
                      request on to a download if it is a file */
    struct xd_description described; /* description of the only URL by its
                                        server */
    bool is_one_name;                /* all URLs have the same file name */
    const struct item *last;         /* item of the last sample, or NULL */
};

static struct item *item_of(const struct xd_inspection *in, size_t i)
{
    return &in->items[in->asked[i]];
}

/* Returns true for media types of manifests.  Such a response is a manifest
 * even if it looks like something else, as a list of URLs does. */
static bool is_manifest_type(const char *type)
{
    static const char *const types[] = {"application/metalink4+xml",
                                        "application/metalink+xml",
                                        "text/uri-list"};
    size_t len = type ? strcspn(type, "; ") : 0;

    return xd_span_is_among(xd_span(type, len), types,
                            sizeof types / sizeof *types);
}

static int on_head(void *user, size_t i, const struct xd_head *head)
{
    const struct xd_inspection *in = user;
    struct item *item = item_of(in, i);

    xd_text_fini(&item->text);
    xd_offer_fini(&item->offer);
    item->is_manifest =
        in->what == FIND_OUT && is_manifest_type(head->media_type);
    item->may_be_page = in->what == FIND_OUT && !in->accepts_html &&
                        xd_page_is_likely(&item->url, NULL, head->media_type);
    item->is_encoded = head->is_encoded;
    item->size = head->is_encoded ? XD_SIZE_UNKNOWN : head->object_size;
    xd_free(item->file_name);
    item->file_name = NULL;
    item->may_go_on =
        in->keeps && item->size != XD_SIZE_UNKNOWN && !item->may_be_page;
    item->names = head->names;
    xd_free(item->final_url);
    item->final_url =
        xd_url_copy(head->final_url ? head->final_url : &item->url);
    if (in->takes_names && head->file_name &&
        !(item->file_name = xd_strdup(head->file_name)))
        return xd_fail_nomem(&item->error);
    if (in->looks && head->validator && !item->validator)
        item->validator = xd_strdup(head->validator);
    if (!item->final_url ||
        (head->offer && xd_offer_copy(&item->offer, head->offer) < 0))
        return xd_fail_nomem(&item->error);
    xd_offer_sort(&item->offer);
    return 0;
}

static int fail_long(const struct xd_inspection *in, struct item *item)
{
    return xd_fail(&item->error, XD_E_MANIFEST, "%s: longer than %s",
                   xd_url_name(&item->url).s,
                   in->most == XD_MANIFEST_MAX
                       ? "64 MiB, the limit for manifests and checksums"
                       : "64 KiB, the limit for signatures");
}

/* Called when the response is known not to be a manifest.  Returns
 * XD_E_CANCELED to end the request, or XD_E_AGAIN to leave it to a download,
 * which then gets all bytes received. */
static int end_or_keep(const struct item *item, size_t len)
{
    return item->may_go_on && item->text.len == len ? XD_E_AGAIN
                                                    : XD_E_CANCELED;
}

static int on_bytes(void *user, size_t i, const void *data, size_t len)
{
    struct xd_inspection *in = user;
    struct item *item = item_of(in, i);
    int is_manifest;

    xd_text_add(&item->text, data, len);
    if (item->text.failed)
        return xd_fail_nomem(&item->error);
    if (item->text.len > in->most)
        return fail_long(in, item);
    if (in->what != FIND_OUT || item->is_manifest)
        return 0;
    is_manifest = xd_manifest_recognise(item->text.s, item->text.len);
    if (is_manifest < 0)
        return xd_fail_nomem(&item->error);
    item->is_manifest = is_manifest;
    if (item->is_manifest)
        return 0;
    if (in->compares && item->text.len <= XD_BEGUN_SAMPLE)
        return 0;
    return item->text.len >= DECIDES ||
                   !xd_manifest_may_begin(item->text.s, item->text.len)
               ? end_or_keep(item, len)
               : 0;
}

static void understand(struct xd_inspection *in, struct item *item)
{
    if (in->what == ARE_TEXTS || (in->what == FIND_OUT && !item->is_manifest))
        return;
    if (xd_manifest_parse(&item->manifest, item->text.s, item->text.len,
                          xd_url_secret_text(item->final_url),
                          &item->error) < 0)
        item->manifest = NULL;
}

static uint64_t asks_for(const struct xd_inspection *in)
{
    if (in->looks)
        return XD_BEGUN_LOOK;
    if (in->compares && !in->asks_again)
        return XD_BEGUN_SAMPLE;
    return in->keeps ? XD_BEGUN_BYTES : XD_TO_END;
}

/* Returns true if the bytes so far do not show whether the object is a
 * manifest, for example if they are a long comment. */
static bool is_undecided(const struct xd_inspection *in,
                         const struct item *item)
{
    return in->compares && xd_manifest_may_begin(item->text.s, item->text.len);
}

/* Returns true if the whole object must be requested.  It may be a long
 * manifest, or the server may refuse the range, for example of an empty
 * file. */
static bool needs_whole(const struct xd_inspection *in, const struct item *item,
                        const struct xd_outcome *outcome)
{
    const uint64_t asked = asks_for(in);

    return outcome->verdict == XD_VERDICT_REFUSED_RANGE ||
           outcome->verdict == XD_VERDICT_NO_RANGES ||
           outcome->verdict == XD_VERDICT_DIFFERENT ||
           (outcome->verdict == XD_VERDICT_OK &&
            (item->is_manifest || in->looks || is_undecided(in, item)) &&
            item->text.len == asked && item->size != asked);
}

/* Takes the sample for the comparison of copies, if enough bytes have
 * arrived. */
static void take_sample(struct xd_inspection *in, struct item *item,
                        const struct xd_outcome *outcome)
{
    const bool is_all = outcome->verdict == XD_VERDICT_OK && !outcome->is_cut;
    struct xd_hasher *hasher;

    if (item->error.code < 0 || item->is_manifest || item->is_encoded ||
        (item->text.len < XD_BEGUN_SAMPLE && !is_all) ||
        xd_hasher_new(&hasher, XD_SAMPLE_HASH, NULL) < 0)
        return;
    item->sampled =
        item->text.len < XD_BEGUN_SAMPLE ? item->text.len : XD_BEGUN_SAMPLE;
    xd_hasher_add(hasher, item->text.s, (size_t)item->sampled);
    xd_hasher_end(hasher, item->digest);
    xd_hasher_free(hasher);
    in->last = item;
}

/* Returns true if an earlier sample comes from the same host, because a host
 * has one vote. */
static bool is_host_of_earlier(const struct xd_inspection *in,
                               const struct item *item)
{
    for (const struct item *i = in->items; i < item; i++) {
        if (i->digest[0] && xd_url_compare_depots(&i->url, &item->url) == 0)
            return true;
    }
    return false;
}

/* Returns true if the hosts with the same file as the last sample outnumber all
 * others, including those that have not answered.  If the URLs end in different
 * file names, returns false, because a single difference then matters. */
static bool is_enough(void *user)
{
    const struct xd_inspection *in = user;
    const struct item *last = in->last;
    size_t n = 0;

    if (!last || !in->is_one_name || in->n > MOST_VOTERS)
        return false;
    for (size_t i = 0; i < in->n; i++) {
        const struct item *item = &in->items[i];

        if (item->is_manifest)
            return false;
        n += item->size == last->size &&
             strcmp(item->digest, last->digest) == 0 &&
             !is_host_of_earlier(in, item);
    }
    return 2 * n > in->n;
}

static void on_end(void *user, size_t i, const struct xd_outcome *outcome)
{
    struct xd_inspection *in = user;
    struct item *item = item_of(in, i);

    item->needs_whole =
        asks_for(in) != XD_TO_END && needs_whole(in, item, outcome);
    if (item->needs_whole)
        return;
    if (outcome->verdict == XD_VERDICT_OK)
        understand(in, item);
    else if (outcome->error.code < 0)
        item->error = outcome->error;
    if (item->error.code == XD_OK && item->may_be_page && !item->is_manifest &&
        xd_may_be_html(item->text.s, item->text.len))
        xd_page_fail(&item->error, &item->url);
    if (in->compares)
        take_sample(in, item, outcome);
    if (in->what != ARE_TEXTS || item->error.code < 0)
        xd_text_fini(&item->text);
}

static int make(struct xd_inspection **out, const char *const *urls, size_t n)
{
    struct xd_inspection *in = xd_alloc(1, sizeof *in);

    if (!in)
        return XD_E_NOMEM;
    in->items = xd_alloc(n, sizeof *in->items);
    in->asked = xd_alloc(n, sizeof *in->asked);
    if (!in->items || !in->asked)
        goto fail;
    in->n = n;
    in->most = XD_MANIFEST_MAX;
    for (size_t i = 0; i < n; i++) {
        in->items[i].typed = xd_typed_url(urls[i]);
        if (!in->items[i].typed)
            goto fail;
        xd_url_parse(&in->items[i].url, in->items[i].typed);
        in->items[i].size = XD_SIZE_UNKNOWN;
    }
    *out = in;
    return 0;

fail:
    xd_inspection_free(in);
    return XD_E_NOMEM;
}

/* Requests the first `n` items of in->asked.  Responses that are later than
 * `grace` are skipped. */
static int ask(struct xd_inspection *in, const struct xd_cancelable_batch *a,
               size_t n, xd_usec grace, struct xd_error *err)
{
    struct xd_batch_handler handler = {.user = in,
                                       .head = on_head,
                                       .bytes = on_bytes,
                                       .end = on_end,
                                       .is_enough =
                                           in->compares ? is_enough : NULL};
    struct xd_batch_times times = {.until = a->until,
                                   .first = XD_NEVER,
                                   .grace = grace,
                                   .turn = XD_LONGEST_TURN};
    struct xd_request *requests = xd_alloc(n, sizeof *requests);
    int rc;

    if (!requests)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct item *item = item_of(in, i);

        item->error = (struct xd_error){0};
        requests[i] = (struct xd_request){
            .url = &item->url,
            .reach = item->reach,
            .length = asks_for(in),
            .takes_whole = asks_for(in) != XD_TO_END,
            .object_size = XD_SIZE_UNKNOWN,
            .wants_size = true,
            .wants_offer = in->takes_offers,
            /* an encoding does no harm, because only the first bytes of a file
             * are examined */
            .takes_encoded = in->what == FIND_OUT};
    }
    rc = xd_batch_run(a->batch, requests, n, &times, &handler, err);
    xd_free(requests);
    return rc;
}

static bool is_manifest(const struct item *item)
{
    return item->manifest || item->error.code == XD_E_MANIFEST;
}

/* Returns the first item that is a manifest, or if `manifest` is false, the
 * first one that could be reached and is not a manifest.  Returns n if there is
 * none. */
static size_t find(const struct xd_inspection *in, bool manifest)
{
    size_t i = 0;

    while (i < in->n && (is_manifest(&in->items[i]) != manifest ||
                         (!manifest && in->items[i].error.code < 0)))
        i++;
    return i;
}

/* Requests the whole objects of items whose first bytes did not suffice.
 * Manifests are not skipped if they are slow. */
static int ask_for_whole(struct xd_inspection *in,
                         const struct xd_cancelable_batch *a,
                         struct xd_error *err)
{
    xd_usec grace = in->n == 1 ? XD_NEVER : XD_BATCH_GRACE;
    size_t n = 0;

    for (size_t i = 0; i < in->n; i++) {
        if (!in->items[i].needs_whole)
            continue;
        if (in->items[i].is_manifest)
            grace = XD_NEVER;
        in->asked[n++] = i;
    }
    if (n == 0)
        return 0;
    in->keeps = in->looks = false;
    in->asks_again = true;
    return ask(in, a, n, grace, err);
}

/* Requests all items.  A slow copy is skipped, but a slow manifest must not
 * be. */
static int ask_all(struct xd_inspection *in,
                   const struct xd_cancelable_batch *a, struct xd_error *err)
{
    size_t n_late = 0;
    int rc;

    for (size_t i = 0; i < in->n; i++)
        in->asked[i] = i;
    rc = ask(in, a, in->n, in->what == FIND_OUT ? XD_BATCH_GRACE : XD_NEVER,
             err);
    if (rc == 0)
        rc = ask_for_whole(in, a, err);
    if (rc < 0 || in->what != FIND_OUT || find(in, true) == in->n)
        return rc;
    for (size_t i = 0; i < in->n; i++) {
        if (in->items[i].error.code == XD_E_AGAIN)
            in->asked[n_late++] = i;
    }
    return n_late > 0 ? ask(in, a, n_late, XD_NEVER, err) : 0;
}

/* ---- links that a server announces along with an object ---- */

/* Returns the first manifest that the headers announce, or NULL. */
static const struct xd_offered *find_described(const struct xd_offer *o)
{
    for (size_t i = 0; i < o->n; i++) {
        if (o->items[i].kind == XD_OFFERED_MANIFEST)
            return &o->items[i];
    }
    return NULL;
}

/* A manifest on another server could state any hash, so the server of the file
 * must state one to compare it with. */
static bool may_describe(const struct item *item, const struct xd_url *url)
{
    return item->offer.n_hashes > 0 ||
           xd_url_compare_depots(&item->url, url) == 0;
}

/*
 * Fetches the manifest that the server announces for its file.  No download
 * waits for this manifest, so the fetch may take no longer than a slow copy.
 * Errors: NOMEM.
 */
static int take_described(struct xd_inspection *in, const struct xd_options *o,
                          struct xd_error *err)
{
    const struct item *item = &in->items[0];
    const struct xd_offered *described = find_described(&item->offer);
    struct xd_named_manifest named = {.reach = item->offer.reach};
    int rc;

    if (is_manifest(item) || item->error.code < 0 || !described ||
        !may_describe(item, described->url))
        return 0;
    named.url = described->url;
    rc = xd_named_manifests_fetch(&named, 1, XD_NAMED_GRACE, o, err);
    in->described = (struct xd_description){.manifest = named.manifest,
                                            .reach = named.reach};
    return rc;
}

/* Leaves the running request to a download with the same options.  Returns
 * false if there is none. */
static bool put_aside(const struct xd_inspection *in,
                      struct xd_cancelable_batch *a, const struct xd_options *o)
{
    struct xd_begun begun = {.context = xd_batch_context(a->batch),
                             .options = &a->options,
                             .at = xd_now(),
                             .n_slots = a->n_slots,
                             .owner = a,
                             .free_owner = xd_cancelable_batch_free};
    struct xd_begun *kept;

    if (!in->keeps || (o->cancel && xd_cancel_is_triggered(o->cancel)))
        return false;
    begun.url = xd_url_copy(&in->items[0].url);
    kept = begun.url ? xd_alloc(1, sizeof *kept) : NULL;
    if (kept)
        begun.runner = xd_batch_take_runner(a->batch, &begun.slot);
    if (!begun.runner) {
        xd_free(begun.url);
        xd_free(kept);
        return false;
    }
    *kept = begun;
    xd_cancelable_batch_keep(a, o);
    xd_begun_put(o->begun, kept);
    return true;
}

/* Stores what the response says for a download with the same options. */
static void state(const struct xd_inspection *in, const struct xd_options *o)
{
    const struct item *item = &in->items[0];
    struct xd_begun_stated *s;

    if (!in->looks || item->error.code < 0 || item->manifest ||
        !item->final_url)
        return;
    s = xd_alloc(1, sizeof *s);
    if (!s)
        return;
    *s = (struct xd_begun_stated){
        .url = xd_url_copy(&item->url),
        .validator = item->validator ? xd_strdup(item->validator) : NULL,
        .size = item->size,
        .is_redirected = xd_url_compare(item->final_url, &item->url) != 0,
        .at = xd_now()};
    if (s->url && (s->validator || !item->validator))
        xd_begun_state(o->begun, s);
    else
        xd_begun_stated_free(s);
}

/* Stores the samples for the comparison of copies. */
static void leave_samples(const struct xd_inspection *in,
                          const struct xd_options *o)
{
    struct xd_begun_samples *s;

    if (!in->compares || !o || !o->begun || find(in, true) < in->n)
        return;
    s = xd_alloc(1, sizeof *s + in->n * sizeof s->list[0]);
    if (!s)
        return;
    s->at = xd_now();
    for (s->n = 0; s->n < in->n; s->n++) {
        const struct item *item = &in->items[s->n];
        struct xd_begun_sample *sample = &s->list[s->n];

        *sample = (struct xd_begun_sample){.url = xd_url_copy(&item->url),
                                           .was_taken = item->digest[0] != 0,
                                           .size = item->size,
                                           .received = item->sampled,
                                           .error = item->error};
        memcpy(sample->digest, item->digest, sizeof sample->digest);
        if (!sample->url) {
            xd_begun_samples_free(s);
            return;
        }
    }
    xd_begun_put_samples(o->begun, s);
}

/* Returns true if a request for a range can end without closing the connection,
 * which is not so for FTP. */
static bool is_http(const struct xd_url *url)
{
    return url->is_valid && xd_scheme_is_http(url->scheme);
}

static bool have_one_name(const struct xd_inspection *in)
{
    for (size_t i = 1; i < in->n; i++) {
        const struct xd_url two[] = {in->items[0].url, in->items[i].url};

        if (!xd_copies_have_one_name(two, 2))
            return false;
    }
    return true;
}

static int inspect(struct xd_inspection *in, const struct xd_options *o,
                   struct xd_error *err)
{
    struct xd_cancelable_batch *a;
    int rc;

    in->accepts_html = o && o->accept_html;
    in->takes_names = in->what == FIND_OUT && o && o->content_disposition;
    in->takes_offers =
        in->what == FIND_OUT && in->n == 1 && !(o && o->no_metalink);
    in->keeps = in->what == FIND_OUT && in->n == 1 && o && o->begun &&
                is_http(&in->items[0].url);
    in->looks = in->keeps && o->via && o->via[0];
    in->keeps &= !in->looks;
    in->compares = in->what == FIND_OUT && in->n > 1;
    in->is_one_name = in->compares && have_one_name(in);
    rc = xd_cancelable_batch_new(&a, o, in->keeps ? xd_options_lanes(o) : in->n,
                                 err);
    if (rc < 0)
        return rc;
    rc = ask_all(in, a, err);
    if (rc == 0 && in->takes_offers)
        rc = take_described(in, o, err);
    if (rc == 0)
        state(in, o);
    if (rc == 0)
        leave_samples(in, o);
    if (rc == 0 && put_aside(in, a, o))
        return 0;
    return xd_cancelable_batch_end(a, o, rc, err);
}

int xd_inspect(struct xd_inspection **out, const char *const *urls, size_t n,
               bool are_manifests, const struct xd_options *o,
               struct xd_error *err)
{
    struct xd_inspection *in;
    int rc;

    *out = NULL;
    if (n == 0)
        return xd_fail(err, XD_E_INVAL, "no URL was given");
    if (make(&in, urls, n) < 0)
        return xd_fail_nomem(err);
    in->what = are_manifests ? ARE_MANIFESTS : FIND_OUT;
    rc = inspect(in, o, err);
    if (rc < 0)
        xd_inspection_free(in);
    else
        *out = in;
    return rc;
}

int64_t xd_inspection_n_manifests(const struct xd_inspection *in,
                                  struct xd_error *err)
{
    size_t manifest = find(in, true), copy = find(in, false);

    if (manifest < in->n && copy < in->n)
        return xd_fail(err, XD_E_INVAL,
                       "%s is a manifest, but %s is a copy of a file: give "
                       "either manifests or the URLs of one file",
                       xd_url_name(&in->items[manifest].url).s,
                       xd_url_name(&in->items[copy].url).s);
    if (in->what == ARE_MANIFESTS || manifest < in->n)
        return (int64_t)in->n;
    if (copy < in->n)
        return 1;
    if (err)
        *err = in->items[0].error;
    return in->items[0].error.code;
}

/* Returns the size if all URLs that stated one agree. */
static uint64_t common_size(const struct xd_inspection *in)
{
    uint64_t size = XD_SIZE_UNKNOWN;

    for (size_t i = 0; i < in->n; i++) {
        const struct item *item = &in->items[i];

        if (item->error.code < 0 || item->size == XD_SIZE_UNKNOWN)
            continue;
        if (size != XD_SIZE_UNKNOWN && item->size != size)
            return XD_SIZE_UNKNOWN;
        size = item->size;
    }
    return size;
}

/* Returns the file name from the first server that states one, or NULL. */
static const char *find_name(const struct xd_inspection *in)
{
    for (size_t i = 0; i < in->n; i++) {
        if (in->items[i].error.code == XD_OK && in->items[i].file_name)
            return in->items[i].file_name;
    }
    return NULL;
}

/* Records the failures in the manifest.  Usually the comparison of copies does
 * that, but it leaves out empty files. */
static int note_failures(struct xd_manifest *m, const struct xd_inspection *in,
                         struct xd_error *err)
{
    for (size_t i = 0; i < in->n; i++) {
        if (xd_model_note_failure(m, &in->items[i].url, &in->items[i].error) <
            0) {
            xd_manifest_unref(m);
            return xd_fail_nomem(err);
        }
    }
    return 0;
}

/* Lists all URLs except web pages.  URLs that have not answered are listed,
 * because they may still answer later. */
static int make_list(struct xd_manifest **out, const struct xd_inspection *in,
                     struct xd_error *err)
{
    const char **urls = xd_alloc(in->n, sizeof *urls);
    size_t n = 0;
    int rc;

    if (!urls)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < in->n; i++) {
        if (in->items[i].error.code != XD_E_DIFFERENT)
            urls[n++] = xd_url_secret_text(&in->items[i].url);
    }
    rc = xd_manifest_of_urls(out, urls, n, common_size(in), find_name(in), err);
    xd_free(urls);
    return rc == 0 && common_size(in) == 0 ? note_failures(*out, in, err) : rc;
}

static bool has_offer(const struct xd_inspection *in)
{
    return in->described.manifest || !xd_offer_is_empty(&in->items[0].offer);
}

int xd_inspection_manifest(struct xd_manifest **out,
                           const struct xd_inspection *in, size_t i,
                           struct xd_error *err)
{
    int64_t n = xd_inspection_n_manifests(in, err);

    *out = NULL;
    if (n < 0)
        return (int)n;
    if (i >= (uint64_t)n)
        return xd_fail(err, XD_E_INVAL, "there is no manifest number %zu", i);
    if (in->what == FIND_OUT && find(in, true) == in->n)
        return in->n == 1 && has_offer(in)
                   ? xd_manifest_offered(out, &in->items[0].url,
                                         in->items[0].size, &in->items[0].offer,
                                         &in->described, find_name(in), err)
                   : make_list(out, in, err);
    if (in->items[i].manifest)
        *out = xd_manifest_ref(in->items[i].manifest);
    else if (err)
        *err = in->items[i].error;
    return in->items[i].error.code;
}

bool xd_names_url(const char *text)
{
    static const char in_scheme[] = "abcdefghijklmnopqrstuvwxyz"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789+-.";
    const size_t len = strspn(text, in_scheme);

    return len > 0 && strncmp(text + len, "://", 3) == 0;
}

int xd_text_fetch(struct xd_text *out, const char *url, size_t most,
                  const struct xd_options *o, struct xd_error *err)
{
    struct xd_inspection *in;
    int rc;

    if (make(&in, &url, 1) < 0)
        return xd_fail_nomem(err);
    in->what = ARE_TEXTS;
    in->most = most;
    rc = inspect(in, o, err);
    if (rc == 0 && in->items[0].error.code < 0) {
        rc = in->items[0].error.code;
        if (err)
            *err = in->items[0].error;
    }
    if (rc == 0) {
        *out = in->items[0].text;
        in->items[0].text = (struct xd_text){0};
    }
    xd_inspection_free(in);
    return rc;
}

static int ask_named(struct xd_inspection *in, xd_usec patience,
                     const struct xd_options *o, struct xd_error *err)
{
    struct xd_cancelable_batch *a;
    int rc = xd_cancelable_batch_new(&a, o, in->n, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < in->n; i++)
        in->asked[i] = i;
    if (patience != XD_NEVER)
        a->until = xd_earlier(a->until, xd_now() + patience);
    rc = ask(in, a, in->n, XD_NEVER, err);
    return xd_cancelable_batch_end(a, o, rc, err);
}

int xd_named_manifests_fetch(struct xd_named_manifest *list, size_t n,
                             xd_usec patience, const struct xd_options *o,
                             struct xd_error *err)
{
    const char **urls = xd_alloc(n, sizeof *urls);
    struct xd_inspection *in = NULL;
    int rc;

    for (size_t i = 0; urls && i < n; i++)
        urls[i] = xd_url_secret_text(list[i].url);
    rc = urls ? make(&in, urls, n) : XD_E_NOMEM;
    xd_free(urls);
    if (rc < 0)
        return xd_fail_nomem(err);
    in->what = ARE_MANIFESTS;
    for (size_t i = 0; i < n; i++)
        in->items[i].reach = list[i].reach;
    rc = ask_named(in, patience, o, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        list[i].reach = in->items[i].names;
        list[i].error = in->items[i].error;
        if (in->items[i].manifest)
            list[i].manifest = xd_manifest_ref(in->items[i].manifest);
    }
    xd_inspection_free(in);
    return rc;
}

int xd_inspection_get(const struct xd_inspection *in, size_t i,
                      struct xd_inspected *out)
{
    struct xd_inspected inspected = {0};

    if (i >= in->n)
        return XD_E_INVAL;
    inspected.error = in->items[i].error;
    inspected.manifest = in->items[i].manifest;
    inspected.size = in->items[i].size;
    xd_copy_out(out, &inspected, sizeof inspected);
    return 0;
}

void xd_inspection_free(struct xd_inspection *in)
{
    if (!in)
        return;
    for (size_t i = 0; in->items && i < in->n; i++) {
        xd_free(in->items[i].typed);
        xd_free(in->items[i].final_url);
        xd_free(in->items[i].file_name);
        xd_free(in->items[i].validator);
        xd_text_fini(&in->items[i].text);
        xd_offer_fini(&in->items[i].offer);
        xd_manifest_unref(in->items[i].manifest);
    }
    xd_manifest_unref(in->described.manifest);
    xd_free(in->items);
    xd_free(in->asked);
    xd_free(in);
}
