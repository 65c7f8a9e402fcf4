/* SPDX-License-Identifier: MIT */
#include "io/http/http_context.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "io/http/http_names.h"
#include "io/http/watchdog.h"
#include "io/random.h"

#define ID_BYTES 8

/* Without random bytes there is none: servers do without it. */
static void name_client(struct xd_net_context *c)
{
    char digits[2 * ID_BYTES + 1];
    unsigned char id[ID_BYTES];

    if (xd_random_fill(id, sizeof id, NULL) < 0)
        return;
    xd_hex_write(digits, id, sizeof id);
    snprintf(c->client, sizeof c->client, "Xd-Client: %s", digits);
}

int xd_net_context_new(struct xd_net_context **out, struct xd_error *err)
{
    struct xd_net_context *c = xd_alloc(1, sizeof *c);
    int rc;

    *out = NULL;
    if (c == NULL)
        return xd_fail_nomem(err);
    name_client(c);
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
