/* SPDX-License-Identifier: MIT */
#include <xdpublish/make.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <xdpublish/audit.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/text.h"
#include "io/hash.h"
#include "manifest/builder.h"
#include "manifest/format.h"
#include "manifest/names.h"
#include "publish/audit_run.h"
#include "publish/make_hashes.h"

/* ---- checking the arguments ---- */

/* Returns whether the query of a URL has a signature, which grants the rights
 * of its owner. */
static bool has_signature(const char *url)
{
    const char *query = strchr(url, '?');

    return query && (strstr(query, "X-Amz-Signature=") ||
                     strstr(query, "AWSAccessKeyId="));
}

static int check_url(const char *text, struct xd_error *err)
{
    struct xd_url url;

    if (!xd_url_parse(&url, text))
        return xd_fail(err, XD_E_MANIFEST, "%s: is no URL",
                       xd_url_name(&url).s);
    if (xd_url_has_login(&url))
        return xd_fail(
            err, XD_E_INVAL,
            "%s: the URL has a user name or password, which "
            "everybody would read in the manifest: leave it out, and "
            "give it with --user or --netrc",
            xd_url_name(&url).s);
    if (has_signature(text))
        return xd_fail(err, XD_E_INVAL,
                       "%s: the URL is signed, which is a secret and expires: "
                       "give the plain URL of the object",
                       xd_url_name(&url).s);
    return 0;
}

static int check(const char *const *urls, size_t n,
                 const struct xd_make_options *what, struct xd_error *err)
{
    uint64_t piece = what->piece_bytes;
    int rc = 0;

    if (n == 0)
        return xd_fail(err, XD_E_INVAL, "no URL was given");
    if (piece > 0 &&
        (piece < XD_MAKE_PIECE_LEAST || piece > XD_MAKE_PIECE_MOST))
        return xd_fail(err, XD_E_INVAL, "pieces of %llu bytes: use 16k to 1g",
                       (unsigned long long)piece);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = check_url(urls[i], err);
    return rc;
}

/* ---- the manifest ---- */

static void add_hashes(struct xd_builder *b, const struct xd_make_hashes *h)
{
    xd_builder_size(b, h->size);
    xd_builder_hash(b, xd_span_of("sha-256"), xd_span_of(h->whole));
    if (h->n == 0)
        return;
    xd_builder_pieces(b, xd_span_of("sha-256"), h->piece_bytes);
    for (size_t i = 0; i < h->n; i++)
        xd_builder_piece(b, xd_span_of(h->pieces[i]));
}

/* Builds a manifest with the replicas of `from` for which `keeps` is true, or
 * with all replicas if `keeps` is NULL. */
static int build(struct xd_manifest **out, const struct xd_manifest *from,
                 const bool *keeps, const char *name,
                 const struct xd_make_hashes *h, struct xd_error *err)
{
    const struct xd_model_file *f = &from->files[0];
    struct xd_builder b;
    int rc = xd_builder_init(&b, NULL, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; f->n_extents > 0 && i < f->extents->n_replicas; i++) {
        if (!keeps || keeps[i])
            xd_urls_add(&b, xd_span_of(xd_model_replica_row(f, i).url));
    }
    if (name)
        xd_builder_name(&b, xd_span_of(name));
    add_hashes(&b, h);
    rc = xd_builder_end_file(&b);
    if (rc == 0)
        rc = xd_builder_finish(&b, XD_FORMAT_URLS, out);
    xd_builder_fini(&b);
    return rc;
}

/* ---- bad copies ---- */

static bool is_good(const struct xd_audit *a, const struct xd_audit_replica *r)
{
    return xd_audit_verdict_is_usable(r->verdict) &&
           (!a->is_full || r->is_whole_read || a->size == 0);
}

static int warn(struct xd_manifest *m, const char *format, ...) XD_PRINTF(2, 3);

static int warn(struct xd_manifest *m, const char *format, ...)
{
    char line[900];
    va_list args;

    va_start(args, format);
    xd_format_line(line, sizeof line, format, args);
    va_end(args);
    return xd_model_warn(m, line);
}

struct description {
    char s[480];
};

/* Returns a description like "URL: its bytes are wrong".  An error of a depot
 * contains the URL already. */
