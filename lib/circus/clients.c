/* SPDX-License-Identifier: MIT */
#include "circus/clients.h"

#include <stddef.h>

#include "base/alloc.h"

/* 8 KiB, with the one more that is there for a moment.  A client that is 30 times slower than the front, and so is sent 280 KiB
 * of every 8 MiB that pass, has 64 for each round of half a gigabyte. */
#define RANGES_MOST 511

static void unlink_at(struct xd_circus_clients *k, struct xd_circus_client **at)
{
    struct xd_circus_client *client = *at;

    *at = client->next;
    k->n--;
    xd_rangeset_fini(&client->sent);
    xd_free(client);
}

void xd_circus_clients_forget(struct xd_circus_clients *k,
                              struct xd_circus_client *client)
{
    struct xd_circus_client **at = &k->first;

    while (*at != client)
        at = &(*at)->next;
    unlink_at(k, at);
}

void xd_circus_clients_forget_old(struct xd_circus_clients *k, xd_usec now)
{
    struct xd_circus_client **at = &k->first;

    while (*at != NULL)
        if ((*at)->n_requests == 0 && now - (*at)->seen >= k->forget)
            unlink_at(k, at);
        else
            at = &(*at)->next;
}

void xd_circus_clients_fini(struct xd_circus_clients *k)
{
    while (k->first != NULL)
        unlink_at(k, &k->first);
}

/* An id costs nothing: one that was sent little gives way to one that was sent
 * much, whatever the order in which they came. */
static struct xd_circus_client *least_of(const struct xd_circus_clients *k)
{
    struct xd_circus_client *least = NULL;

    for (struct xd_circus_client *c = k->first; c != NULL; c = c->next)
        if (c->n_requests == 0 &&
            (least == NULL || c->sent.bytes <= least->sent.bytes))
            least = c;
    return least;
}

static struct xd_circus_client *add(struct xd_circus_clients *k, uint64_t id)
{
    struct xd_circus_client *c = xd_alloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->id = id;
    c->next = k->first;
    k->first = c;
    k->n++;
    return c;
}

struct xd_circus_client *xd_circus_clients_find(struct xd_circus_clients *k,
                                                uint64_t id, xd_usec now)
{
    struct xd_circus_client *c = k->first;

    xd_circus_clients_forget_old(k, now);
    for (c = k->first; c != NULL; c = c->next)
        if (c->id == id)
            return c;
    if (k->n == k->most) {
        c = least_of(k);
        if (c == NULL)
            return NULL;
        xd_circus_clients_forget(k, c);
    }
    return add(k, id);
}

static uint64_t gap_behind(const struct xd_rangeset *s, size_t i)
{
    return s->ranges[i + 1].begin - s->ranges[i].end;
}

static void close_shortest_gap(struct xd_rangeset *s)
{
    size_t shortest = 0;

    for (size_t i = 1; i + 1 < s->n; i++)
        if (gap_behind(s, i) < gap_behind(s, shortest))
            shortest = i;
    /* Two ranges become one: that takes no memory. */
    (void)xd_rangeset_add(s, (struct xd_range){s->ranges[shortest].end,
                                               s->ranges[shortest + 1].begin});
}

static void bound(struct xd_circus_client *client)
{
    while (client->sent.n > RANGES_MOST)
        close_shortest_gap(&client->sent);
}

void xd_circus_client_add(struct xd_circus_client *client,
                          struct xd_range bytes)
{
    (void)xd_rangeset_add(&client->sent, bytes);
    bound(client);
}

void xd_circus_client_remove(struct xd_circus_client *client,
                             struct xd_range bytes)
{
    (void)xd_rangeset_remove(&client->sent, bytes);
    bound(client);
}
