/* SPDX-License-Identifier: MIT */
#include "store/sigv4.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/hex.h"
#include "io/hash.h"

#define ALGORITHM "AWS4-HMAC-SHA256"

/* Sorted names with values. */
struct pairs {
    struct xd_sigv4_pair all[XD_SIGV4_MOST_PAIRS];
    size_t n;
};

/* Time and credential scope of a signature. */
struct scope {
    char time[sizeof "20130524T000000Z"];
    char day[sizeof "20130524"];
    struct xd_text text; /* DAY/REGION/SERVICE/aws4_request */
};

static bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
           c == '~';
}

void xd_sigv4_encode(struct xd_text *out, struct xd_span s, bool keeps_slash)
{
    for (; s.len > 0; xd_span_skip(&s, 1)) {
        if (is_unreserved(s.s[0]) || (keeps_slash && s.s[0] == '/'))
            xd_text_add(out, s.s, 1);
        else
            xd_text_addf(out, "%%%02X", (unsigned char)s.s[0]);
    }
}

static void add_pair(struct pairs *to, const char *name, const char *value)
{
    XD_ASSERT(to->n < XD_SIGV4_MOST_PAIRS);
    to->all[to->n++] = (struct xd_sigv4_pair){name, value};
}

static void add_pairs(struct pairs *to, const struct xd_sigv4_pair *from,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_pair(to, from[i].name, from[i].value);
}

/* Compares names byte by byte.  No two names are equal. */
static int compare(const void *a, const void *b)
{
    const struct xd_sigv4_pair *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static void sort(struct pairs *p)
{
    qsort(p->all, p->n, sizeof p->all[0], compare);
}

static void add_query(struct xd_text *out, struct pairs *p)
{
    sort(p);
    for (size_t i = 0; i < p->n; i++) {
        xd_text_addf(out, "%s%s=", i > 0 ? "&" : "", p->all[i].name);
        xd_sigv4_encode(out, xd_span_of(p->all[i].value), false);
    }
}

void xd_sigv4_query(struct xd_text *out, const struct xd_sigv4_request *r)
{
    struct pairs p = {.n = 0};

    add_pairs(&p, r->query, r->n_query);
    add_query(out, &p);
}

/* Appends "SignedHeaders": the names, separated by semicolons. */
static void add_names(struct xd_text *out, const struct pairs *headers)
{
    for (size_t i = 0; i < headers->n; i++)
        xd_text_addf(out, "%s%s", i > 0 ? ";" : "", headers->all[i].name);
}

/* Appends the canonical request ("Task 1: Create a Canonical Request"). */
static void add_canonical(struct xd_text *out, const struct xd_sigv4_request *r,
                          struct pairs *query, struct pairs *headers)
{
    xd_text_addf(out, "%s\n%s\n", r->method, r->path);
    add_query(out, query);
    xd_text_add(out, "\n", 1);
    sort(headers);
    for (size_t i = 0; i < headers->n; i++)
        xd_text_addf(out, "%s:%s\n", headers->all[i].name,
                     headers->all[i].value);
    xd_text_add(out, "\n", 1);
    add_names(out, headers);
    xd_text_addf(out, "\n%s", r->payload);
}

static void begin_scope(struct scope *s, const struct xd_sigv4_signer *signer,
                        int64_t at)
{
    time_t seconds = (time_t)at;
    struct tm t;

    *s = (struct scope){.text = {.s = NULL}};
    if (!gmtime_r(&seconds, &t) ||
        strftime(s->time, sizeof s->time, "%Y%m%dT%H%M%SZ", &t) == 0)
        /* the year does not fit in four digits */
        strcpy(s->time, "19700101T000000Z");
    memcpy(s->day, s->time, sizeof s->day - 1);
    xd_text_addf(&s->text, "%s/%s/%s/aws4_request", s->day, signer->region,
                 signer->service);
}

/* "Task 3: Calculate Signature": derives the key from each part of the scope in
 * turn. */
static int derive_key(const struct xd_sigv4_signer *signer, const char *day,
                      unsigned char key[XD_SHA256_BYTES])
{
    const char *const parts[] = {day, signer->region, signer->service,
                                 "aws4_request"};
    struct xd_text secret = {.s = NULL};
    int rc;

    xd_text_addf(&secret, "AWS4%s", signer->secret_key);
    rc = secret.failed ? XD_E_NOMEM : 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && rc == 0; i++) {
        struct xd_span with = i > 0
                                  ? xd_span((const char *)key, XD_SHA256_BYTES)
                                  : xd_span(secret.s, secret.len);

        rc = xd_hmac_sha256(with, xd_span_of(parts[i]), key);
    }
    xd_text_fini(&secret);
    return rc;
}

