/* SPDX-License-Identifier: MIT */
/*
 * The options of curl for requests to HTTP and FTP depots, by curl's names.
 *
 * Which servers the credentials among them may reach is decided by
 * http_options.c, for each server that a request comes to.
 */
#ifndef XD_IO_NET_OPTIONS_H
#define XD_IO_NET_OPTIONS_H

#include <stdint.h>

/* A string may be NULL: it was not given.  Switches are 0 or 1. */
struct xd_net_options {
    /* Credentials, and the servers that may see them: base/hosts.h. */
    char *auth_hosts;
    char *user;          /* "NAME:PASSWORD" */
    char *oauth2_bearer; /* without "Bearer" */
    char *netrc_file;
    char *cert, *key; /* "FILE" or "FILE:PASSWORD"; "FILE" */
    char *headers;    /* each "Name: value" and a line feed; some are secret */
    uint64_t netrc;   /* use the file of the user's home */

    char *user_agent, *referer;
    char *proxy, *noproxy; /* NULL: as the environment says */
    char *cacert, *capath;
    char *interface;
    uint64_t insecure, ipv4, ipv6;
    uint64_t no_client_id; /* servers are not given a number of the download,
                              another one for each */
    uint64_t max_redirs;
    uint64_t allow_private_redirs;
    uint64_t connect_timeout; /* microseconds; 0: none but the silence */
    uint64_t limit_rate;      /* bytes per second that the handler will take;
                                 0: all */
};

/* A set of defaults. */
#define XD_NET_OPTIONS_INIT \
    {                       \
        .max_redirs = 5     \
    }

#endif
