/* SPDX-License-Identifier: MIT */
#include "one_depot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "one_depot_memory.h"
#include "one_depot_order.h"
#include "sim/events.h"
#include "sim/net.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define NONE ONE_DEPOT_NONE

/*
 * What becomes of a block of a client: it is chosen (queue), then asked of the
 * memory or the disk (next), then sent (sending).
 */
struct client {
    bool has_arrived, is_next_ready;
    unsigned link;
    uint32_t file;
    xd_nsec arrives;
    uint32_t queue[ONE_DEPOT_MOST_QUEUE], first, n_queued;
    uint32_t next, sending; /* blocks; NONE */
    uint32_t next_waiter;   /* for the same block */
    uint32_t n_sent;        /* blocks */
    unsigned char *is_sent; /* each block of its file */
};

struct depot {
    const struct one_depot *o;
    struct one_depot_result *r;
    struct one_depot_memory memory;
    struct one_depot_order *order;
    struct xd_events events;
    struct client *clients; /* all that will ever arrive, in order of time */
    uint32_t n_clients, n_here;

    uint32_t *reads, first_read, n_reads; /* a ring of blocks; the first is
                                             being read */
    uint32_t after_arm; /* the block that the disk reads without positioning */
    xd_nsec line_free;

    xd_nsec now, from, until;
    uint64_t sent, read, n_read, n_positioned; /* measured so far */
    double busy, present;                      /* seconds; clients x seconds */
};

struct one_depot one_depot_paper(void)
{
    return (struct one_depot){.file_bytes = 512 * MIB,
                              .memory_bytes = 192 * MIB,
                              .client_bytes = MIB,
                              .n_files = 1,
                              .block_bytes = 64 * KIB,
                              .positioning_s = 0.005,
                              .disk_rate = 33.0 * (double)MIB,
                              .line_rate = 128.0 * (double)MIB,
                              .queue = 5,
                              .active_bytes = 16 * MIB,
                              .leapfront_bytes = 16 * MIB,
                              .threshold = 0.75,
                              .from_s = 1800,
                              .until_s = 5400,
                              .seed = 1};
}

static void *room(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);

    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return p;
}

static xd_nsec nsec(double seconds)
{
    return (xd_nsec)(seconds * (double)XD_NSEC_SECOND + 0.5);
}

static double seconds(xd_nsec t)
{
    return (double)t / (double)XD_NSEC_SECOND;
}

static uint64_t usec(xd_nsec t)
{
    return (uint64_t)t / 1000;
}

/* ---- what is measured ---- */

static bool is_measured(const struct depot *d)
{
    return d->now > d->from && d->now <= d->until;
}

/* Seconds of [a, b] that are measured. */
static double measured(const struct depot *d, xd_nsec a, xd_nsec b)
{
    a = a > d->from ? a : d->from;
    b = b < d->until ? b : d->until;
    return b > a ? seconds(b - a) : 0;
}

static void put(struct depot *d, enum xd_sim_kind kind, uint32_t number,
                xd_nsec at)
{
    if (!xd_events_put(&d->events, kind, number, at)) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
}

/* ---- the disk ---- */

static void read_next(struct depot *d)
{
    const uint32_t block = d->reads[d->first_read];
    const bool follows =
        block == d->after_arm && block % d->memory.per_file != 0;
    const uint32_t bytes = one_depot_block_bytes(&d->memory, block);
    const xd_nsec took =
        nsec((follows ? 0 : d->o->positioning_s) + bytes / d->o->disk_rate);

    d->n_positioned += !follows && is_measured(d);
    d->after_arm = block + 1;
    d->busy += measured(d, d->now, d->now + took);
    put(d, XD_SIM_DEPOT_TIMER, block, d->now + took);
}

/* The ring has room for each client's one block. */
static void ask_disk(struct depot *d, uint32_t block)
{
    one_depot_begin_read(&d->memory, block);
    d->reads[(d->first_read + d->n_reads) % d->n_clients] = block;
    if (d->n_reads++ == 0)
        read_next(d);
}

/* ---- from the memory to a client ---- */

static void send_next(struct depot *d, struct client *c);

static void next_is_ready(struct depot *d, struct client *c)
{
    one_depot_pin(&d->memory, c->next);
    c->is_next_ready = true;
    if (c->sending == NONE)
        send_next(d, c);
}

