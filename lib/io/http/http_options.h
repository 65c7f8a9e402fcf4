/* SPDX-License-Identifier: MIT */
/*
 * struct xd_net_options in libcurl's terms: what holds for every request, and
 * what only those servers see to which credentials may go.
 */
#ifndef XD_IO_HTTP_OPTIONS_H
#define XD_IO_HTTP_OPTIONS_H

#include <stdbool.h>
#include <xdownload/error.h>

#include <curl/curl.h>

#include "base/url.h"
#include "io/http/http_names.h"
#include "io/net_options.h"

struct xd_net_context;

struct xd_http_options {
    const struct xd_net_options *net;
    struct xd_http_names *names;      /* or NULL */
    struct curl_slist *own_header;    /* of ours alone */
    struct curl_slist *header;        /* for every server */
    struct curl_slist *secret_header; /* with the credentials */
    char *cert, *cert_password;
    const struct xd_net_context *naming; /* makes the line that says which
                                            download a request is of; or NULL */
};

/* `net` (NULL: the defaults) and `context` (or NULL) outlive it.  Errors: IO (a
 * file that net names cannot be read), NOMEM; then there is nothing to be
 * released. */
int xd_http_options_init(struct xd_http_options *o,
                         const struct xd_net_options *net,
                         const struct xd_net_context *context,
                         struct xd_error *err);
void xd_http_options_fini(struct xd_http_options *o);

/* Tell a handle what holds for every request, but sockets, callbacks and
 * sizes; `o` outlives the handle.  False when out of memory. */
bool xd_http_options_apply(const struct xd_http_options *o, CURL *e);

/* The header for a server that sees the credentials, or does not; or for a
 * request that is plain. */
struct curl_slist *xd_http_options_header(const struct xd_http_options *o,
                                          bool is_trusted, bool is_plain);

/* Before each request of a handle, also a redirected one: whether the server
 * of `url` sees the credentials, but for those in the header.  With
 * `takes_digest` it may ask for them in either way, and is asked first in which.
 * False when out of memory. */
bool xd_http_options_authorize(const struct xd_http_options *o, CURL *e,
                               const struct xd_url *url, bool is_trusted,
                               bool takes_digest);

#endif
