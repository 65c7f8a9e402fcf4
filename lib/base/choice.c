/* SPDX-License-Identifier: MIT */
#include "base/choice.h"

#include <string.h>
#include <strings.h>

#include "base/hosts.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool xd_choice_are_locations(const char *text)
{
    for (;; text += 3) {
        if (!is_letter(text[0]) || !is_letter(text[1]))
            return false;
        if (text[2] != ',')
            return text[2] == '\0';
    }
}

bool xd_choice_prefers(const struct xd_choice *c, const char *location)
{
    const char *at = location && strlen(location) == 2 ? c->locations : NULL;

    for (; at && *at; at += at[2] ? 3 : 2) {
        if (strncasecmp(at, location, 2) == 0)
            return true;
    }
    return false;
}

static bool is_encrypted(const struct xd_url *u)
{
    return u->scheme == XD_SCHEME_HTTPS || u->scheme == XD_SCHEME_FILE;
}

int xd_choice_refuses(const struct xd_choice *c, const struct xd_url *u,
                      const char **why)
{
    int rc = xd_hosts_match(c->exclude, u);

    if (rc != 0) {
        *why = "its host is excluded";
        return rc;
    }
    rc = c->only ? xd_hosts_match(c->only, u) : 1;
    if (rc <= 0) {
        *why = "its host is none of those that --only names";
        return rc < 0 ? rc : 1;
    }
    *why = "it is no https: URL";
    return c->https_only && !is_encrypted(u);
}