static void fetch(struct depot *d, struct client *c)
{
    struct one_depot_block *b = &d->memory.blocks[c->next];

    c->is_next_ready = false;
    if (b->state == ONE_DEPOT_HELD) {
        next_is_ready(d, c);
        return;
    }
    c->next_waiter = b->waiter;
    b->waiter = (uint32_t)(c - d->clients);
    if (b->state == ONE_DEPOT_ABSENT)
        ask_disk(d, c->next);
}

static void fill_queue(struct depot *d, struct client *c)
{
    while (c->n_queued < d->o->queue) {
        const uint32_t block = one_depot_order_next(
            d->order, (uint32_t)(c - d->clients), usec(d->now));

        if (block == NONE)
            return;
        XD_ASSERT(block / d->memory.per_file == c->file);
        c->queue[(c->first + c->n_queued++) % d->o->queue] = block;
    }
}

/* The next block of the queue is asked for, and another chosen in its place. */
static void advance(struct depot *d, struct client *c)
{
    fill_queue(d, c);
    if (c->n_queued == 0)
        return;
    c->next = c->queue[c->first];
    c->first = (c->first + 1) % d->o->queue;
    c->n_queued--;
    fill_queue(d, c);
    fetch(d, c);
}

/* The line of the depot takes blocks in turn. */
static void send_next(struct depot *d, struct client *c)
{
    const double bytes = one_depot_block_bytes(&d->memory, c->next);
    const double rate = d->o->links[c->link].rate;
    const xd_nsec begins = d->line_free > d->now ? d->line_free : d->now;

    c->sending = c->next;
    c->next = NONE;
    d->line_free = begins + nsec(bytes / d->o->line_rate);
    put(d, XD_SIM_CLIENT_TIMER, (uint32_t)(c - d->clients),
        begins + nsec(bytes / fmin(rate, d->o->line_rate)));
    advance(d, c);
}

static void disk_has_read(struct depot *d, uint32_t block)
{
    const uint32_t bytes = one_depot_block_bytes(&d->memory, block);
    uint32_t i = d->memory.blocks[block].waiter;

    XD_ASSERT(d->reads[d->first_read] == block && i != NONE);
    d->r->read_bytes += bytes;
    d->read += is_measured(d) ? bytes : 0;
    d->n_read += is_measured(d);
    d->first_read = (d->first_read + 1) % d->n_clients;
    d->memory.blocks[block].waiter = NONE;
    one_depot_end_read(&d->memory, block);
    if (--d->n_reads > 0)
        read_next(d);
    while (i != NONE) {
        struct client *c = &d->clients[i];

        i = c->next_waiter;
        next_is_ready(d, c);
    }
}

/* ---- clients ---- */

static void leave_room_for_clients(struct depot *d)
{
    const uint64_t all = d->o->memory_bytes, least = all / 16;
    const uint64_t taken = d->n_here * d->o->client_bytes;

    one_depot_memory_resize(&d->memory,
                            taken + least < all ? all - taken : least);
}

static void arrive(struct depot *d, struct client *c)
{
    const uint32_t number = (uint32_t)(c - d->clients);

    c->has_arrived = true;
    c->is_sent = room(d->memory.per_file, 1);
    d->r->n_arrived++;
    d->r->asked_bytes += d->o->file_bytes;
    d->n_here++;
    leave_room_for_clients(d);
    if (number + 1 < d->n_clients)
        put(d, XD_SIM_CLIENT_TIMER, number + 1, c[1].arrives);
    one_depot_order_begin(d->order, number, c->file, usec(d->now));
    advance(d, c);
}

static void leave(struct depot *d, struct client *c)
{
    const double took = seconds(d->now - c->arrives);

    d->present += measured(d, c->arrives, d->now);
    if (is_measured(d)) {
        d->r->links[c->link].n++;
        d->r->links[c->link].mean_s += took;
    }
    d->n_here--;
    leave_room_for_clients(d);
    d->r->n_done++;
    free(c->is_sent);
    c->is_sent = NULL;
    one_depot_order_end(d->order, (uint32_t)(c - d->clients), usec(d->now));
}

