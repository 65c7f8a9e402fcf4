/* SPDX-License-Identifier: MIT */
/*
 * A hash from the server shows that another copy is what this server would have
 * sent (RFC 6249 section 6).  That is no proof of the content, but enough to
 * use the copy.  Without a hash, which the redirectors of caches omit, copies
 * are treated like URLs from the command line: samples are compared
 * (xd_copies_check()).
 */
#include "manifest/offered.h"

#include <limits.h>

#include "manifest/builder.h"
#include "manifest/described.h"
#include "manifest/format.h"
#include "manifest/hashes.h"
#include "manifest/model.h"
#include "manifest/names.h"

#define OWN_PRIORITY 1u /* priority of the URL that was requested */

/* First priority of the other copies. */
#define OTHER_PRIORITY 2u

static void add_hash(struct xd_builder *b, const char *algorithm,
                     const char *hex)
{
    xd_builder_hash(b, xd_span_of(algorithm), xd_span_of(hex));
}

static void add_source(struct xd_builder *b, const char *text,
                       unsigned priority, const char *location,
                       enum xd_reach reach)
{
    struct xd_source s = {.url = xd_span_of(text),
                          .length = XD_SIZE_UNKNOWN,
                          .object_size = XD_SIZE_UNKNOWN,
                          .priority = priority,
                          .reach = reach};

    if (location && location[0])
        s.location = xd_builder_location(b, xd_span_of(location));
    xd_builder_source(b, &s);
}

/* ---- from a Metalink ---- */

/* Returns NULL if the Metalink can be used, else the reason why not. */
static const char *refuse(const struct xd_model_file *f, uint64_t size,
                          const struct xd_offer *offer)
{
    const char *why = xd_described_refuse(f, size);

    for (size_t i = 0; !why && i < offer->n_hashes; i++) {
        if (xd_described_contradicts(f, offer->hashes[i].algorithm,
                                     offer->hashes[i].hex))
            why = XD_DESCRIBED_CONTRADICTS;
    }
    return why;
}

/* Adds the metaurls of a file.  If a metaurl has no name of its own, the name
 * of this file is used. */
static void add_metaurls(struct xd_builder *b, const struct xd_model_file *f,
                         enum xd_reach reach)
{
    const char *name = xd_model_name(f);

    for (const struct xd_metaurl *m = f->rare->metaurls; m; m = m->next)
        xd_builder_metaurl(b, xd_span_of(xd_url_secret_text(&m->url)),
                           xd_span_of(m->name ? m->name : name), reach);
}

static void add_described(struct xd_builder *b, const struct xd_model_file *f,
                          enum xd_reach reach)
{
    for (size_t i = 0; i < f->n_hashes; i++)
        add_hash(b, f->hashes[i].algorithm, f->hashes[i].hex);
    if (f->size != XD_SIZE_UNKNOWN)
        xd_builder_size(b, f->size);
    xd_builder_copy_pieces(b, f->rare->pieces);
    add_metaurls(b, f, reach);
}

static void add_described_sources(struct xd_builder *b,
                                  const struct xd_model_file *f,
                                  enum xd_reach reach)
{
    for (size_t i = 0; i < f->extents[0].n_replicas; i++) {
        const struct xd_model_replica *r = &f->replicas[i];
        unsigned priority = r->priority < XD_PRIORITY_NONE - OTHER_PRIORITY
                                ? OTHER_PRIORITY + r->priority - 1
                                : XD_PRIORITY_NONE;

        add_source(b, xd_url_secret_text(&f->urls[i]), priority, r->location,
                   reach);
    }
}

/* ---- all together ---- */

/* Limit for copies without a hash, because each must be sampled before the
 * download. */
#define UNPROVED_MAX 8u

static void add_copies(struct xd_builder *b, const struct xd_offer *offer,
                       unsigned most)
{
    unsigned priority = OTHER_PRIORITY;

    for (size_t i = 0; i < offer->n && priority - OTHER_PRIORITY < most; i++) {
        const struct xd_offered *o = &offer->items[i];

        if (o->kind == XD_OFFERED_COPY)
            add_source(b, xd_url_secret_text(o->url), priority++, o->location,
                       offer->reach);
    }
}

static int build(struct xd_builder *b, const struct xd_url *url, uint64_t size,
                 const struct xd_offer *offer,
                 const struct xd_description *described)
{
    char name[XD_NAME_MAX + 1];
    bool has_name = xd_name_from_url(url, name);
    const struct xd_model_file *f = NULL;
    const char *why = NULL;

    if (described->manifest) {
        f = xd_described_file(described->manifest, has_name ? name : NULL);
        why = refuse(f, size, offer);
    }
    if (why)
        xd_builder_warn(b, "the server's Metalink is not used: %s", why);
    if (!xd_builder_server_name(b) && has_name)
        xd_builder_name(b, xd_span_of(name));
    if (size != XD_SIZE_UNKNOWN)
        xd_builder_size(b, size);
    for (size_t i = 0; i < offer->n_hashes; i++)
        add_hash(b, offer->hashes[i].algorithm, offer->hashes[i].hex);
    if (f && !why)
        add_described(b, f, described->reach);
    add_source(b, xd_url_secret_text(url), OWN_PRIORITY, NULL,
               XD_REACH_MACHINE);
    if (xd_draft_has_strong_hash(&b->draft)) {
        add_copies(b, offer, XD_OFFERED_MAX);
        if (f && !why)
            add_described_sources(b, f, described->reach);
    } else if (b->draft.n_hashes == 0) {
        add_copies(b, offer, UNPROVED_MAX);
    }
    b->draft.is_offered = true;
    return xd_builder_end_file(b);
}

int xd_manifest_offered(struct xd_manifest **out, const struct xd_url *url,
                        uint64_t size, const struct xd_offer *offer,
                        const struct xd_description *described,
                        const char *server_name, struct xd_error *err)
{
    struct xd_builder b;
    int rc = xd_builder_init(&b, NULL, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    b.server_name = server_name;
    rc = build(&b, url, size, offer, described);
    if (rc == 0)
        rc = xd_builder_finish(&b, XD_FORMAT_URLS, out);
    xd_builder_fini(&b);
    return rc;
}
