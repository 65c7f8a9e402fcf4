/* SPDX-License-Identifier: MIT */
#include "engine/records.h"

#include "base/alloc.h"
#include "command/records.h"

/* Number of records kept at first and at most: enough for a program that takes
 * them regularly. */
#define CAPACITY_FIRST 64
#define CAPACITY_MOST 4096

int xd_records_init(struct xd_records *r, bool wanted)
{
    *r = (struct xd_records){0};
    if (!wanted)
        return 0;
    r->ring = xd_alloc(CAPACITY_FIRST, sizeof *r->ring);
    r->capacity = CAPACITY_FIRST;
    return r->ring ? 0 : XD_E_NOMEM;
}

void xd_records_fini(struct xd_records *r)
{
    xd_free(r->ring);
    *r = (struct xd_records){0};
}

/* Doubles the capacity, unless it is at its maximum or memory is short. */
static void grow(struct xd_records *r)
{
    struct xd_fetch_record *ring;

    if (r->capacity >= CAPACITY_MOST)
        return;
    ring = xd_alloc(2 * r->capacity, sizeof *ring);
    if (!ring)
        return;
    for (size_t i = 0; i < r->n; i++)
        ring[i] = r->ring[(r->first + i) % r->capacity];
    xd_free(r->ring);
    r->ring = ring;
    r->first = 0;
    r->capacity *= 2;
}

void xd_records_put(struct xd_records *r, const struct xd_fetch_record *record)
{
    if (!r->ring)
        return;
    if (r->n == r->capacity)
        grow(r);
    if (r->n == r->capacity) {
        r->first = (r->first + 1) % r->capacity;
        r->n--;
        r->lost++;
    }
    r->ring[(r->first + r->n++) % r->capacity] = *record;
}

bool xd_records_take(struct xd_records *r, struct xd_fetch_record *out)
{
    if (r->n == 0)
        return false;
    *out = r->ring[r->first];
    r->first = (r->first + 1) % r->capacity;
    r->n--;
    return true;
}
