/* SPDX-License-Identifier: MIT */
/*
 * Options of the network: for HTTP, FTP and IBP requests, and for pings.
 *
 * Fields are named after curl's options, except auth_hosts, headers,
 * no_client_id and allow_private_redirs.
 *
 * The io/http code decides for each request whether its server may see the
 * credentials (http_fetch.c).
 */
#ifndef XD_IO_NET_OPTIONS_H
#define XD_IO_NET_OPTIONS_H

#include <stdint.h>

/*
 * Initialize it with XD_NET_OPTIONS_INIT.  Strings may be NULL for "not given".
 * Switches are 0 or 1.
 * Ownership: the strings belong to the caller.  Transports and pingers keep a
 *            pointer to the struct, so it and the strings must outlive them and
 *            must not change meanwhile.
 */
struct xd_net_options {
    /* Credentials, and the list of servers that may see them (base/hosts.h);
     * NULL: none may. */
    char *auth_hosts;
    char *user;          /* "NAME:PASSWORD" */
    char *oauth2_bearer; /* token, without "Bearer" */
    /* Used instead of ~/.netrc.  If it cannot be read, the transport cannot be
     * created (IO). */
    char *netrc_file;
    char *cert, *key; /* "FILE" or "FILE:PASSWORD" for cert, "FILE" for key */
    /* lines "Name: value\n" to add to each HTTP request; secret ones, such as
     * cookies, count as credentials */
    char *headers;
    uint64_t netrc; /* use ~/.netrc */

    char *user_agent, *referer;
    char *proxy, *noproxy; /* NULL: the environment decides */
    char *cacert, *capath;
    char *interface;
    uint64_t insecure, ipv4, ipv6;
    uint64_t no_client_id; /* do not send the client number (Xd-Client) */
    uint64_t max_redirs;   /* redirects of one request to follow */
    /* public servers may redirect to this machine and to private networks */
    uint64_t allow_private_redirs;
    /* time limit in microseconds; 0: only the silence timeout applies */
    uint64_t connect_timeout;
    /* Rate limit in bytes per second; 0: none.  Transports only adapt to it:
     * they receive little ahead, and do not use HTTP/2.  The runner enforces it
     * (struct xd_runner_config.budget). */
    uint64_t limit_rate;
};

/* Default options. */
#define XD_NET_OPTIONS_INIT \
    {                       \
        .max_redirs = 20    \
    }

#endif
