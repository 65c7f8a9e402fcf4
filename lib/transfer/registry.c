/* SPDX-License-Identifier: MIT */
#include "transfer/registry.h"

/* clang-format off */
static const struct xd_transport_kind kinds[] = {
    {.name = "web",
     .schemes = XD_SCHEME_BIT(XD_SCHEME_HTTP) | XD_SCHEME_BIT(XD_SCHEME_HTTPS) |
                XD_SCHEME_BIT(XD_SCHEME_FTP) | XD_SCHEME_BIT(XD_SCHEME_FTPS),
     .can_sample = true,
     .create = xd_http_new},
    {.name = "ibp",
     .schemes = XD_SCHEME_BIT(XD_SCHEME_IBP),
     .can_sample = true, .can_probe = true,
     .create = xd_ibp_new},
    {.name = "file",
     .schemes = XD_SCHEME_BIT(XD_SCHEME_FILE),
     .reads_machine = true,
     .create = xd_local_new},
};
/* clang-format on */

_Static_assert(sizeof kinds / sizeof *kinds <= XD_KINDS_MOST,
               "XD_KINDS_MOST is too small");

static const struct xd_registry ours = {kinds, sizeof kinds / sizeof *kinds};

const struct xd_registry *xd_registry(void)
{
    return &ours;
}

const struct xd_transport_kind *xd_registry_find(const struct xd_registry *r,
                                                 enum xd_scheme scheme)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->kinds[i].schemes & XD_SCHEME_BIT(scheme))
            return &r->kinds[i];
    }
    return NULL;
}

const struct xd_transport_kind *xd_transport_kind_of(const struct xd_url *url)
{
    return xd_registry_find(&ours, url->scheme);
}
