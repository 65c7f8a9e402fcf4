/* SPDX-License-Identifier: MIT */
/*
 * Decides which extent goes to which store next.
 *
 *     extents   0     1     2     3
 *     copies    2/2   1/2   0/2   0/2      existing or being sent / wanted
 *
 * No store gets two copies of an extent, or two extents with common bytes.
 * There are two modes.  Normally each wanted copy of the file goes to one
 * store, and all other stores are spares.  With `stripes`, an extent goes to
 * any free store.  A store first gets the extents that the other stores are
 * least able to take.  It gets no extent that the other stores would finish
 * earlier, so all stores end at the same time.
 *
 * An extent may belong to a stripe (a group, see groups.h), in one of three
 * ways:
 * - It may be a shard of the stripe.  No host gets two shards of a stripe, even
 *   if the host has several stores.
 * - It may be a piece of a shard.  All pieces of a shard go to one host.  They
 *   go to a second host only if the first can get no more.
 * - It may be an extra copy that spans several data shards.  Its host must not
 *   have parity of the stripe.  Shards get new hosts before extra copies do.
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

#define XD_PLAN_NONE SIZE_MAX /* stands for "no extent" */

/* Errors: NOMEM. */
int xd_plan_new(struct xd_plan **out, size_t n_stores, bool stripes,
                struct xd_error *err);
void xd_plan_free(struct xd_plan *p); /* accepts NULL */

/* Adds the next extent, numbered from 0, with the number of copies wanted.
 * Errors: NOMEM. */
int xd_plan_add(struct xd_plan *p, struct xd_range range, unsigned wanted,
                struct xd_error *err);

/* Enables groups.  hosts[i] is the host of store i, from 0 to n_stores - 1.
 * Call it before adding extents; the extents of a group must be added one after
 * the other.
 * Errors: NOMEM. */
int xd_plan_set_hosts(struct xd_plan *p, const size_t *hosts,
                      struct xd_error *err);

/* begin_group() starts a new group for the extents added until end_group().
 * The extents added after begin_shard() are pieces of that shard.  Without
 * begin_shard(), each extent is a shard of its own.  Errors: NOMEM. */
int xd_plan_begin_group(struct xd_plan *p, struct xd_error *err);
void xd_plan_begin_shard(struct xd_plan *p, unsigned number);

/* Makes the next extents extra copies of bytes that other hosts have.  Each
 * holds bytes of one or several of the data shards below `n_data`. */
void xd_plan_begin_more(struct xd_plan *p, unsigned n_data);
bool xd_plan_is_more(const struct xd_plan *p, size_t extent);

void xd_plan_end_group(struct xd_plan *p);

/* Records that the host has a part of the shard `shard`.  Call it before adding
 * the extents of the group.  The host may then get only pieces of the same
 * shard.  With XD_SHARD_NONE it gets nothing of the group, with
 * XD_SHARD_SEVERAL only extra copies. */
void xd_plan_use_host(struct xd_plan *p, size_t host, unsigned shard);

/* Returns the number of hosts that have no object of the current group. */
size_t xd_plan_n_hosts(const struct xd_plan *p);

/* hold() records that the store has a copy of the extent, and returns false if
 * the copy was recorded before.  forbid() excludes the store from getting the
 * extent. */
bool xd_plan_hold(struct xd_plan *p, size_t extent, size_t store);
void xd_plan_forbid(struct xd_plan *p, size_t extent, size_t store);

/* Excludes the store from getting the extent, because its host has other shards
 * of the same stripe. */
void xd_plan_keep_apart(struct xd_plan *p, size_t extent, size_t store);

/* Allows sending the extents before number `n`. */
void xd_plan_ready(struct xd_plan *p, size_t n);
bool xd_plan_is_ready(const struct xd_plan *p, size_t extent);

size_t xd_plan_n_extents(const struct xd_plan *p);
struct xd_range xd_plan_range(const struct xd_plan *p, size_t extent);

/* Sorts the extents.  Call it when all extents were added, and before any
 * extent is in progress or held.  Errors: NOMEM. */
int xd_plan_sort(struct xd_plan *p, struct xd_error *err);

/* Use these after xd_plan_sort().  sorted() returns the i-th extent by
 * ascending begin.  find() returns the first extent with exactly this range, or
 * XD_PLAN_NONE. */
size_t xd_plan_sorted(const struct xd_plan *p, size_t i);
size_t xd_plan_find(const struct xd_plan *p, struct xd_range range);

/* Finds the extent of an object that an earlier run began.  It considers the
 * extents that the store may get and the extents that were put off at this
 * store.  It prefers an extent with exactly this range to an extent with the
 * same begin, whose object has the same name.  XD_PLAN_NONE: there is no such
 * extent. */
size_t xd_plan_find_begun(const struct xd_plan *p, struct xd_range range,
                          size_t store);

/* Chooses the extent to send to the store now, and marks it as in progress.
 * XD_PLAN_NONE: nothing can be sent now. */
size_t xd_plan_next(struct xd_plan *p, size_t store, xd_usec now);

/* Returns whether a copy of the extent is missing and may go to the store. */
bool xd_plan_may_get(const struct xd_plan *p, size_t extent, size_t store);

/* Returns whether all missing copies of the extent could go to other stores. */
bool xd_plan_can_do_without(const struct xd_plan *p, size_t extent,
                            size_t store);

/* Marks the extent as in progress at the store.  Use it for extents that an
 * earlier run began, and after put_off().  Returns false if the store has the
 * extent or must not get it, or if no copy is missing. */
bool xd_plan_take(struct xd_plan *p, size_t extent, size_t store);

/* Postpones the check whether the extent has arrived at the store.  Until
 * take(), the extent counts as a copy, but not as in progress. */
void xd_plan_put_off(struct xd_plan *p, size_t extent, size_t store,
                     xd_usec now);
bool xd_plan_is_put_off(const struct xd_plan *p, size_t extent, size_t store);

/* Counts bytes sent to the store. */
void xd_plan_sent(struct xd_plan *p, size_t store, uint64_t bytes, xd_usec now);

/* Returns how long the store needs, at its current rate, for the rest of the
 * extents in progress; XD_NEVER if unknown. */
xd_usec xd_plan_left(struct xd_plan *p, size_t store, xd_usec now);

/* Report the result for an extent in progress. */
void xd_plan_done(struct xd_plan *p, size_t extent, size_t store, xd_usec now);
void xd_plan_failed(struct xd_plan *p, size_t extent, size_t store,
                    xd_usec now);

/* Excludes the store from getting any further extent.  Its existing copies
 * still count. */
void xd_plan_drop(struct xd_plan *p, size_t store);
bool xd_plan_is_dropped(const struct xd_plan *p, size_t store);

/* Returns the number of wanted copies that are not complete. */
size_t xd_plan_missing(const struct xd_plan *p);

/* The reason why no remaining store can get the missing copies. */
enum xd_plan_lack {
    /* each store already has the incomplete extents, or must not get them */
    XD_LACK_NEW_STORES,
    /* the hosts of the remaining stores have other extents of the group, or
     * other shards of the bytes */
    XD_LACK_NEW_HOSTS,
    XD_LACK_BOTH /* some extents lack stores, and some lack hosts */
};
enum xd_plan_lack xd_plan_lack(const struct xd_plan *p);

/* Returns true if copies are missing and no remaining store may get a missing
 * copy.  Then nothing is in progress. */
bool xd_plan_is_stuck(const struct xd_plan *p);

#endif
