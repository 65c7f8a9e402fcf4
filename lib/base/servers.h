/* SPDX-License-Identifier: MIT */
/*
 * What is remembered of servers between runs, and its form in a file.
 *
 *     xdownload depots 3
 *     SEEN RATE LATENCY FAILURES LEARNED USEFUL CAP CEILING THEN SPREADS SERVER
 *     1795242518 2097152 48000 0 1795242518 6 349525 0 48000 0 https://a.example
 *
 * SEEN and LEARNED are in seconds since 1970, RATE and CAP in bytes per second,
 * LATENCY and THEN in microseconds; LEARNED to SPREADS tell of connections, and
 * are 0 where nothing was learned; SPREADS is 1 where requests that could share a
 * connection each had their own.  Versions 1 and 2 are read as well: 1 has none of
 * these, and 2 has no SPREADS.  The text is hostile: a line that makes no sense,
 * or is older than XD_SERVERS_DAYS or from the future, is as if it were not there.
 */
#ifndef XD_BASE_SERVERS_H
#define XD_BASE_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/time.h"
#include "base/url.h"

#define XD_SERVERS_MOST 1000
#define XD_SERVERS_DAYS 30
#define XD_SERVERS_BYTES 400000 /* no text of ours is longer */

struct xd_server {
    char *name;           /* "https://mirror.example", "ftp://a.example:2121" */
    uint64_t bytes_per_s; /* 0: not known */
    xd_usec latency;      /* from a request to its first byte; 0: not known */
    uint64_t failures;    /* of late */
    uint64_t seen;        /* seconds since 1970 */

    /* Of its connections (sched/layout.h). */
    uint64_t learned_at; /* seconds since 1970; 0: nothing was learned */
    uint64_t useful, cap, ceiling;
    xd_usec learned_latency;
    bool spreads;
};

/* A zeroed struct is empty. */
struct xd_servers {
    struct xd_server *list; /* none of them twice */
    size_t n;
};

void xd_servers_fini(struct xd_servers *s);

/*
 * The server of a URL: scheme, host, and the port where it is not the
 * scheme's own; nothing of its login, path and query.  *out is the caller's, to
 * release with xd_free().
 * Errors: INVAL (no server of the web, or an absurdly long name), NOMEM.
 */
int xd_server_name(char **out, const struct xd_url *url);

/* NULL if there is none of that name. */
const struct xd_server *xd_servers_find(const struct xd_servers *s,
                                        const char *name);

/*
 * Remember a copy of `server`, unless what is known of it is younger.  When
 * XD_SERVERS_MOST are known, the one that was not seen for longest goes.
 * Errors: NOMEM, with all as before.
 */
int xd_servers_put(struct xd_servers *s, const struct xd_server *server);

/*
 * Put what a file says; `now` is in seconds since 1970.  An empty file says
 * nothing.  Errors: INVAL (it is no such file; nothing was put), NOMEM.
 */
int xd_servers_parse(struct xd_servers *s, const char *text, size_t len,
                     uint64_t now);

void xd_servers_write(const struct xd_servers *s, struct xd_text *out);

#endif