static struct description describe(const struct xd_audit_replica *r)
{
    const struct xd_url_name name = xd_url_name(r->url);
    const char *why = r->reason ? r->reason : "it was not read to its end";
    struct description d;
    bool has_name = strncmp(why, name.s, strlen(name.s)) == 0;

    snprintf(d.s, sizeof d.s, "%s%s%s", has_name ? "" : name.s,
             has_name ? "" : ": ", why);
    return d;
}

static int warn_of_left_out(struct xd_manifest *m, const struct xd_audit *a)
{
    size_t n_good = 0;
    int rc = 0;

    for (size_t i = 0; i < a->n && rc == 0; i++) {
        const struct xd_audit_replica *r = &a->replicas[i];

        n_good += is_good(a, r);
        if (!is_good(a, r))
            rc = warn(m, "left out, as it is %s: %s",
                      xd_audit_verdict_name(r->verdict), describe(r).s);
    }
    if (rc == 0 && a->is_full && n_good == 1)
        rc = warn(m, "one copy was read, and compared with nothing");
    return rc;
}

static const struct xd_audit_replica *find_good(const struct xd_audit *a)
{
    for (size_t i = 0; i < a->n; i++) {
        if (is_good(a, &a->replicas[i]))
            return &a->replicas[i];
    }
    return NULL;
}

/* Fails because no copy is good.  If there are several reasons, wrong bytes
 * come first. */
static int fail_none(const struct xd_audit *a, struct xd_error *err)
{
    const struct xd_audit_replica *worst = &a->replicas[0];

    for (size_t i = 0; i < a->n; i++) {
        const struct xd_audit_replica *r = &a->replicas[i];

        if (r->verdict == XD_AUDIT_DISPUTED || r->verdict == XD_AUDIT_LYING ||
            r->verdict == XD_AUDIT_STALE)
            return xd_fail(err, XD_E_CORRUPT, "%s", describe(r).s);
        if (r->verdict > worst->verdict)
            worst = r;
    }
    return xd_fail(err, XD_E_NOREPLICA, "%s", describe(worst).s);
}

/* Fails if the copies differ and none has a majority. */
static int check_disputes(const struct xd_audit *a, struct xd_error *err)
{
    const struct xd_audit_replica *one = NULL;

    for (size_t i = 0; i < a->n; i++) {
        const struct xd_audit_replica *r = &a->replicas[i];

        if (r->verdict != XD_AUDIT_DISPUTED)
            continue;
        if (one && r->depot != one->depot)
            return xd_fail(err, XD_E_CORRUPT,
                           "%s and %s: their %s, and no majority decides: give "
                           "the file itself, or one URL more",
                           xd_url_name(one->url).s, xd_url_name(r->url).s,
                           r->facts.is_disputed ? "sizes differ"
                                                : "bytes differ");
        if (!one)
            one = r;
    }
    return one ? fail_none(a, err) : 0;
}

/* Makes the manifest without the bad copies. */
static int conclude(struct xd_manifest **out, const struct xd_audit *a,
                    const char *name, const struct xd_make_hashes *h,
                    struct xd_error *err)
{
    bool *keeps = xd_alloc(a->n + 1, sizeof *keeps);
    int rc;

    if (!keeps)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < a->n; i++)
        keeps[i] = is_good(a, &a->replicas[i]);
    rc = build(out, a->manifest, keeps, name, h, err);
    xd_free(keeps);
    if (rc == 0 && warn_of_left_out(*out, a) < 0) {
        xd_manifest_unref(*out);
        *out = NULL;
        rc = xd_fail_nomem(err);
    }
    return rc;
}

/* ---- hashes of a local file ---- */

static int check_depots(struct xd_manifest **out, struct xd_manifest *m,
                        const char *name, const struct xd_make_hashes *h,
                        const struct xd_options *o, struct xd_error *err)
{
    struct xd_audit *a;
    int rc = xd_audit_begin(&a, m, 0, false, 0, NULL, o, err);

    if (rc < 0)
        return rc;
    rc = xd_audit_run(a, err);
    if (rc == 0 && !find_good(a))
        rc = fail_none(a, err);
    if (rc == 0)
        rc = conclude(out, a, name, h, err);
    xd_audit_free(a);
    return rc;
}

