/* SPDX-License-Identifier: MIT */
#include "depot/disk_queue.h"

#include <stddef.h>

/*
 * Gives a read its turns, which are numbers.  host_turn orders the reads of
 * different hosts, and client_turn orders the reads of one host's clients.  A
 * new read gets the turn after the last waiting read of its host or client.  If
 * its host or client has no waiting reads, it gets the lowest turn in the
 * queue.  When the turn of a host comes, the client turns decide which of its
 * reads is served.
 */
static void give_turns(const struct disk_queue *q, struct disk_wait *w)
{
    uint64_t host = UINT64_MAX, client = UINT64_MAX;
    uint64_t after_host = 0, after_client = 0;

    for (const struct disk_wait *o = q->first; o != NULL; o = o->next) {
        if (o->host_turn < host)
            host = o->host_turn;
        if (o->client.host != w->client.host)
            continue;
        if (o->host_turn >= after_host)
            after_host = o->host_turn + 1;
        if (o->client_turn < client)
            client = o->client_turn;
        if (o->client.id == w->client.id && o->client_turn >= after_client)
            after_client = o->client_turn + 1;
    }
    host = host != UINT64_MAX ? host : 0;
    client = client != UINT64_MAX ? client : 0;
    w->host_turn = host > after_host ? host : after_host;
    w->client_turn = client > after_client ? client : after_client;
}

void disk_queue_put(struct disk_queue *q, struct disk_wait *w)
{
    struct disk_wait **at = &q->first;

    give_turns(q, w);
    while (*at != NULL)
        at = &(*at)->next;
    w->next = NULL;
    *at = w;
}

struct disk_wait *disk_queue_next(struct disk_queue *q)
{
    struct disk_wait *first = q->first, *next;

    for (struct disk_wait *w = q->first; w != NULL; w = w->next)
        if (w->host_turn < first->host_turn)
            first = w;
    next = first;
    for (struct disk_wait *w = q->first; w != NULL; w = w->next)
        if (w->client.host == first->client.host &&
            w->client_turn < next->client_turn)
            next = w;
    if (next !=
        /* another client of this host goes first, so the two reads swap
         * turns */
        first) {
        const uint64_t turn = first->host_turn;
        first->host_turn = next->host_turn;
        next->host_turn = turn;
    }
    return next;
}

void disk_queue_remove(struct disk_queue *q, struct disk_wait *w)
{
    struct disk_wait **at = &q->first;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

struct disk_wait *disk_queue_take(struct disk_queue *q,
                                  const struct disk_file *f, uint64_t begin,
                                  uint64_t end)
{
    struct disk_wait **at = &q->first, *taken = NULL;

    while (*at != NULL) {
        struct disk_wait *w = *at;
        if (w->file != f || w->at < begin || w->at >= end) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->ready = end;
        w->next = taken;
        taken = w;
    }
    return taken;
}

struct disk_wait *disk_queue_take_all(struct disk_queue *q)
{
    struct disk_wait *taken = q->first;

    q->first = NULL;
    for (struct disk_wait *w = taken; w != NULL; w = w->next)
        w->ready = w->at;
    return taken;
}
