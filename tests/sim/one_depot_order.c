/* SPDX-License-Identifier: MIT */
#include "one_depot_order.h"

#include <stdio.h>
#include <stdlib.h>

#include "circus/circus.h"

/* A client at its file. */
struct reader {
    uint32_t file;
    struct xd_circus_client *client; /* by Circus */
    uint64_t at, end; /* bytes that were chosen, and not yet handed out */
    bool *is_chosen;  /* each block: handed out */
    uint32_t n_chosen, first_missing; /* blocks; none before it is missing */
};

struct one_depot_order {
    const struct one_depot *o;
    uint32_t per_file, n_clients;
    struct xd_circus **files; /* by Circus */
    struct reader *readers;
};

static void check(bool has_memory)
{
    if (!has_memory) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
}

static struct xd_circus *new_file(const struct one_depot *o, uint32_t n_clients)
{
    const struct xd_circus_rules rules = {
        .block_bytes = o->block_bytes,
        .active_bytes = o->active_bytes,
        .leapfront_bytes = o->leapfront_bytes,
        .independent_from = o->threshold,
        .most_clients = n_clients,
        .leaps_freely = !o->leaps_bounded,
    };
    struct xd_circus *c;

    check(xd_circus_new(&c, o->file_bytes, &rules, NULL) == 0);
    return c;
}

struct one_depot_order *one_depot_order_new(const struct one_depot *o,
                                            uint32_t n_clients)
{
    struct one_depot_order *order = calloc(1, sizeof *order);

    check(order);
    order->o = o;
    order->n_clients = n_clients;
    order->per_file =
        (uint32_t)((o->file_bytes + o->block_bytes - 1) / o->block_bytes);
    order->files = calloc(o->n_files, sizeof *order->files);
    order->readers = calloc(n_clients + 1, sizeof *order->readers);
    check(order->files && order->readers);
    for (uint32_t i = 0; !o->is_in_order && i < o->n_files; i++)
        order->files[i] = new_file(o, n_clients + 1);
    return order;
}

void one_depot_order_free(struct one_depot_order *order)
{
    for (uint32_t i = 0; i < order->n_clients; i++)
        free(order->readers[i].is_chosen);
    for (uint32_t i = 0; i < order->o->n_files; i++)
        xd_circus_free(order->files[i]);
    free(order->files);
    free(order->readers);
    free(order);
}

void one_depot_order_begin(struct one_depot_order *order, uint32_t client,
                           uint32_t file, uint64_t now_us)
{
    struct reader *r = &order->readers[client];

    *r = (struct reader){.file = file};
    r->is_chosen = calloc(order->per_file, sizeof *r->is_chosen);
    check(r->is_chosen);
    if (order->o->is_in_order) {
        r->end = order->o->file_bytes;
        return;
    }
    r->client = xd_circus_enter(order->files[file], client, now_us);
    check(r->client);
}

void one_depot_order_end(struct one_depot_order *order, uint32_t client,
                         uint64_t now_us)
{
    struct reader *r = &order->readers[client];

    free(r->is_chosen);
    r->is_chosen = NULL;
    xd_circus_leave(order->files[r->file], r->client, now_us);
}

/* A block of what the library would send next; or all of that, as a client asks
 * for it that takes the depot's hint. */
static bool choose(const struct one_depot *o, struct xd_circus *file,
                   struct reader *r, uint64_t now_us)
{
    uint64_t begin, end;

    if (!xd_circus_next(file, r->client, now_us, &begin, &end))
        return false;
    if (!o->takes_ranges) {
        const uint64_t edge = begin + o->block_bytes;

        end = edge < end ? edge : end;
    }
    xd_circus_send(file, r->client, begin, end, now_us);
    r->at = begin;
    r->end = end;
    return true;
}

/* Where a client has too many gaps the library forgets some.  Once it names nothing
 * more, a client asks for what it misses in order. */
static void choose_missing(const struct one_depot_order *order,
                           struct reader *r, uint64_t now_us)
{
    while (r->is_chosen[r->first_missing])
        r->first_missing++;
    r->at = (uint64_t)r->first_missing * order->o->block_bytes;
    r->end = r->at + order->o->block_bytes;
    xd_circus_send(order->files[r->file], r->client, r->at, r->end, now_us);
}

uint32_t one_depot_order_next(struct one_depot_order *order, uint32_t client,
                              uint64_t now_us)
{
    struct reader *r = &order->readers[client];
    uint32_t block;

    if (r->n_chosen == order->per_file)
        return ONE_DEPOT_NONE;
    if (r->at >= r->end && !choose(order->o, order->files[r->file], r, now_us))
        choose_missing(order, r, now_us);
    block = (uint32_t)(r->at / order->o->block_bytes);
    r->at += order->o->block_bytes;
    r->is_chosen[block] = true;
    r->n_chosen++;
    return r->file * order->per_file + block;
}
