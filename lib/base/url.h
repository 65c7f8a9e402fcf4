/* SPDX-License-Identifier: MIT */
/*
 * Parsed URLs (RFC 3986).
 *
 * Strict on purpose: anything that two parsers could interpret differently
 * (blanks, control characters, a backslash before the path, a second '@', a bad
 * port) is rejected.  So the host that we check is the host that libcurl
 * connects to. base/typed_url.h converts what users type to this form.
 */
#ifndef XD_BASE_URL_H
#define XD_BASE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/span.h"

struct xd_error;

/* Largest length in bytes, because struct xd_url has 16-bit offsets.  Signed
 * URLs have queries of up to 16,000 bytes. */
#define XD_URL_MAX 65535

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

/* Returns the scheme as in URLs; "" for OTHER. */
const char *xd_scheme_name(enum xd_scheme scheme);

static inline bool xd_scheme_is_http(enum xd_scheme scheme)
{
    return scheme == XD_SCHEME_HTTP || scheme == XD_SCHEME_HTTPS;
}

/* Returns whether libcurl handles the scheme. */
static inline bool xd_scheme_is_web(enum xd_scheme scheme)
{
    return xd_scheme_is_http(scheme) || xd_scheme_is_ftp(scheme);
}

/*
 * A parsed URL.  Text is parsed once, on input, and then passed on in this
 * form.  Its fields are offsets, so that passwords are not printed by accident.
 * Only transports and manifest writers may use the text; tests/lint checks
 * that.
 * Ownership: the value points into the text that was parsed; xd_url_copy()
 * makes an independent copy.
 */
struct xd_url {
    const char *secret_text; /* the complete text */
    uint16_t userinfo;       /* offset of "user:password"; 0: none */
    /* host as written, perhaps in UTF-8, perhaps empty.  An IPv6 address has
     * brackets, unless an IBP URL was written without them */
    uint16_t host, host_len;
    /* path including the leading '/', or empty.  It excludes query and
     * fragment, which IBP URLs do not have */
    uint16_t path, path_len;
    uint16_t port; /* default of the scheme if none is written */
    enum xd_scheme scheme : 8;
    bool port_is_default : 1; /* the URL has no port or the default one */
    bool is_valid : 1;        /* false: not a URL, all parts are empty */
};

/*
 * Parses `s`, which must live as long as *out.  Returns false if it is not an
 * absolute URL ("scheme://") of at most XD_URL_MAX bytes.  Even then *out can
 * be displayed, but transports refuse it.
 */
bool xd_url_parse(struct xd_url *out, const char *s);

/* Returns a copy with its own text, in one block.  Release it with xd_free().
 * NULL if out of memory. */
struct xd_url *xd_url_copy(const struct xd_url *u);

/* Returns the complete text including password, query and keys.  Only for code
 * that sends it or writes it back to where it came from.  Lives as long as the
 * value's text. */
static inline const char *xd_url_secret_text(const struct xd_url *u)
{
    return u->secret_text;
}

static inline bool xd_url_has_login(const struct xd_url *u)
{
    return u->userinfo != 0;
}

/* Returns whether the URL is presigned for S3. */
static inline bool xd_url_is_presigned(const struct xd_url *u)
{
    return strstr(u->secret_text, "X-Amz-Signature=") != NULL;
}

/* Returns the host, which may be empty. */
struct xd_span xd_url_host(const struct xd_url *u);

/* Returns the path without query and fragment.  It is empty for IBP, where the
 * path is a secret. */
struct xd_span xd_url_path(const struct xd_url *u);

/* Returns whether both have the same file name: the part after the last '/' of
 * the path, including the query. */
bool xd_url_same_name(const struct xd_url *a, const struct xd_url *b);

/* Compares the complete texts like strcmp(). */
int xd_url_compare(const struct xd_url *a, const struct xd_url *b);

/*
 * Returns the name of the URL's depot: "host" or "host:port" in lower case,
 * with the port only if it is not the default.  So http, https, ftp and ftps
 * URLs of one host are the same depot.  An IBP depot always has its port and
 * differs from the web server of its host. "file:" is the local disk.  NULL if
 * out of memory.
 */
char *xd_url_depot(const struct xd_url *u);

/* Orders URLs by depot name; 0 if the names are equal. */
int xd_url_compare_depots(const struct xd_url *a, const struct xd_url *b);

/* Hashes the depot name (string_hash.h). */
uint64_t xd_url_hash_depot(const struct xd_url *u);

/* Hashes the complete text. */
uint64_t xd_url_hash(const struct xd_url *u);

/* Returns whether scheme, host and port are equal. */
bool xd_url_same_origin(const struct xd_url *a, const struct xd_url *b);

/* Returns whether this is a file: URL of a local path: no other host, no query,
 * no invalid escape. */
bool xd_url_is_local(const struct xd_url *u);

/* Returns the path of a local file: URL.  NULL if out of memory. */
char *xd_url_local_path(const struct xd_url *u);

/* Returns the byte of the escape at `s` ("%2F"), or -1 if there is no valid
 * escape. */
int xd_url_unescape(const char *s);

/* Return whether a file name, or a URL with or without its query, has the
 * extension of a compressed file.  Then a Content-Encoding describes the file
 * itself and must not be undone. */
bool xd_name_is_compressed(const char *name);
bool xd_url_names_compressed(const struct xd_url *u);

/*
 * Returns the URL for display: without user name, query and fragment.  An IBP
 * capability is a secret, so only its host is shown.  An invalid URL is shown
 * only if nothing in it looks like a secret.  NULL if out of memory.
 */
char *xd_url_public(const struct xd_url *u);

/* Like xd_url_public() for messages, shortened if too long. */
struct xd_url_name {
    char s[201];
};
struct xd_url_name xd_url_name(const struct xd_url *u);

/* Adds the place of a failure to an error: `url`, reached through `depot`,
 * which may be NULL or invalid.  `err` may be NULL. */
void xd_url_locate(struct xd_error *err, const struct xd_url *depot,
                   const struct xd_url *url);

#endif
