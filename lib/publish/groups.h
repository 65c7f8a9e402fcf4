/* SPDX-License-Identifier: MIT */
/*
 * Groups of shards, and which hosts have some of them: no host gets two shards of a
 * group, which is a stripe, but it may have several pieces of one.
 *
 *     host      0        1        2        3
 *     has       2 2      -        4        0 1
 *     may get   2        any      4        none
 *
 * A copy more of what other hosts have, or get, may be of several shards of data, and
 * lie beside any of them, but not beside parity.
 *
 * Pure.  A zeroed one has no groups.
 */
#ifndef XD_PUBLISH_GROUPS_H
#define XD_PUBLISH_GROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#define XD_SHARD_NONE UINT_MAX /* one that shares a host with no other */
#define XD_SHARD_SEVERAL (UINT_MAX - 1) /* likewise, but all is data */

struct xd_groups_use {
    unsigned n; /* what a host has of a group, all of which is of */
    unsigned shard;
    unsigned n_more; /* copies more */
};

struct xd_groups {
    size_t n_hosts;             /* from 0 on, some of which need not exist */
    struct xd_groups_use *used; /* of each group at each host; owned */
    size_t n, capacity;
};

/* Group number n - 1.  Errors: NOMEM. */
int xd_groups_add(struct xd_groups *g, struct xd_error *err);
void xd_groups_fini(struct xd_groups *g);

/* The host has some of the shard, with XD_SHARD_NONE what keeps all away; once more if
 * it had some before.  And that no more. */
void xd_groups_use(struct xd_groups *g, size_t group, size_t host,
                   unsigned shard);
void xd_groups_unuse(struct xd_groups *g, size_t group, size_t host);

/* Likewise a copy more. */
void xd_groups_use_more(struct xd_groups *g, size_t group, size_t host);
void xd_groups_unuse_more(struct xd_groups *g, size_t group, size_t host);

/* Whether one may lie there: it has only shards below that number, which are data. */
bool xd_groups_takes_more(const struct xd_groups *g, size_t group, size_t host,
                          unsigned n_data);

/* Whether it has nothing; and whether it has some of that shard, and of no other. */
bool xd_groups_is_free(const struct xd_groups *g, size_t group, size_t host);
bool xd_groups_has(const struct xd_groups *g, size_t group, size_t host,
                   unsigned shard);

#endif
