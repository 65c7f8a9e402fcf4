/* SPDX-License-Identifier: MIT */
#include "circus/clients.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/error.h"
#include "circus/circus.h"

#define POOL_MOST 4096

struct xd_circus_pool {
    struct xd_circus_clients *files;
    unsigned n, most; /* clients of all files */
};

/* Maximum number of ranges that are stored for a client.  They take 8 KiB,
 * including one spare element.  A client that is 30 times slower than the front
 * gets 280 KiB of every 8 MiB, which makes 64 ranges for half a gigabyte. */
#define RANGES_MOST 511

static void unlink_at(struct xd_circus_clients *k, struct xd_circus_client **at)
{
    struct xd_circus_client *client = *at;

    *at = client->next;
    k->n--;
    if (k->pool != NULL)
        k->pool->n--;
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
    if (k->pool == NULL)
        return;
    struct xd_circus_clients **at = &k->pool->files;
    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
}

int xd_circus_pool_new(struct xd_circus_pool **out, unsigned most_clients,
                       struct xd_error *err)
{
    *out = xd_alloc(1, sizeof **out);
    if (*out == NULL)
        return xd_fail_nomem(err);
    (*out)->most = most_clients != 0 ? most_clients : POOL_MOST;
    return 0;
}

void xd_circus_pool_free(struct xd_circus_pool *pool)
{
    xd_free(pool);
}

void xd_circus_clients_join(struct xd_circus_clients *k,
                            struct xd_circus_pool *pool)
{
    k->pool = pool;
    if (pool == NULL)
        return;
    k->next = pool->files;
    pool->files = k;
}

/* Compares how many bytes were actually sent.  The ranges in `sent` can add up
 * to more: if a client requests scattered single bytes, the gaps between them
 * are counted, too. */
static bool gives_way(const struct xd_circus_client *c,
                      const struct xd_circus_client *to)
{
    if (c->n_sent != to->n_sent)
        return c->n_sent < to->n_sent;
    return c->seen < to->seen;
}

/* Returns the client that was sent the fewest bytes: an idle client of this
 * file, or `least` (may be NULL).  Anybody can make up new IDs, so a client
 * that received little gives way to one that received much, no matter which of
 * them was first. */
static struct xd_circus_client *least_of(const struct xd_circus_clients *k,
                                         struct xd_circus_client *least)
{
    for (struct xd_circus_client *c = k->first; c != NULL; c = c->next)
        if (c->n_requests == 0 && (least == NULL || gives_way(c, least)))
            least = c;
    return least;
}

static bool make_room(struct xd_circus_clients *k)
{
    if (k->n < k->most)
        return true;
    struct xd_circus_client *least = least_of(k, NULL);
    if (least != NULL)
        xd_circus_clients_forget(k, least);
    return least != NULL;
}

/* Makes room in the pool, first by removing idle clients. */
static bool make_room_in_pool(struct xd_circus_clients *k, xd_usec now)
{
    struct xd_circus_client *least = NULL;
    struct xd_circus_clients *of = NULL;

    if (k->pool == NULL || k->pool->n < k->pool->most)
        return true;
    for (struct xd_circus_clients *f = k->pool->files; f != NULL; f = f->next) {
        xd_circus_clients_forget_old(f, now);
        struct xd_circus_client *c = least_of(f, least);
        of = c != least ? f : of;
        least = c;
    }
    if (k->pool->n < k->pool->most)
        return true;
    if (least != NULL)
        xd_circus_clients_forget(of, least);
    return least != NULL;
}

static struct xd_circus_client *add(struct xd_circus_clients *k, uint64_t id)
{
    struct xd_circus_client *c = xd_alloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->id = id;
    c->suggested = UINT64_MAX;
    c->next = k->first;
    k->first = c;
    k->n++;
    if (k->pool != NULL)
        k->pool->n++;
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
    return make_room(k) && make_room_in_pool(k, now) ? add(k, id) : NULL;
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
    /* Merging two ranges needs no memory, so this cannot fail. */
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
