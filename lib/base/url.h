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

/* Whether libcurl fetches it. */
static inline bool xd_scheme_is_web(enum xd_scheme scheme)
{
    return scheme == XD_SCHEME_HTTP || scheme == XD_SCHEME_HTTPS ||
           xd_scheme_is_ftp(scheme);
}

/* Pointers go into the string that was split. */
struct xd_url {
    enum xd_scheme scheme;
    const char *userinfo; /* "user:secret", or NULL */
    size_t userinfo_len;
    const char *host; /* as written, in UTF-8 perhaps; IPv6 in its brackets;
                         without them where IBP's clients wrote none; may be
                         empty */
    size_t host_len;
    unsigned port;        /* the scheme's own if none was written */
    bool port_is_default; /* none was written, or the scheme's own was */
    const char *path;     /* from '/' on, or empty */
    size_t path_len;      /* without query and fragment, which IBP has not */
};

/* False if `s` is not an absolute URL ("scheme://") of at most XD_URL_MAX
 * bytes. */
bool xd_url_split(const char *s, struct xd_url *out);

/*
 * The depot that a URL lies on, as "host" or "host:port": lower case, the
 * port only where it is not the scheme's own, so that the http, https, ftp and ftps
 * URLs of one host are one depot.  An IBP depot is another server than the
 * web server of its host and always has its port; "file:" is the local disk.
 * Returns NULL when out of memory.
 */
char *xd_url_depot(const struct xd_url *u);

/* Whether both are URLs of one server and scheme. */
bool xd_url_same_origin(const char *a, const char *b);

/* Whether it is a file: URL that names a path on this machine and nothing
 * more: no other host, no query, no broken %-sequence. */
bool xd_url_is_local(const struct xd_url *u);

/* The path that such a URL names.  Returns NULL when out of memory. */
char *xd_url_local_path(const struct xd_url *u);

/* Whether a file's name, or a URL with or without its query, ends like that of
 * a compressed file: what a server then says of an encoding is a part of the
 * file's format. */
bool xd_url_names_compressed(const char *s);

/*
 * The URL as people may see it: without user name, query and fragment, and of
 * an IBP capability, which is a secret, only the host.  Of what is no URL,
 * all if nothing in it looks like a secret.  Returns NULL when out of memory.
 */
char *xd_url_public(const char *s);

#endif