static int make_of_file(struct xd_manifest **out, struct xd_manifest *list,
                        const struct xd_make_options *what,
                        const struct xd_options *o, struct xd_error *err)
{
    const char *name = what->name ? what->name : xd_path_name(what->path);
    struct xd_make_hashes h;
    struct xd_manifest *all;
    int rc = xd_make_hashes_read(&h, what->path, what->piece_bytes, o, err);

    if (rc == 0)
        rc = build(&all, list, NULL, name, &h, err);
    if (rc == 0 && (what->is_offline || h.size == 0)) {
        *out = all; /* an empty file has no copies in a manifest */
    } else if (rc == 0) {
        rc = check_depots(out, all, name, &h, o, err);
        xd_manifest_unref(all);
    }
    xd_make_hashes_fini(&h);
    return rc;
}

/* ---- hashes of the copies on the depots ---- */

/* Takes the hashes from the audit, whose cells were the pieces. */
static int take_hashes(struct xd_make_hashes *h, const struct xd_audit *a,
                       const struct xd_audit_replica *r, struct xd_error *err)
{
    struct xd_hasher *empty;
    char hex[XD_HASH_HEX_MAX + 1];
    int rc = xd_make_hashes_init(h, a->size, a->cell_bytes, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < h->n; i++)
        memcpy(h->pieces[i], r->shown.digests[i], XD_MAKE_HEX + 1);
    if (a->size > 0) {
        memcpy(h->whole, r->whole_hex, XD_MAKE_HEX + 1);
        return 0;
    }
    rc = xd_hasher_new(&empty, "sha-256", err);
    if (rc < 0)
        return rc;
    xd_hasher_end(empty, hex);
    memcpy(h->whole, hex, XD_MAKE_HEX + 1);
    xd_hasher_free(empty);
    return 0;
}

static int make_of_good(struct xd_manifest **out, const struct xd_audit *a,
                        const char *name, struct xd_error *err)
{
    const struct xd_audit_replica *good = find_good(a);
    struct xd_make_hashes h = {0};
    char of_url[XD_NAME_MAX + 1];
    int rc = check_disputes(a, err);

    if (rc < 0)
        return rc;
    if (!good)
        return fail_none(a, err);
    if (a->size == XD_SIZE_UNKNOWN)
        return xd_fail(err, XD_E_NOREPLICA,
                       "%s: its depot does not say how long the file is: fetch "
                       "it, and give the file before its URLs",
                       xd_url_name(good->url).s);
    if (!name && xd_name_from_url(good->url, of_url))
        name = of_url;
    rc = take_hashes(&h, a, good, err);
    if (rc == 0)
        rc = conclude(out, a, name, &h, err);
    xd_make_hashes_fini(&h);
    return rc;
}

static int make_of_depots(struct xd_manifest **out, struct xd_manifest *list,
                          const struct xd_make_options *what,
                          const struct xd_options *o, struct xd_error *err)
{
    struct xd_audit *a;
    int rc =
        xd_audit_begin(&a, list, 0, true, what->piece_bytes, "sha-256", o, err);

    if (rc < 0)
        return rc;
    a->choose_cell_bytes = xd_make_piece_bytes;
    rc = xd_audit_run(a, err);
    if (rc == 0)
        rc = make_of_good(out, a, what->name, err);
    xd_audit_free(a);
    return rc;
}

int xd_manifest_make(struct xd_manifest **out, const char *const *urls,
                     size_t n, const struct xd_make_options *what,
                     const struct xd_options *o, struct xd_error *err)
{
    struct xd_make_options asked = {.path = NULL};
    struct xd_options defaults;
    struct xd_manifest *list;
    int rc;

    *out = NULL;
    xd_options_init(&defaults);
    if (what &&
        xd_copy_in(&asked, sizeof asked, what, "xd_make_options", err) < 0)
        return XD_E_INVAL;
    rc = check(urls, n, &asked, err);
    if (rc == 0)
        rc = xd_manifest_from_urls(&list, urls, n, XD_SIZE_UNKNOWN, err);
    if (rc < 0)
        return rc;
    if (asked.path)
        rc = make_of_file(out, list, &asked, o ? o : &defaults, err);
    else
        rc = make_of_depots(out, list, &asked, o ? o : &defaults, err);
    xd_manifest_unref(list);
    return rc;
}
