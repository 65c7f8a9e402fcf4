/* SPDX-License-Identifier: MIT */
#include "put/readable.h"

#include <stdio.h>
#include <string.h>

#include <xdownload/manifest.h>

#include "command/inspect.h"
#include "command/manifests.h"
#include "common/text.h"

/* One URL for each host. */
struct asked {
    const char *urls[STORES_MAX];
    char hosts[STORES_MAX][TEXT_URL_SIZE];
    size_t n;
};

static void add(struct asked *asked, const char *url)
{
    char host[TEXT_URL_SIZE];

    if (!args_is_url(url) || asked->n == STORES_MAX)
        return; /* IBP: the capability in the manifest is enough for reading */
    text_host(host, url);
    for (size_t i = 0; i < asked->n; i++)
        if (strcmp(asked->hosts[i], host) == 0)
            return;
    snprintf(asked->hosts[asked->n], TEXT_URL_SIZE, "%s", host);
    asked->urls[asked->n++] = url;
}

static void choose(struct asked *out, const struct xd_manifest *m)
{
    struct xd_extent extent = {.struct_size = sizeof extent};
    struct xd_replica replica = {.struct_size = sizeof replica};

    for (size_t i = 0; xd_manifest_extent(m, 0, i, &extent) == 0; i++)
        for (size_t k = 0; xd_manifest_replica(m, 0, i, k, &replica) == 0; k++)
            add(out, replica.url);
}

/* Copies the user's network options, but no credentials. */
static int set_way(struct xd_options *o, const struct args *a)
{
    static const char *const names[] = {
        "proxy",      "noproxy",         "cacert",  "capath",
        "insecure",   "interface",       "ipv4",    "ipv6",
        "user-agent", "connect-timeout", "silence", "max-time"};
    struct xd_error err;
    int rc = xd_options_set(o, "accept-html", "yes", &err);

    for (size_t i = 0; rc == 0 && i < sizeof names / sizeof *names; i++)
        if (args_is_given(a, names[i]))
            rc = xd_options_set(o, names[i], args_value(a, names[i]), &err);
    return rc;
}

static void note(struct readable *out, const char *host)
{
    const size_t len = strlen(out->closed);

    snprintf(out->closed + len, sizeof out->closed - len, "%s%s",
             len > 0 ? ", " : "", host);
    out->n_closed++;
}

static void ask(struct readable *out, const struct asked *asked,
                const struct xd_options *o)
{
    struct xd_inspection *in;
    struct xd_error err;
    struct xd_inspected each = {.struct_size = sizeof each};

    if (asked->n == 0 ||
        xd_inspect(&in, asked->urls, asked->n, false, o, &err) < 0)
        return;
    out->n_asked = asked->n;
    for (size_t i = 0; xd_inspection_get(in, i, &each) == 0; i++)
        if (each.error.http_status == 401 || each.error.http_status == 403)
            note(out, asked->hosts[i]);
    xd_inspection_free(in);
}

void readable_find(struct readable *out, const char *manifest,
                   const struct args *a)
{
    struct xd_manifest *m;
    struct xd_options *o;
    struct xd_error err;
    struct asked asked = {.n = 0};

    *out = (struct readable){.n_asked = 0};
    if (xd_manifest_read(&m, manifest, &err) < 0)
        return;
    if (xd_options_new(&o, &err) == 0) {
        choose(&asked, m);
        if (set_way(o, a) == 0)
            ask(out, &asked, o);
        xd_options_free(o);
    }
    xd_manifest_unref(m);
}
