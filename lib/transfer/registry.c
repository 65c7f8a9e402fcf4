#include "transfer/registry.h"

#include "base/error.h"

enum xd_transport_kind xd_transport_kind_of(enum xd_scheme scheme)
{
    switch (scheme) {
    case XD_SCHEME_HTTP:
    case XD_SCHEME_HTTPS:
    case XD_SCHEME_FTP:
    case XD_SCHEME_FTPS:
        return XD_TRANSPORT_WEB;
    case XD_SCHEME_FILE:
        return XD_TRANSPORT_DISK;
    case XD_SCHEME_IBP:
    case XD_SCHEME_OTHER:
        break;
    }
    return XD_N_TRANSPORTS;
}

enum xd_transport_kind xd_transport_kind_of_url(const char *url)
{
    struct xd_url u;

    return xd_url_split(url, &u) ? xd_transport_kind_of(u.scheme)
                                 : XD_N_TRANSPORTS;
}

int xd_transport_new(struct xd_transport **out, enum xd_transport_kind kind,
                     const struct xd_transport_config *config,
                     const struct xd_transport_handler *handler,
                     struct xd_error *err)
{
    switch (kind) {
    case XD_TRANSPORT_WEB:
        return xd_http_new(out, config, handler, err);
    case XD_TRANSPORT_DISK:
        return xd_local_new(out, config, handler, err);
    case XD_N_TRANSPORTS:
        break;
    }
    return xd_fail(err, XD_E_BUG, "no transport is of kind %d", (int)kind);
}
