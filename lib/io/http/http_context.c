/* SPDX-License-Identifier: MIT */
#include "io/http/http_context.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/span.h"
#include "io/hash.h"
#include "io/http/http_names.h"
#include "io/http/watchdog.h"
#include "io/random.h"

#define ID_BYTES 8

bool xd_net_context_name_client(const struct xd_net_context *c,
                                const struct xd_url *url,
                                char out[XD_HTTP_CLIENT_LINE])
{
    const struct xd_span secret =
        xd_span((const char *)c->secret, sizeof c->secret);
    const struct xd_span host = xd_url_host(url);
    unsigned char hash[XD_SHA256_BYTES];
    char digits[2 * ID_BYTES + 1], depot[XD_URL_MAX + 16];

    snprintf(depot, sizeof depot, "%.*s:%u", (int)host.len, host.s, url->port);
    if (!c->has_secret || xd_hmac_sha256(secret, xd_span_of(depot), hash) < 0)
        return false;
    xd_hex_write(digits, hash, ID_BYTES);
    snprintf(out, XD_HTTP_CLIENT_LINE, "Xd-Client: %s", digits);
    return true;
}

int xd_net_context_new(struct xd_net_context **out, struct xd_error *err)
{
    struct xd_net_context *c = xd_alloc(1, sizeof *c);
    int rc;

    *out = NULL;
    if (c == NULL)
        return xd_fail_nomem(err);
    c->has_secret = xd_random_fill(c->secret, sizeof c->secret, NULL) == 0;
    rc = xd_http_names_new(&c->names, err);
    if (rc == 0)
        rc = xd_watchdog_new(&c->watchdog, err);
    if (rc < 0)
        xd_net_context_free(c);
    else
        *out = c;
    return rc;
}

void xd_net_context_free(struct xd_net_context *c)
{
    if (c == NULL)
        return;
    xd_watchdog_free(c->watchdog);
    xd_http_names_free(c->names);
    xd_free(c);
}

void xd_net_context_shorten_waits(struct xd_net_context *c)
{
    if (c != NULL)
        xd_watchdog_shorten_wait(c->watchdog);
}
