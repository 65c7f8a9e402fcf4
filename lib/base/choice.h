/* SPDX-License-Identifier: MIT */
/* Decides which servers may be used and which are preferred, according to the
 * options. */
#ifndef XD_BASE_CHOICE_H
#define XD_BASE_CHOICE_H

#include <stdbool.h>

#include "base/url.h"

/* A zeroed struct allows only the web schemes (HTTP and FTP). */
struct xd_choice {
    const char *exclude, *only; /* lists as in base/hosts.h, or NULL */
    const char *locations;      /* country codes, "de,at", or NULL */
    bool https_only, allow_file;
};

/* Returns 1 if the options forbid `u`, and sets *why (unless `why` is NULL) to
 * a reason like "its host is excluded".  Returns 0 if `u` is allowed, or NOMEM.
 * Does not check allow_file. */
int xd_choice_refuses(const struct xd_choice *c, const struct xd_url *u,
                      const char **why);

/* Returns whether servers at `location` (NULL: unknown) are preferred. */
bool xd_choice_prefers(const struct xd_choice *c, const char *location);

/* Returns whether `text` is a list "CC,CC..." of two-letter country codes. */
bool xd_choice_are_locations(const char *text);

#endif
