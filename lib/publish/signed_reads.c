/* SPDX-License-Identifier: MIT */
#include "publish/signed_reads.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "manifest/edit.h"
#include "manifest/parity.h"
#include "os/clock.h"
#include "publish/stores.h"
#include "store/s3_place.h"

/* Lifetime of the URLs in seconds.  This is the longest lifetime of temporary
 * credentials. */
#define SECONDS ((uint64_t)12 * 3600)

/* The presigned URL of one of our objects. */
struct object {
    char *signed_url; /* owned */
    size_t plain_len; /* length of the URL without the signature */
};

struct signing {
    const struct xd_options *options;
    int64_t now;
    struct xd_stores buckets;
    /* our objects, sorted by their URLs without signature */
    struct object *list;
    size_t n;
    const char **reads; /* for each replica, its presigned URL or NULL */
    /* for each parity replica, stripe by stripe, its presigned URL or NULL */
    const char **parity_reads;
};

/* ---- our objects ---- */

/* Returns the bucket of the object "s3://BUCKET/KEY".  NULL for other names, or
 * if there are no credentials. */
static const struct xd_store *bucket_of(struct signing *s, const char *manage)
{
    const struct xd_store *store = xd_stores_find(&s->buckets, manage);
    const char *slash = strchr(manage + strlen("s3://"), '/');
    struct xd_error ignored;
    char *text;

    if (store || !slash)
        return store;
    text = xd_strndup(manage, (size_t)(slash - manage) + 1);
    if (text)
        (void)xd_stores_add(&s->buckets, text, s->options, &ignored);
    xd_free(text);
    return xd_stores_find(&s->buckets, manage);
}

static int sign(struct signing *s, const char *manage, struct xd_error *err)
{
    const struct xd_store *store;
    struct xd_url url;
    char *text;
    int rc;

    if (!manage || !xd_url_parse(&url, manage) || !xd_s3_is_name(&url))
        return 0;
    store = bucket_of(s, manage);
    rc = store ? xd_store_presign(store, manage, s->now, SECONDS, &text, err)
               : XD_E_INVAL;
    if (rc == 0)
        s->list[s->n++] = (struct object){.signed_url = text,
                                          .plain_len = strcspn(text, "?")};
    return rc == XD_E_NOMEM ? rc : 0;
}

static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const int c = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return c != 0 ? c : (a_len > b_len) - (a_len < b_len);
}

static int by_plain_url(const void *a, const void *b)
{
    const struct object *x = a, *y = b;

    return compare(x->signed_url, x->plain_len, y->signed_url, y->plain_len);
}

/* Compares a URL with the URL of an object without its signature. */
static int has_plain_url(const void *url, const void *object)
{
    const struct object *o = object;

    return compare(url, strlen(url), o->signed_url, o->plain_len);
}

static int sign_all(struct signing *s, const struct xd_model_file *own,
                    struct xd_error *err)
{
    const size_t n = xd_model_n_replicas(own);
    const struct xd_model_rare *rare = own->rare;
    int rc = 0;

    s->list = xd_alloc(n + xd_stripes_n_replicas(own) + 1, sizeof *s->list);
    if (!s->list)
        return xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = sign(s, xd_model_manage(own, i), err);
    for (size_t i = 0; i < rare->n_stripes; i++)
        for (size_t k = 0; rc == 0 && k < rare->stripes[i].n_replicas; k++)
            rc = sign(s, rare->stripes[i].replicas[k].manage, err);
    qsort(s->list, s->n, sizeof *s->list, by_plain_url);
    return rc;
}

/* ---- URLs to read ---- */

/* Returns the presigned URL for `url` if it is the URL of one of our objects,
 * otherwise NULL. */
static const char *find(const struct signing *s, const char *url)
{
    const struct object *found =
        bsearch(url, s->list, s->n, sizeof *s->list, has_plain_url);

    return found ? found->signed_url : NULL;
}

/* Chooses the presigned URL of each replica.  Returns whether any replica has a
 * presigned URL. */
static bool choose(struct signing *s, const struct xd_model_file *f)
{
    bool has_one = false;

    for (size_t i = 0; i < xd_model_n_replicas(f); i++) {
        s->reads[i] = find(s, xd_model_replica_row(f, i).url);
        has_one |= s->reads[i] != NULL;
    }
    for (size_t i = 0; i < f->rare->n_stripes; i++) {
        const struct xd_model_stripe *stripe = &f->rare->stripes[i];

        for (size_t k = 0; k < stripe->n_replicas; k++) {
            const char *read =
                find(s, xd_stripe_replica(&stripe->replicas[k]).url);

            s->parity_reads[stripe->first_place + k] = read;
            has_one |= read != NULL;
        }
    }
    return has_one;
}

static int make(struct signing *s, struct xd_manifest **out,
                struct xd_manifest *m, const struct xd_model_file *own,
                struct xd_error *err)
{
    const struct xd_model_file *f = &m->files[0];
    int rc = sign_all(s, own, err);

    s->reads = xd_alloc(xd_model_n_replicas(f) + 1, sizeof(char *));
    s->parity_reads = xd_alloc(xd_stripes_n_replicas(f) + 1, sizeof(char *));
    if (rc == 0 && (!s->reads || !s->parity_reads))
        rc = xd_fail_nomem(err);
    if (rc == 0 && s->n > 0 && choose(s, f))
        return xd_manifest_edit(
            out, m, 0,
            &(struct xd_edit){.reads = s->reads,
                              .parity_reads = s->parity_reads},
            err);
    if (rc == 0)
        *out = xd_manifest_ref(m);
    return rc;
}

/* Returns whether the manifest names objects to manage. */
static bool has_secrets(const struct xd_model_file *own)
{
    return own->rare->mappings || own->rare->n_stripes > 0;
}

int xd_signed_reads(struct xd_manifest **out, struct xd_manifest *m,
                    const struct xd_inventory *own, const struct xd_options *o,
                    struct xd_error *err)
{
    struct signing s = {.options = o, .now = (int64_t)xd_unix_time()};
    const struct xd_manifest *there = xd_inventory_manifest(own);
    int rc;

    *out = NULL;
    if (!xd_inventory_is_private(own) || there->n_files != 1 ||
        !has_secrets(&there->files[0]) || m->n_files != 1) {
        *out = xd_manifest_ref(m);
        return 0;
    }
    rc = make(&s, out, m, &there->files[0], err);
    for (size_t i = 0; i < s.n; i++)
        xd_free(s.list[i].signed_url);
    xd_free(s.list);
    xd_free(s.reads);
    xd_free(s.parity_reads);
    xd_stores_fini(&s.buckets);
    return rc;
}
