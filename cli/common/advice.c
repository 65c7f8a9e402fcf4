/* SPDX-License-Identifier: MIT */
#include "common/advice.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/words.h"

static const char *advice_on_status(int http_status, bool has_login)
{
    switch (http_status) {
    case 401:
        return has_login ? "the server rejected this user name or password; a "
                           "server that was not typed gets them only with "
                           "--auth-host HOST"
                         : "give a login with --user NAME:PASSWORD, or --netrc";
    case 403:
        return "the server refuses it: a login (--user), a cookie (--header) "
               "or the page that links to it (--referer) may be missing";
    case 404:
    case 410:
        return "the server has no such file: check the URL";
    case 407:
        return "give the proxy's login with --proxy "
               "http://NAME:PASSWORD@HOST:PORT";
    case 429:
    case 503:
        return "the server is busy: try again later";
    default:
        return http_status >= 500 && http_status < 600
                   ? "the server has failed: try again later"
                   : NULL;
    }
}

static const char *advice_on_network(const struct xd_error *err, bool has_login)
{
    if (err->http_status != 0)
        return advice_on_status(err->http_status, has_login);
    if (strstr(err->msg, "resolve host") != NULL)
        return "check the name, and whether this machine is online";
    if (err->os_errno == ECONNREFUSED)
        return "no server listens there: check the host and the port";
    if (err->os_errno == ENETUNREACH || err->os_errno == EHOSTUNREACH)
        return "check whether this machine is online";
    if (strstr(err->msg, "wrong version number") != NULL)
        return "the server does not speak TLS there: use http://";
    if (strstr(err->msg, "Couldn't bind to") != NULL)
        return "--interface takes the name of a network interface, or an "
               "address of this machine";
    if (strstr(err->msg, "certificate") != NULL)
        return "if the server is one of yours, name its authority with "
               "--cacert FILE";
    return NULL;
}

static const char *advice_on_disk(int os_errno)
{
    switch (os_errno) {
    case ENOSPC:
    case EDQUOT:
        return "free some space, and run the same command again to continue";
    case EACCES:
    case EPERM:
    case EROFS:
        return "choose a folder that you may write to, with --directory";
    default:
        return NULL;
    }
}

void advice_print(const struct xd_error *err, bool has_login)
{
    const char *advice = NULL;

    if (err->code == XD_E_NET)
        advice = advice_on_network(err, has_login);
    else if (err->code == XD_E_IO)
        advice = advice_on_disk(err->os_errno);
    words_error("%s%s%s", err->msg, advice != NULL ? ": " : "",
                advice != NULL ? advice : "");
}