/* Signs the canonical request (tasks 2, "Create a String to Sign", and 3). */
static int sign(const struct xd_sigv4_signer *signer, const struct scope *scope,
                const struct xd_text *canonical,
                char out_hex[XD_SHA256_HEX + 1])
{
    unsigned char key[XD_SHA256_BYTES], signature[XD_SHA256_BYTES];
    struct xd_text text = {.s = NULL};
    char hash[XD_SHA256_HEX + 1];
    int rc = XD_E_NOMEM;

    if (canonical->failed || scope->text.failed ||
        xd_sha256_hex(xd_span(canonical->s, canonical->len), hash) < 0)
        return XD_E_NOMEM;
    xd_text_addf(&text, ALGORITHM "\n%s\n%s\n%s", scope->time, scope->text.s,
                 hash);
    if (!text.failed && derive_key(signer, scope->day, key) == 0)
        rc = xd_hmac_sha256(xd_span((const char *)key, sizeof key),
                            xd_span(text.s, text.len), signature);
    if (rc == 0)
        xd_hex_write(out_hex, signature, sizeof signature);
    xd_text_fini(&text);
    return rc;
}

static void add_fields(struct xd_text *out, const struct pairs *headers)
{
    for (size_t i = 0; i < headers->n; i++)
        if (strcmp(headers->all[i].name, "host") != 0)
            xd_text_addf(out, "%s: %s\n", headers->all[i].name,
                         headers->all[i].value);
}

int xd_sigv4_sign(struct xd_text *out, const struct xd_sigv4_signer *signer,
                  const struct xd_sigv4_request *r, int64_t at)
{
    struct pairs query = {.n = 0}, headers = {.n = 0};
    struct xd_text canonical = {.s = NULL};
    char signature[XD_SHA256_HEX + 1];
    struct scope scope;
    int rc;

    begin_scope(&scope, signer, at);
    add_pairs(&query, r->query, r->n_query);
    add_pairs(&headers, r->headers, r->n_headers);
    add_pair(&headers, "host", r->host);
    add_pair(&headers, "x-amz-date", scope.time);
    if (signer->session_token)
        add_pair(&headers, "x-amz-security-token", signer->session_token);
    add_canonical(&canonical, r, &query, &headers);
    rc = sign(signer, &scope, &canonical, signature);
    if (rc == 0) {
        add_fields(out, &headers);
        xd_text_addf(out,
                     "Authorization: " ALGORITHM
                     " Credential=%s/%s, SignedHeaders=",
                     signer->access_key, scope.text.s);
        add_names(out, &headers);
        xd_text_addf(out, ", Signature=%s\n", signature);
    }
    xd_text_fini(&canonical);
    xd_text_fini(&scope.text);
    return rc == 0 && out->failed ? XD_E_NOMEM : rc;
}

int xd_sigv4_presign(struct xd_text *out, const struct xd_sigv4_signer *signer,
                     const struct xd_sigv4_request *r, int64_t at,
                     uint64_t seconds)
{
    struct pairs query = {.n = 0}, headers = {.n = 0};
    struct xd_text canonical = {.s = NULL}, credential = {.s = NULL},
                   life = {.s = NULL};
    char signature[XD_SHA256_HEX + 1];
    struct scope scope;
    int rc = XD_E_NOMEM;

    begin_scope(&scope, signer, at);
    xd_text_addf(&credential, "%s/%s", signer->access_key,
                 scope.text.failed ? "" : scope.text.s);
    xd_text_addf(&life, "%llu", (unsigned long long)seconds);
    add_pairs(&query, r->query, r->n_query);
    add_pair(&query, "X-Amz-Algorithm", ALGORITHM);
    add_pair(&query, "X-Amz-Credential", credential.s);
    add_pair(&query, "X-Amz-Date", scope.time);
    add_pair(&query, "X-Amz-Expires", life.s);
    add_pair(&query, "X-Amz-SignedHeaders", "host");
    if (signer->session_token)
        add_pair(&query, "X-Amz-Security-Token", signer->session_token);
    add_pair(&headers, "host", r->host);
    if (!credential.failed && !life.failed) {
        add_canonical(&canonical, r, &query, &headers);
        rc = sign(signer, &scope, &canonical, signature);
    }
    if (rc == 0) {
        add_query(out, &query);
        xd_text_addf(out, "&X-Amz-Signature=%s", signature);
    }
    xd_text_fini(&life);
    xd_text_fini(&credential);
    xd_text_fini(&canonical);
    xd_text_fini(&scope.text);
    return rc == 0 && out->failed ? XD_E_NOMEM : rc;
}
