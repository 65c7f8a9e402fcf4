/* SPDX-License-Identifier: MIT */
/*
 * Lines of a header come in, and what they offer comes out.  The first byte is
 * the status's hundreds.
 */
#include "io/http/http_offer.h"

#include <ctype.h>

#include "fuzz.h"
#include "manifest/offered.h"

static void check_item(const struct xd_offered *o)
{
    FUZZ_CHECK(o->url->is_valid && xd_scheme_is_web(o->url->scheme));
    FUZZ_CHECK(o->priority >= 1 && o->priority <= XD_OFFER_LAST);
    FUZZ_CHECK(strlen(o->location) == 0 || strlen(o->location) == 2);
    for (const char *c = o->location; *c != '\0'; c++)
        FUZZ_CHECK(islower((unsigned char)*c));
}

static void check_hash(const struct xd_offer_hash *h)
{
    size_t len = strlen(h->hex);

    FUZZ_CHECK(len == (strcmp(h->algorithm, "sha-256") == 0 ? 64u : 128u));
    FUZZ_CHECK(strspn(h->hex, "0123456789abcdef") == len);
}

/* Copies without a hash to hold them against are few: samples are taken of them. */
static void check_manifest(const struct xd_offer *o, const struct xd_url *url)
{
    const struct xd_description none = {.manifest = NULL};
    struct xd_manifest *m = NULL;
    struct xd_error error = {.code = XD_OK};
    struct xd_file f = {.struct_size = sizeof f};
    struct xd_extent e = {.struct_size = sizeof e};
    struct xd_replica r = {.struct_size = sizeof r};

    FUZZ_CHECK(xd_manifest_offered(&m, url, 5, o, &none, NULL, &error) == 0);
    FUZZ_CHECK(xd_manifest_file(m, 0, &f) == 0);
    FUZZ_CHECK(f.size == 5 && f.n_hashes <= o->n_hashes);
    FUZZ_CHECK(xd_manifest_extent(m, 0, 0, &e) == 0);
    FUZZ_CHECK(e.n_replicas <= 1 + o->n);
    FUZZ_CHECK(o->n_hashes > 0 || e.n_replicas <= 1 + 8);
    FUZZ_CHECK(xd_manifest_replica(m, 0, 0, 0, &r) == 0);
    FUZZ_CHECK(strcmp(r.url, xd_url_secret_text(url)) == 0);
    xd_manifest_unref(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    struct xd_http_answer a = {.status = 200};
    struct xd_offer o = {.n = 0};
    struct xd_url url;
    size_t line_len;
    char *line;

    xd_url_parse(&url, "https://u:p@a.example/d/x");
    if ((line = fuzz_line(&in, &line_len)) != NULL) {
        a.status = line_len > 0 && isdigit((unsigned char)line[0])
                       ? (unsigned)(line[0] - '0') * 100
                       : 200;
        free(line);
    }
    while ((line = fuzz_line(&in, &line_len)) != NULL) {
        xd_http_offer_line(&o, &a, &url, &url, line, line_len);
        free(line);
    }
    xd_offer_sort(&o);
    FUZZ_CHECK(o.n <= XD_OFFERED_MAX && o.n_hashes <= XD_OFFER_HASHES_MAX);
    for (size_t i = 0; i < o.n; i++)
        check_item(&o.items[i]);
    for (size_t i = 0; i < o.n_hashes; i++)
        check_hash(&o.hashes[i]);
    FUZZ_CHECK(a.status / 100 == 2 || o.n_hashes == 0);
    check_manifest(&o, &url);
    xd_offer_fini(&o);
    return 0;
}
