/* SPDX-License-Identifier: MIT */
#include "circus/clients.h"

#include <stddef.h>

#include "base/alloc.h"

static void unlink_at(struct xd_circus_clients *k, struct xd_circus_client **at)
{
    struct xd_circus_client *client = *at;

    *at = client->next;
    k->n--;
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
            (least == NULL || c->sent.n_set <= least->sent.n_set))
            least = c;
    return least;
}

/* The bits lie behind the client. */
static struct xd_circus_client *add(struct xd_circus_clients *k, uint64_t id,
                                    uint64_t size, uint64_t block)
{
    const size_t n = (size_t)xd_block_set_n(size, block);
    struct xd_circus_client *c =
        xd_alloc(1, sizeof *c + xd_block_set_words(n) * sizeof *c->sent.bits);

    if (c == NULL)
        return NULL;
    *c = (struct xd_circus_client){
        .next = k->first,
        .id = id,
        .sent = {.size = size,
                 .block = block,
                 .n = n,
                 .bits = (uint64_t *)(void *)(c + 1)}};
    k->first = c;
    k->n++;
    return c;
}

struct xd_circus_client *xd_circus_clients_find(struct xd_circus_clients *k,
                                                uint64_t id, uint64_t size,
                                                uint64_t block, xd_usec now)
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
    return add(k, id, size, block);
}
