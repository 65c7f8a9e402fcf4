/* SPDX-License-Identifier: MIT */
/*
 * Facts about servers that are kept between runs, and the format of their file.
 *
 *    xdownload depots 3
 *    SEEN RATE LATENCY FAILURES LEARNED USEFUL CAP CEILING THEN SPREADS SERVER
 *    1795242518 2097152 48000 0 1795242518 6 349525 0 48000 0 https://a.example
 *
 * SEEN and LEARNED are seconds since 1970, RATE and CAP bytes per second,
 * LATENCY and THEN microseconds.  LEARNED to SPREADS describe connections
 * (sched/layout.h) and are 0 if nothing was learned.  SPREADS is 1 if requests
 * that could have shared a connection used one each.  Version 1 lacks these six
 * fields and version 2 lacks SPREADS; both can be read.  The file is not
 * trusted: invalid lines, lines older than XD_SERVERS_DAYS and lines from the
 * future are ignored.
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
#define XD_SERVERS_BYTES 400000 /* largest size of the file that we write */

struct xd_server {
    /* scheme and host, as "https://mirror.example" or "ftp://a.example:2121" */
    char *name;
    uint64_t bytes_per_s; /* throughput; 0: unknown */
    xd_usec latency;      /* time from request to first byte; 0: unknown */
    uint64_t failures;    /* number of recent failures */
    uint64_t seen;        /* time of the last contact, in seconds since 1970 */

    /* What was learned about connections (sched/layout.h). */
    /* when this was learned, in seconds since 1970; 0: nothing was learned */
    uint64_t learned_at;
    uint64_t useful, cap, ceiling;
    xd_usec learned_latency;
    bool spreads;
};

/* A zeroed struct is empty. */
struct xd_servers {
    struct xd_server *list; /* unique by name */
    size_t n;
};

void xd_servers_fini(struct xd_servers *s);

/*
 * Returns the server of a URL: scheme, host, and the port unless it is the
 * default.
 * Ownership: release *out with xd_free().
 * Errors: INVAL (no web URL, or the name is too long), NOMEM.
 */
int xd_server_name(char **out, const struct xd_url *url);

/* Returns NULL if the name is not in the list. */
const struct xd_server *xd_servers_find(const struct xd_servers *s,
                                        const char *name);

/*
 * Stores a copy of `server` unless a newer entry exists.  If XD_SERVERS_MOST
 * are stored, it replaces the entry that was seen longest ago.
 * Errors: NOMEM; nothing is changed then.
 */
int xd_servers_put(struct xd_servers *s, const struct xd_server *server);

/*
 * Adds the entries of a file.  `now` is in seconds since 1970.  An empty file
 * is valid.
 * Errors: INVAL (the text has another format; nothing was added), NOMEM.
 */
int xd_servers_parse(struct xd_servers *s, const char *text, size_t len,
                     uint64_t now);

void xd_servers_write(const struct xd_servers *s, struct xd_text *out);

#endif
