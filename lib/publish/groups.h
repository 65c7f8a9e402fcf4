/* SPDX-License-Identifier: MIT */
/*
 * Keeps track of which hosts have shards of which group.  A group is a stripe.
 * No host gets two shards of a group, but it may get several pieces of one
 * shard.
 *
 *     host      0        1        2        3
 *     has       2 2      -        4        0 1
 *     may get   2        any      4        none
 *
 * An extra copy of bytes that other hosts have may span several data shards.
 * Its host may have any of these data shards too, but no parity of the group.
 *
 * Pure.  A zeroed struct has no groups.
 */
#ifndef XD_PUBLISH_GROUPS_H
#define XD_PUBLISH_GROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

/* an object that must not share its host with any other shard */
#define XD_SHARD_NONE UINT_MAX
/* stands for several data shards and no parity */
#define XD_SHARD_SEVERAL (UINT_MAX - 1)

struct xd_groups_use {
    /* number of objects of the group at the host; all belong to `shard` */
    unsigned n;
    unsigned shard;
    unsigned n_more; /* number of extra copies */
};

struct xd_groups {
    /* hosts are numbered from 0; some numbers may be unused */
    size_t n_hosts;
    struct xd_groups_use *used; /* for each group and host; owned */
    size_t n, capacity;
};

/* Adds group number n - 1.  Errors: NOMEM. */
int xd_groups_add(struct xd_groups *g, struct xd_error *err);
void xd_groups_fini(struct xd_groups *g);

/* use() records that the host has an object of the shard.  With XD_SHARD_NONE,
 * the host can get no other object of the group.  unuse() removes the record of
 * one object. */
void xd_groups_use(struct xd_groups *g, size_t group, size_t host,
                   unsigned shard);
void xd_groups_unuse(struct xd_groups *g, size_t group, size_t host);

/* Like use() and unuse(), but for extra copies. */
void xd_groups_use_more(struct xd_groups *g, size_t group, size_t host);
void xd_groups_unuse_more(struct xd_groups *g, size_t group, size_t host);

/* Returns whether the host may get an extra copy: it has no shards of the group
 * except data shards below `n_data`. */
bool xd_groups_takes_more(const struct xd_groups *g, size_t group, size_t host,
                          unsigned n_data);

/* is_free() returns true if the host has no objects of the group.  has()
 * returns true if the host has objects of this shard and of no other shard. */
bool xd_groups_is_free(const struct xd_groups *g, size_t group, size_t host);
bool xd_groups_has(const struct xd_groups *g, size_t group, size_t host,
                   unsigned shard);

#endif
