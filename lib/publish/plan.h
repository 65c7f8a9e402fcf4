/* SPDX-License-Identifier: MIT */
/*
 * Which extent goes to which store next.
 *
 *     extents   0     1     2     3          a copy: on a store, or on its way
 *     copies    2/2   1/2   0/2   0/2        of those that are wanted
 *
 * No store gets two copies of one extent, nor of bytes that two have in common.  Either some stores get whole copies, as
 * many as copies are wanted, and the others stand by; or extents go to whichever
 * store is free (`stripes`), first what the others can do least for.  A store takes
 * no extent that it would have sent after the others could have: all end together.
 *
 * Extents may be shards of one stripe, a group: no host gets two of a group, though it
 * may have several stores (groups.h).  Or they are pieces of such a shard: these go to
 * one host, and to another only where that one can get no more.  Or they are copies more
 * of bytes of several shards, that lie beside no parity: shards have new hosts before them.
 *
 * Pure: time is an argument.  Not thread-safe.
 */
#ifndef XD_PUBLISH_PLAN_H
#define XD_PUBLISH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "base/range.h"
#include "base/time.h"
#include "publish/groups.h"

struct xd_plan;

#define XD_PLAN_NONE SIZE_MAX /* no extent */

/* Errors: NOMEM. */
int xd_plan_new(struct xd_plan **out, size_t n_stores, bool stripes,
                struct xd_error *err);
void xd_plan_free(struct xd_plan *p); /* NULL does nothing */

/* The next extent, from 0 on, of which so many copies are wanted.
 * Errors: NOMEM. */
int xd_plan_add(struct xd_plan *p, struct xd_range range, unsigned wanted,
                struct xd_error *err);

/* There are groups, of which the extents follow each other: hosts[i] is the host of
 * store i, a number from 0 to n_stores - 1.  Before any extent.  Errors: NOMEM. */
int xd_plan_set_hosts(struct xd_plan *p, const size_t *hosts,
                      struct xd_error *err);

/* Extents that are added until end_group() are of a new group; and, behind
 * begin_shard(), pieces of that shard of it.  Those of no shard are each one of their
 * own.  Errors: NOMEM. */
int xd_plan_begin_group(struct xd_plan *p, struct xd_error *err);
void xd_plan_begin_shard(struct xd_plan *p, unsigned number);

/* Or they are copies more of what has others, of one or several shards of data, which
 * are those below `n_data`. */
void xd_plan_begin_more(struct xd_plan *p, unsigned n_data);
bool xd_plan_is_more(const struct xd_plan *p, size_t extent);

void xd_plan_end_group(struct xd_plan *p);

/* The host has some of that shard of the group, of which it may get pieces; with
 * XD_SHARD_NONE it gets none of the group, with XD_SHARD_SEVERAL only copies more.
 * Before its extents. */
void xd_plan_use_host(struct xd_plan *p, size_t host, unsigned shard);

/* How many hosts have nothing of the group that was begun last. */
size_t xd_plan_n_hosts(const struct xd_plan *p);

/* The store has a copy of it already, or must not get one.  hold() returns false
 * if that is known. */
bool xd_plan_hold(struct xd_plan *p, size_t extent, size_t store);
void xd_plan_forbid(struct xd_plan *p, size_t extent, size_t store);

/* The store must not get it, since its host has other shards of the bytes. */
void xd_plan_keep_apart(struct xd_plan *p, size_t extent, size_t store);

/* Extents before this one may be sent; all others not yet. */
void xd_plan_ready(struct xd_plan *p, size_t n);
bool xd_plan_is_ready(const struct xd_plan *p, size_t extent);

size_t xd_plan_n_extents(const struct xd_plan *p);
struct xd_range xd_plan_range(const struct xd_plan *p, size_t extent);

/* All extents are known, and none is under way or held.  Errors: NOMEM. */
int xd_plan_sort(struct xd_plan *p, struct xd_error *err);

/* After that: extent number `i` in the order in which they begin; and the first one that
 * has just these bytes; XD_PLAN_NONE: none has. */
size_t xd_plan_sorted(const struct xd_plan *p, size_t i);
size_t xd_plan_find(const struct xd_plan *p, struct xd_range range);

/* Of those that the store may get, or that were put off there, the first one that has
 * just these bytes; else one that begins with the same, whose object has the same name;
 * or XD_PLAN_NONE. */
size_t xd_plan_find_begun(const struct xd_plan *p, struct xd_range range,
                          size_t store);

/* The extent that the store is to be sent now, which is under way then; or
 * XD_PLAN_NONE. */
size_t xd_plan_next(struct xd_plan *p, size_t store, xd_usec now);

/* Whether a copy of it is missing, and may go to the store. */
bool xd_plan_may_get(const struct xd_plan *p, size_t extent, size_t store);

/* That one is under way to the store, as an earlier run has left it, or again after
 * put_off(); false if the store has it, must not get it, or no copy of it is
 * missing. */
bool xd_plan_take(struct xd_plan *p, size_t extent, size_t store);

/* What of one has come there is looked at later: until take() it counts as a copy,
 * and nothing of it is under way. */
void xd_plan_put_off(struct xd_plan *p, size_t extent, size_t store,
                     xd_usec now);
bool xd_plan_is_put_off(const struct xd_plan *p, size_t extent, size_t store);

/* So many bytes more were sent to the store. */
void xd_plan_sent(struct xd_plan *p, size_t store, uint64_t bytes, xd_usec now);

/* All bytes of what is under way to the store were sent within this time, as far
 * as its rate tells; XD_NEVER: that is not known. */
xd_usec xd_plan_left(struct xd_plan *p, size_t store, xd_usec now);

/* What became of an extent that was under way. */
void xd_plan_done(struct xd_plan *p, size_t extent, size_t store, xd_usec now);
void xd_plan_failed(struct xd_plan *p, size_t extent, size_t store,
                    xd_usec now);

/* The store gets no more; what it has counts. */
void xd_plan_drop(struct xd_plan *p, size_t store);
bool xd_plan_is_dropped(const struct xd_plan *p, size_t store);

/* Copies that are wanted and not there. */
size_t xd_plan_missing(const struct xd_plan *p);

/* Why no store that is left gets what is missing. */
enum xd_plan_lack {
    XD_LACK_NEW_STORES, /* each has the same extents, or must not get them */
    XD_LACK_NEW_HOSTS, /* their hosts have other extents of the groups, or other
                           shards of the bytes */
    XD_LACK_BOTH       /* the one of some, the other of others */
};
enum xd_plan_lack xd_plan_lack(const struct xd_plan *p);

/* Whether none of those can be made any more: no store that is left may get it.
 * Nothing is under way then. */
bool xd_plan_is_stuck(const struct xd_plan *p);

#endif
