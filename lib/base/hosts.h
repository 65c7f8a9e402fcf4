/* SPDX-License-Identifier: MIT */
/*
 * Lists of hosts as given in options: "a.example b.example:8080".  A host
 * without a port matches all its ports.  Neither the case of letters nor the
 * scheme matters, and international names match in both spellings.
 *
 * A list is a string, or NULL if it is empty.  A host that is added twice
 * appears twice.
 * Threads: any, but not while the same list is being changed.
 */
#ifndef XD_BASE_HOSTS_H
#define XD_BASE_HOSTS_H

#include "base/url.h"

/*
 * Appends `host`, as "NAME" or "NAME:PORT", to *list, which may be NULL.
 * Ownership: release *list with xd_free().
 * Errors: INVAL (not a host name), NOMEM; the list is unchanged then.
 */
int xd_hosts_add(char **list, const char *host);

/* Appends the server of `url` including its port, so that it does not match
 * other ports of that host.  Errors: INVAL (no URL, or no host), NOMEM; the
 * list is unchanged then. */
int xd_hosts_add_url(char **list, const char *url);

/* Returns 1 if `list` (NULL: empty) contains the server of `u`, 0 if not or if
 * `u` has no host, or NOMEM. */
int xd_hosts_have(const char *list, const struct xd_url *u);

/* Like xd_hosts_add(), but '*' matches any characters, also none, and also
 * those of a port: "*.example".  A pattern has only letters, digits and ".-_:*"
 * (otherwise INVAL).  Use the list only with xd_hosts_match(). */
int xd_hosts_add_pattern(char **list, const char *host);

/* Like xd_hosts_have() for lists with patterns.  Do not use it for lists that
 * grant a permission, because a pattern may match more than intended. */
int xd_hosts_match(const char *list, const struct xd_url *u);

#endif