static void block_is_sent(struct depot *d, struct client *c)
{
    const uint32_t bytes = one_depot_block_bytes(&d->memory, c->sending);
    const uint32_t place = c->sending % d->memory.per_file;

    XD_ASSERT(!c->is_sent[place]);
    c->is_sent[place] = 1;
    c->n_sent++;
    d->r->sent_bytes += bytes;
    d->sent += is_measured(d) ? bytes : 0;
    one_depot_unpin(&d->memory, c->sending);
    c->sending = NONE;
    if (c->n_sent == d->memory.per_file)
        leave(d, c);
    else if (c->next != NONE && c->is_next_ready)
        send_next(d, c);
}

/* ---- a run ---- */

static unsigned draw_link(const struct one_depot *o, uint64_t *random)
{
    double u = xd_sim_uniform(random);
    unsigned link = 0;

    while (link + 1 < o->n_links && u >= o->links[link].share)
        u -= o->links[link++].share;
    return link;
}

/* Files fill the line at load 1; arrivals are Poisson.  Returns how many come,
 * and writes them down if there is room. */
static uint32_t draw_clients(const struct one_depot *o, struct client *out)
{
    const double gap = (double)o->file_bytes / o->line_rate / o->load;
    uint64_t random = o->seed * 104729 + 7;
    uint32_t n = 0;

    for (double at = 0;; n++) {
        at += -log(1 - xd_sim_uniform(&random)) * gap;
        if (at >= o->until_s)
            return n;
        const unsigned link = draw_link(o, &random);
        const uint32_t file = (uint32_t)(xd_sim_random(&random) % o->n_files);
        if (out)
            out[n] = (struct client){.link = link,
                                     .file = file,
                                     .arrives = nsec(at),
                                     .next = NONE,
                                     .sending = NONE};
    }
}

static void step(struct depot *d, const struct xd_sim_event *e)
{
    struct client *c = &d->clients[e->number];

    d->now = e->at;
    if (e->kind == XD_SIM_DEPOT_TIMER)
        disk_has_read(d, e->number);
    else if (c->has_arrived)
        block_is_sent(d, c);
    else
        arrive(d, c);
}

static void sum(struct depot *d)
{
    struct one_depot_result *r = d->r;
    const double s = d->o->until_s - d->o->from_s;
    uint32_t offered = 0;

    for (uint32_t i = 0; i < d->n_clients; i++) {
        struct client *c = &d->clients[i];

        offered += c->arrives > d->from;
        if (c->is_sent)
            d->present += measured(d, c->arrives, d->until);
        free(c->is_sent);
    }
    for (uint32_t i = 0; i < d->memory.n_blocks; i++)
        if (d->memory.blocks[i].has_been_sent)
            r->distinct_bytes += one_depot_block_bytes(&d->memory, i);
    r->offered = (double)offered * (double)d->o->file_bytes / s;
    r->sent = (double)d->sent / s;
    r->read = (double)d->read / s;
    r->busy = d->busy / s;
    r->clients = d->present / s;
    r->positioned = (double)d->n_positioned / fmax(1, (double)d->n_read);
    for (unsigned i = 0; i < d->o->n_links; i++)
        r->links[i].mean_s /= r->links[i].n; /* NAN: none ended */
}

struct one_depot_result one_depot_run(const struct one_depot *o)
{
    struct one_depot_result r = {.sent = 0};
    struct depot d = {.o = o,
                      .r = &r,
                      .n_clients = draw_clients(o, NULL),
                      .after_arm = NONE,
                      .from = nsec(o->from_s),
                      .until = nsec(o->until_s)};
    struct xd_sim_event e;

    XD_ASSERT(o->queue > 0 && o->queue <= ONE_DEPOT_MOST_QUEUE);
    d.clients = room(d.n_clients, sizeof *d.clients);
    d.reads = room(d.n_clients, sizeof *d.reads);
    draw_clients(o, d.clients);
    one_depot_memory_init(&d.memory, o->file_bytes, o->n_files, o->block_bytes,
                          o->memory_bytes);
    d.order = one_depot_order_new(o, d.n_clients);
    if (d.n_clients > 0)
        put(&d, XD_SIM_CLIENT_TIMER, 0, d.clients[0].arrives);
    while (xd_events_take(&d.events, o->is_drained ? INT64_MAX : d.until, &e))
        step(&d, &e);
    sum(&d);
    one_depot_order_free(d.order);
    one_depot_memory_fini(&d.memory);
    xd_events_fini(&d.events);
    free(d.clients);
    free(d.reads);
    return r;
}
