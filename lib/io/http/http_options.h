/* SPDX-License-Identifier: MIT */
/*
 * Translates struct xd_net_options to libcurl options: those for every request,
 * and those only for servers that may see credentials.
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
    struct xd_http_names *names; /* shared cache of names, or NULL */
    /* header lines of our own, without the user's */
    struct curl_slist *own_header;
    struct curl_slist *header;        /* header lines for every server */
    struct curl_slist *secret_header; /* header lines including credentials */
    char *cert, *cert_password;
    /* creates the Xd-Client line; NULL: none */
    const struct xd_net_context *naming;
};

/* Prepares the options.  `net` (NULL: defaults) and `context` (may be NULL)
 * must outlive them.  Errors: IO (a file named by `net` cannot be read), NOMEM;
 * then do not call fini(). */
int xd_http_options_init(struct xd_http_options *o,
                         const struct xd_net_options *net,
                         const struct xd_net_context *context,
                         struct xd_error *err);
void xd_http_options_fini(struct xd_http_options *o);

/* Sets the options for every request, except sockets, callbacks and sizes.  `o`
 * must outlive the handle.  Returns false if out of memory. */
bool xd_http_options_apply(const struct xd_http_options *o, CURL *e);

/* Returns the header lines for a server.  They contain secrets only if the
 * server may see credentials.  With `is_plain`, they are only our own lines. */
struct curl_slist *xd_http_options_header(const struct xd_http_options *o,
                                          bool is_trusted, bool is_plain);

/* Returns true if a request to `url` may use a user name and password (Basic or
 * Digest). */
bool xd_http_options_have_password(const struct xd_http_options *o,
                                   const struct xd_url *url, bool is_trusted);

/* Sets the credentials before each request, including redirected ones; none if
 * the server may not see them.  With `takes_digest` the server is first asked
 * whether it wants Basic or Digest.  Returns false if out of memory. */
bool xd_http_options_authorize(const struct xd_http_options *o, CURL *e,
                               const struct xd_url *url, bool is_trusted,
                               bool takes_digest);

#endif
