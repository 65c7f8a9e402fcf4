/* SPDX-License-Identifier: MIT */
#include "circus/circus.h"

#include "base/alloc.h"
#include "base/error.h"
#include "circus/clients.h"

#define BLOCK_BYTES ((uint64_t)64 << 10)
#define ACTIVE_BYTES ((uint64_t)16 << 20)
#define INDEPENDENT_FROM 0.75
#define FORGET (30 * XD_SECOND)
#define MOST_CLIENTS 2048

/* For each byte that it receives, a client may move the front by up to this
 * many bytes: over that byte, and over three that it already has.  A factor of
 * four suffices, because a client that has more than INDEPENDENT_FROM (three
 * quarters) of the file does not move the front. */
#define BYTES_PER_SENT 4

/* Minimum length of a suggested range in blocks, whatever the rates are.  This
 * is roughly the amount that the servers in the paper queue per client.
 * Shorter ranges would slow clients down. */
#define LEAST_BLOCKS 4

/* A response covers at most a quarter of the active region, so clients get a
 * new hint often. */
#define NEXT_PARTS 4

struct xd_circus {
    /* constant after xd_circus_new() */
    uint64_t size, block, active, leapfront;
    double independent_from;
    bool leaps_freely;

    struct xd_circus_clients clients;
    uint64_t front; /* position of the front in the file */
    /* bytes before the front that were read from the disk, at most `active` */
    uint64_t warm;
    struct xd_rate rate; /* rate of the front */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t or_default(uint64_t given, uint64_t otherwise)
{
    return given != 0 ? given : otherwise;
}

/* Sets the rules.  The active region and the leapfront distance together are at
 * most as long as the file.  Otherwise, in a short file, a client that lags far
 * behind would look like one that is ahead. */
static void set_rules(struct xd_circus *c, const struct xd_circus_rules *r)
{
    c->block = or_default(r->block_bytes, BLOCK_BYTES);
    c->active = least(or_default(r->active_bytes, ACTIVE_BYTES), c->size / 2);
    c->leapfront = least(or_default(r->leapfront_bytes,
                                    or_default(r->active_bytes, ACTIVE_BYTES)),
                         c->size - c->active);
    c->independent_from =
        r->independent_from > 0 ? r->independent_from : INDEPENDENT_FROM;
    c->leaps_freely = r->leaps_freely;
    c->clients.forget = or_default(r->forget_us, FORGET);
    c->clients.most = r->most_clients != 0 ? r->most_clients : MOST_CLIENTS;
}

int xd_circus_new(struct xd_circus **out, uint64_t size,
                  const struct xd_circus_rules *rules, struct xd_error *err)
{
    struct xd_circus_rules r = {0};

    *out = NULL;
    if (rules != NULL)
        r = *rules;
    if (size == 0 || size > INT64_MAX)
        return xd_fail(err, XD_E_INVAL, "a file of %llu bytes has no blocks",
                       (unsigned long long)size);
    if (r.block_bytes > INT64_MAX ||
        !(r.independent_from >= 0 && r.independent_from <= 1))
        return xd_fail(err, XD_E_INVAL,
                       "blocks of %llu bytes, or %g of a file, make no sense",
                       (unsigned long long)r.block_bytes, r.independent_from);
    struct xd_circus *c = xd_alloc(1, sizeof *c);
    if (c == NULL)
        return xd_fail_nomem(err);
    c->size = size;
    set_rules(c, &r);
    xd_circus_clients_join(&c->clients, r.pool);
    *out = c;
    return 0;
}

void xd_circus_free(struct xd_circus *c)
{
    if (c == NULL)
        return;
    xd_circus_clients_fini(&c->clients);
    xd_free(c);
}

struct xd_circus_client *xd_circus_enter(struct xd_circus *c, uint64_t id,
                                         uint64_t now_us)
{
    struct xd_circus_client *client =
        xd_circus_clients_find(&c->clients, id, now_us);

    if (client == NULL)
        return NULL;
    if (c->clients.n == 1 && client->sent.n == 0)
        c->front = c->warm = 0; /* left there by earlier clients */
    client->n_requests++;
    client->seen = now_us;
    return client;
}

void xd_circus_leave(struct xd_circus *c, struct xd_circus_client *client,
                     uint64_t now_us)
{
    if (client == NULL)
        return;
    client->seen = now_us;
    if (--client->n_requests == 0 && client->sent.bytes == c->size)
        xd_circus_clients_forget(&c->clients, client);
}

bool xd_circus_ask(struct xd_circus *c, struct xd_circus_client *client,
                   uint64_t begin, uint64_t end)
{
    end = least(end, c->size);
    if (begin >= end || end - begin > c->active)
        return false;
    xd_circus_client_add(client, (struct xd_range){begin, end});
    return true;
}

void xd_circus_drop(struct xd_circus *c, struct xd_circus_client *client,
                    uint64_t begin, uint64_t end)
{
    end = least(end, c->size);
    if (begin < end)
        xd_circus_client_remove(client, (struct xd_range){begin, end});
}

/* Returns how far `to` is ahead of `from`, wrapping around at the end of the
 * file. */
static uint64_t distance(const struct xd_circus *c, uint64_t from, uint64_t to)
{
    return to >= from ? to - from : c->size - from + to;
}

static void move_front(struct xd_circus *c, uint64_t to, xd_usec now)
{
    const uint64_t by = distance(c, c->front, to);

    c->warm = least(c->warm + by, c->active);
    c->front = to;
    xd_rate_add(&c->rate, now, by);
}

static bool is_independent(const struct xd_circus *c,
                           const struct xd_circus_client *client)
{
    return (double)client->sent.bytes >= c->independent_from * (double)c->size;
}

/* Returns true if the client may move the front over bytes that it already has.
 * It may do so only if it continues where xd_circus_next() suggested.  A new
 * client, or one that fills its gaps, would move the front away from all other
 * clients, which would then miss most of the file. */
static bool may_leap(const struct xd_circus *c,
                     const struct xd_circus_client *client, uint64_t begin)
{
    const uint64_t near = c->active / NEXT_PARTS;

    if (c->leaps_freely || c->clients.n == 1)
        return true;
    return !is_independent(c, client) && client->suggested != UINT64_MAX &&
           begin + near >= client->suggested &&
           begin <= client->suggested + near;
}

/* Moves the front to a client that is ahead of it, but only over bytes that the
 * client has received.  Otherwise the disk would be read for that client
 * alone. */
static void follow(struct xd_circus *c, struct xd_circus_client *client,
                   uint64_t begin, uint64_t bytes, xd_usec now)
{
    const uint64_t ahead = distance(c, c->front, client->cursor);
    const uint64_t leap = ahead > bytes ? ahead - bytes : 0;

    client->leap_credit =
        least(client->leap_credit + bytes * (BYTES_PER_SENT - 1), c->leapfront);
    if (ahead == 0 || ahead >= c->leapfront)
        return;
    if (leap > 0 && !may_leap(c, client, begin))
        return;
    if (!c->leaps_freely && c->clients.n > 1 && leap > client->leap_credit)
        return;
    client->leap_credit -= least(leap, client->leap_credit);
    move_front(c, client->cursor, now);
}

/* Returns true if the position is in the active region or a short way ahead of
 * it. */
static bool is_near(const struct xd_circus *c, uint64_t at)
{
    return distance(c, at, c->front) <= c->active ||
           distance(c, c->front, at) < c->leapfront;
}

void xd_circus_send(struct xd_circus *c, struct xd_circus_client *client,
                    uint64_t begin, uint64_t end, uint64_t now_us)
{
    end = least(end, c->size);
    if (begin >= end)
        return;
    client->seen = now_us;
    client->cursor = end % c->size;
    client->n_sent += end - begin;
    xd_circus_client_add(client, (struct xd_range){begin, end});
    xd_rate_add(&client->rate, now_us, end - begin);
    if (c->clients.n == 1 && !is_near(c, client->cursor)) {
        c->front = begin; /* there is no other client to wait for */
        c->warm = 0;
    }
    follow(c, client, begin, end - begin, now_us);
}

/* Returns the position where a client should continue: its own, or the middle
 * of the active region (Figure 5 of the paper).  The middle is computed from
 * the part of the region that is in memory.  Right after the front has moved to
 * the position of a lone client, the rest of the region is not in memory, and
 * would be read for that client only. */
static uint64_t next_place(const struct xd_circus *c,
                           const struct xd_circus_client *client)
{
    const uint64_t middle =
        (c->front + c->size - c->warm / 2) % c->size / c->block * c->block;

    if (distance(c, client->cursor, c->front) > c->active &&
        !is_independent(c, client))
        return middle;
    return client->cursor;
}

/*
 * Returns how many bytes from `at` can be sent before the active region has
 * passed them.  A byte that is x bytes after `at` is sent at the time x / rate.
 * By then the end of the region has moved by x * front rate / rate.  It must
 * not have passed that byte, which is `room` + x bytes ahead of it now.
 */
static uint64_t bytes_in_time(struct xd_circus *c,
                              struct xd_circus_client *client, uint64_t at,
                              xd_usec now)
{
    const uint64_t behind = distance(c, at, c->front);
    const uint64_t room = behind <= c->active ? c->active - behind : c->active;
    const double rate = xd_rate_get(&client->rate, now);
    const uint64_t most = c->active / NEXT_PARTS;
    const uint64_t least_bytes = least(LEAST_BLOCKS * c->block, most);

    if (rate <= 0)
        return least_bytes;
    const double faster = xd_rate_get(&c->rate, now) / rate - 1;
    if (faster <= 0 || (double)room / faster >= (double)most)
        return most;
    const uint64_t in_time = (uint64_t)((double)room / faster);
    return in_time > least_bytes ? in_time : least_bytes;
}

/* Returns the first missing range from `at`, wrapping around; empty if nothing
 * is missing. */
static struct xd_range next_missing(const struct xd_circus *c,
                                    const struct xd_circus_client *client,
                                    uint64_t at)
{
    const struct xd_range found =
        xd_rangeset_next_gap(&client->sent, (struct xd_range){at, c->size});

    return xd_range_is_empty(found)
               ? xd_rangeset_next_gap(&client->sent, (struct xd_range){0, at})
               : found;
}

/* The range ends at a block boundary and has at least one block, unless the
 * missing range is shorter. */
bool xd_circus_next(struct xd_circus *c, struct xd_circus_client *client,
                    uint64_t now_us, uint64_t *out_begin, uint64_t *out_end)
{
    const struct xd_range missing =
        next_missing(c, client, next_place(c, client));

    if (xd_range_is_empty(missing))
        return false;
    uint64_t end =
        missing.begin + bytes_in_time(c, client, missing.begin, now_us);
    end = end / c->block * c->block;
    if (end <= missing.begin)
        end = (missing.begin / c->block + 1) * c->block;
    *out_begin = missing.begin;
    *out_end = least(end, missing.end);
    client->suggested = missing.begin;
    return true;
}

void xd_circus_get(struct xd_circus *c, uint64_t now_us,
                   struct xd_circus_state *out)
{
    struct xd_circus_state s = {0};

    xd_circus_clients_forget_old(&c->clients, now_us);
    s.begin = (c->front + c->size - c->warm) % c->size;
    s.end = c->front;
    s.bytes_per_s = xd_rate_get(&c->rate, now_us);
    s.n_clients = c->clients.n;
    for (const struct xd_circus_client *k = c->clients.first; k != NULL;
         k = k->next) {
        s.n_independent += is_independent(c, k);
        s.n_following += distance(c, k->cursor, c->front) <= c->active;
    }
    *out = s;
}
