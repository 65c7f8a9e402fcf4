/* SPDX-License-Identifier: MIT */
/*
 * The few facts about a URL (RFC 3986) that decide where bytes come from.
 *
 * Strict on purpose: what two parsers could read differently (blanks, control
 * characters, backslashes, a second '@', a port out of range) is no URL here,
 * so that the host which we compare is the host that the transport asks.
 */
#ifndef XD_BASE_URL_H
#define XD_BASE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/span.h"

struct xd_error;

#define XD_URL_MAX 8192 /* bytes; no real manifest comes near */

enum xd_scheme {
    XD_SCHEME_HTTP,
    XD_SCHEME_HTTPS,
    XD_SCHEME_FTP,
    XD_SCHEME_FTPS,
    XD_SCHEME_FILE,
    XD_SCHEME_IBP,
    XD_SCHEME_OTHER
};

static inline bool xd_scheme_is_ftp(enum xd_scheme scheme)
{
    return scheme == XD_SCHEME_FTP || scheme == XD_SCHEME_FTPS;
}

/* As it stands in URLs; "" for OTHER. */
const char *xd_scheme_name(enum xd_scheme scheme);

/* Whether libcurl fetches it. */
static inline bool xd_scheme_is_web(enum xd_scheme scheme)
{
    return scheme == XD_SCHEME_HTTP || scheme == XD_SCHEME_HTTPS ||
           xd_scheme_is_ftp(scheme);
}

/*
 * A URL, parsed.  It is made once, where a URL enters, and then travels instead
 * of its text.  The fields are offsets, so that nothing of the text can be
 * printed by accident; only transports, and what writes manifests, may ask for
 * the text: tests/lint holds that.
 * Ownership: a value borrows the text that it was parsed from; xd_url_copy()
 *            makes one with a text of its own.
 */
struct xd_url {
    const char *secret_text; /* all of it, as it was written */
    uint16_t userinfo;       /* "user:password"; 0: there is none */
    uint16_t host, host_len; /* as written, in UTF-8 perhaps; IPv6 in its
                                 brackets; without them where IBP's clients
                                 wrote none; may be empty */
    uint16_t path, path_len; /* from '/' on, or empty; without query and
                                 fragment, which IBP has not */
    uint16_t port;           /* the scheme's own if none was written */
    enum xd_scheme scheme : 8;
    bool port_is_default : 1; /* none was written, or the scheme's own was */
    bool is_valid : 1;        /* else it is no URL, and has no parts */
};

/*
 * Parse `s`, which lives as long as *out.  False if it is not an absolute URL
 * ("scheme://") of at most XD_URL_MAX bytes: *out is a value even so, which
 * can be shown, and which every transport refuses.
 */
bool xd_url_parse(struct xd_url *out, const char *s);

/* A copy in one piece with its text, to release with xd_free().  NULL when out
 * of memory. */
struct xd_url *xd_url_copy(const struct xd_url *u);

/* The text with its password, its query and its keys: for code that sends it, or
 * write it where it came from.  It lives as long as the value's text does. */
static inline const char *xd_url_secret_text(const struct xd_url *u)
{
    return u->secret_text;
}

static inline bool xd_url_has_login(const struct xd_url *u)
{
    return u->userinfo != 0;
}

/* Whether keys of S3 have signed it. */
static inline bool xd_url_is_presigned(const struct xd_url *u)
{
    return strstr(u->secret_text, "X-Amz-Signature=") != NULL;
}

/* May be empty. */
struct xd_span xd_url_host(const struct xd_url *u);

/* Without query and fragment; empty for IBP, whose path is a secret. */
struct xd_span xd_url_path(const struct xd_url *u);

/* Whether both call their file the same: what follows the last '/' of the path,
 * with the query. */
bool xd_url_same_name(const struct xd_url *a, const struct xd_url *b);

/* By all of their texts, as strcmp(). */
int xd_url_compare(const struct xd_url *a, const struct xd_url *b);

/*
 * The depot that a URL lies on, as "host" or "host:port": lower case, the
 * port only where it is not the scheme's own, so that the http, https, ftp and ftps
 * URLs of one host are one depot.  An IBP depot is another server than the
 * web server of its host and always has its port; "file:" is the local disk.
 * Returns NULL when out of memory.
 */
char *xd_url_depot(const struct xd_url *u);

/* Some order of such depots: 0 where the names are equal. */
int xd_url_compare_depots(const struct xd_url *a, const struct xd_url *b);

/* Whether both are URLs of one server and scheme. */
bool xd_url_same_origin(const struct xd_url *a, const struct xd_url *b);

/* Whether it is a file: URL that names a path on this machine and nothing
 * more: no other host, no query, no broken %-sequence. */
bool xd_url_is_local(const struct xd_url *u);

/* The path that such a URL names.  Returns NULL when out of memory. */
char *xd_url_local_path(const struct xd_url *u);

/* The byte that the escape at `s` stands for ("%2F"); -1 if it is none. */
int xd_url_unescape(const char *s);

/* Whether a file's name, or a URL with or without its query, ends like that of
 * a compressed file: what a server then says of an encoding is a part of the
 * file's format. */
bool xd_name_is_compressed(const char *name);
bool xd_url_names_compressed(const struct xd_url *u);

/*
 * The URL as people may see it: without user name, query and fragment, and of
 * an IBP capability, which is a secret, only the host.  Of what is no URL,
 * all if nothing in it looks like a secret.  Returns NULL when out of memory.
 */
char *xd_url_public(const struct xd_url *u);

/* The same for sentences, cut if it is long: a URL of 8 KiB would leave no room
 * for what is to be said of it. */
struct xd_url_name {
    char s[201];
};
struct xd_url_name xd_url_name(const struct xd_url *u);

/* Say of a failure where it was: at `url`, to which the depot of another one led,
 * which may be NULL or no URL.  `err` may be NULL. */
void xd_url_locate(struct xd_error *err, const struct xd_url *depot,
                   const struct xd_url *url);

#endif
