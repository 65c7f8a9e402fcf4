/* SPDX-License-Identifier: MIT */
/* Which servers may be asked, and which are preferred, as options have it. */
#ifndef XD_BASE_CHOICE_H
#define XD_BASE_CHOICE_H

#include <stdbool.h>

#include "base/url.h"

/* A zeroed struct leaves all out but nothing of the web. */
struct xd_choice {
    const char *exclude, *only; /* lists of base/hosts.h, or NULL */
    const char *locations;      /* "de,at", or NULL */
    bool https_only, allow_file;
};

/* Whether `u` may not be asked: 1, and *why as "its host is excluded"; 0 or
 * NOMEM.  `*why` may be asked for or not.  Of allow_file nothing is said. */
int xd_choice_refuses(const struct xd_choice *c, const struct xd_url *u,
                      const char **why);

/* Whether a server at `location` (NULL: it is not known) is preferred. */
bool xd_choice_prefers(const struct xd_choice *c, const char *location);

/* Whether `text` is "CC" or "CC,CC...": country codes, of two letters. */
bool xd_choice_are_locations(const char *text);

#endif
