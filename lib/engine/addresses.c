/* SPDX-License-Identifier: MIT */
#include "engine/addresses.h"

#include "base/addresses.h"
#include "base/alloc.h"
#include "engine/depot.h"
#include "engine/lane.h"
#include "engine/lanes.h"
#include "os/clock.h"

void xd_addresses_begin_locked(struct xd_depot *depot, struct xd_lane *lane)
{
    lane->address[0] = '\0';
    lane->passes_over.n = lane->passes_over.n_left = 0;
    lane->tries_address =
        depot->addresses &&
        xd_addresses_choose(depot->addresses, &lane->passes_over);
}

/* Returns NULL when out of memory; then the addresses are not compared. */
static struct xd_addresses *addresses_of(struct xd_depot *depot)
{
    if (!depot->addresses)
        depot->addresses = xd_alloc(1, sizeof *depot->addresses);
    return depot->addresses;
}

static bool has_failed(const struct xd_lane *lane)
{
    switch (lane->outcome.verdict) {
    case XD_VERDICT_OK:
    case XD_VERDICT_STOPPED:
    case XD_VERDICT_LOCAL:
        return false;
    case XD_VERDICT_AGAIN:
    case XD_VERDICT_GONE:
    case XD_VERDICT_NO_RANGES:
    case XD_VERDICT_REFUSED_RANGE:
    case XD_VERDICT_DIFFERENT:
    case XD_VERDICT_CHANGED:
        break;
    }
    return true;
}

/* Records how fast the lane's address delivers.  Returns the addresses of the
 * depot; NULL if it has only one. */
static struct xd_addresses *learn(struct xd_depot *depot,
                                  const struct xd_lane *lane)
{
    struct xd_addresses *a =
        lane->address[0] != '\0' ? addresses_of(depot) : NULL;
    const uint64_t received = xd_lane_end(lane) - lane->range.begin;

    if (!a || (a->are_all && a->n == 1))
        return NULL;
    if (received > 0)
        xd_addresses_served(a, lane->address, received,
                            xd_now() - lane->first_byte);
    return a;
}

void xd_addresses_look_locked(struct xd_engine *e, struct xd_depot *depot,
                              struct xd_lane *lane)
{
    const struct xd_addresses *a = learn(depot, lane);

    if (a && !lane->stop &&
        (xd_addresses_is_very_slow(a, lane->address) ||
         (lane->tries_address && xd_addresses_is_slow(a, lane->address))))
        xd_lanes_stop_locked(e, lane);
}

void xd_addresses_end_locked(struct xd_depot *depot, struct xd_lane *lane)
{
    struct xd_addresses *a;

    if (lane->tries_address)
        xd_addresses_end_try(depot->addresses);
    lane->tries_address = false;
    a = learn(depot, lane);
    if (!a)
        return;
    a->are_all |= lane->outcome.is_only_address;
    if (has_failed(lane) && xd_addresses_failed(a, lane->address))
        lane->outcome.verdict = XD_VERDICT_STOPPED;
}
