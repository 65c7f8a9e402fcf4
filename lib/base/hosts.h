/* SPDX-License-Identifier: MIT */
/*
 * A list of hosts, as an option keeps it: "a.example b.example:8080".  One
 * without a port stands for all servers of that host.
 */
#ifndef XD_BASE_HOSTS_H
#define XD_BASE_HOSTS_H

#include "base/url.h"

/*
 * Add `host`, "NAME" or "NAME:PORT", to *list, which is NULL or was made here,
 * and is the caller's to release with xd_free().
 * Errors: INVAL (it is no host), NOMEM; then the list is as before.
 */
int xd_hosts_add(char **list, const char *host);

/* Likewise the server of `url`, with its port: another one of that host is not
 * meant.  Errors: INVAL (it is no URL, or has no host), NOMEM. */
int xd_hosts_add_url(char **list, const char *url);

/* Whether `list` (NULL: an empty one) has the server of `u`: 1, 0 or NOMEM. */
int xd_hosts_have(const char *list, const struct xd_url *u);

/* Likewise a host in which a '*' stands for any characters: "*.example".  Such a
 * list is for xd_hosts_match(). */
int xd_hosts_add_pattern(char **list, const char *host);

/* As xd_hosts_have(), where words may be patterns: not of a list that grants
 * something. */
int xd_hosts_match(const char *list, const struct xd_url *u);

#endif
