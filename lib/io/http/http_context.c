/* SPDX-License-Identifier: MIT */
#include "io/http/http_context.h"

#include "base/alloc.h"
#include "base/error.h"
#include "io/http/http_names.h"
#include "io/http/watchdog.h"

int xd_net_context_new(struct xd_net_context **out, struct xd_error *err)
{
    struct xd_net_context *c = xd_alloc(1, sizeof *c);
    int rc;

    *out = NULL;
    if (c == NULL)
        return xd_fail_nomem(err);
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
