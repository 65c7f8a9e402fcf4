/* SPDX-License-Identifier: MIT */
#include "sim/net.h"

#include "base/alloc.h"

/* Time for waking a thread, sending a request and handling it at the depot,
 * plus writing what the previous response left in the buffer.  Measured with
 * nginx on the same machine: 0.5 ms for 64 KiB, twice that for 256 KiB. */
#define LEAST_THOUGHT (2 * XD_NSEC_MS / 10)
#define MORE_THOUGHT (XD_NSEC_MS / 2)
#define WRITE_NSEC 3 /* nanoseconds to write a byte */

uint64_t xd_sim_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double xd_sim_uniform(uint64_t *state)
{
    return (double)(xd_sim_random(state) >> 11) / 9007199254740992.0;
}

/* Makes a line's random numbers independent of other lines. */
static uint64_t seed_of(const struct xd_scenario_line *line, uint64_t seed)
{
    for (const char *c = line->name; *c != '\0'; c++)
        seed = xd_sim_random(&seed) ^ (unsigned char)*c;
    return seed;
}

int xd_net_init(struct xd_net *n, const struct xd_scenario *s, uint64_t seed)
{
    *n = (struct xd_net){.scenario = s};
    n->wires = xd_alloc(s->n_lines, sizeof *n->wires);
    n->depots = xd_alloc(s->n_depots, sizeof *n->depots);
    if (!n->wires || !n->depots)
        return XD_E_NOMEM;
    for (size_t i = 0; i < s->n_lines; i++) {
        n->wires[i].path = s->lines[i].path;
        n->wires[i].requests.is_new = true;
        n->wires[i].random = seed_of(&s->lines[i], seed);
        n->wires[i].loss_random = xd_sim_random(&n->wires[i].random);
        n->wires[i].jitter_random = xd_sim_random(&n->wires[i].random);
        n->wires[i].draw_random = seed_of(&s->lines[i], ~seed);
        n->wires[i].think_random = xd_sim_random(&n->wires[i].draw_random);
        if (s->lines[i].depot != XD_NO_LINE)
            n->depots[s->lines[i].depot] = i;
    }
    return 0;
}

void xd_net_fini(struct xd_net *n)
{
    xd_events_fini(&n->events);
    xd_free(n->wires);
    xd_free(n->depots);
}

/* A period in which the rate of a line is constant. */
struct stretch {
    double rate; /* rate of the line in bytes per second; 0: unlimited */
    size_t next; /* index of the change that ends the period */
};

static xd_nsec end_of(const struct xd_net *n, const struct stretch *s)
{
    return s->next < n->scenario->n_changes ? n->scenario->changes[s->next].at
                                            : INT64_MAX;
}

static void go_to_next(const struct xd_net *n, size_t line, struct stretch *s)
{
    const struct xd_change *c = &n->scenario->changes[s->next++];
    struct xd_path path = {.rate = s->rate};

    if (c->line == line)
        xd_path_apply(&path, c->key, c->value);
    s->rate = path.rate;
}

/* Returns how many bytes leave the queue from now until `until`. */
static double carried(const struct xd_net *n, size_t line, struct stretch *s,
                      xd_nsec until)
{
    xd_nsec from = n->now;
    double bytes = 0;

    for (; end_of(n, s) < until; go_to_next(n, line, s)) {
        bytes += (double)(end_of(n, s) - from) * s->rate / 1e9;
        from = end_of(n, s);
    }
    return bytes + (double)(until - from) * s->rate / 1e9;
}

/* Returns the time at which the first `bytes` of the queue at time `from` will
 * have left. */
static xd_nsec leaves_at(const struct xd_net *n, size_t line, struct stretch *s,
                         xd_nsec from, double bytes)
{
    while (s->rate > 0) {
        xd_nsec takes = (xd_nsec)(bytes / s->rate * 1e9);

        if (takes <= end_of(n, s) - from)
            return from + takes;
        bytes -= (double)(end_of(n, s) - from) * s->rate / 1e9;
        from = end_of(n, s);
        go_to_next(n, line, s);
    }
    return from;
}

/* Returns the time at which the packet will have left; -1 if the queue is
 * full. */
static xd_nsec transmit(struct xd_net *n, size_t line, unsigned bytes)
{
    struct xd_wire *w = &n->wires[line];
    xd_nsec start = w->busy_until > n->now ? w->busy_until : n->now;
    struct stretch s = {.rate = w->path.rate, .next = n->next_change};

    if (w->path.rate <= 0)
        return n->now;
    if (carried(n, line, &s, start) + bytes > (double)w->path.queue)
        return -1;
    return w->busy_until = leaves_at(n, line, &s, start, bytes);
}

static void put(struct xd_net *n, enum xd_sim_kind kind, xd_nsec at,
                size_t depot, struct xd_packet p)
{
    struct xd_sim_event *e =
        xd_events_put(&n->events, kind, (unsigned)depot, at);

    if (e)
        e->packet = p;
}

/* Moves a packet from the depot's own lines to the client's. */
static void travel(struct xd_net *n, size_t depot, xd_nsec out,
                   struct xd_packet p)
{
    struct xd_wire *w = xd_net_wire(n, depot);

    out += w->path.delay;
    if (w->path.jitter > 0)
        out += (xd_nsec)(xd_sim_uniform(&w->jitter_random) *
                         (double)w->path.jitter);
    if (out < w->last_out)
        out = w->last_out;
    w->last_out = out;
    put(n, XD_SIM_AT_ACCESS, out, depot, p);
}

void xd_net_to_client(struct xd_net *n, size_t depot, struct xd_packet p)
{
    struct xd_wire *w = xd_net_wire(n, depot);
    xd_nsec out;

    if (w->path.is_down ||
        (w->path.loss > 0 && xd_sim_uniform(&w->loss_random) < w->path.loss))
        return;
    out = transmit(n, n->depots[depot], p.bytes + XD_HEADER_BYTES);
    if (out < 0)
        return;
    if (n->scenario->lines[n->depots[depot]].via == XD_NO_LINE)
        travel(n, depot, out, p);
    else
        put(n, XD_SIM_AT_SHARED, out, depot, p);
}

/* Returns the processing time of a request. */
static xd_nsec think(struct xd_wire *w, unsigned bytes)
{
    return LEAST_THOUGHT + WRITE_NSEC * (xd_nsec)bytes +
           (xd_nsec)(xd_sim_uniform(&w->random) * (double)MORE_THOUGHT);
}

void xd_net_to_depot(struct xd_net *n, size_t depot, struct xd_packet p)
{
    const struct xd_path *path = &xd_net_wire(n, depot)->path;
    xd_nsec at = n->now;

    if (p.kind == XD_PACKET_REQUEST)
        at += think(xd_net_wire(n, depot), p.bytes);
    if (!path->is_down)
        put(n, XD_SIM_AT_DEPOT, at + path->delay, depot, p);
}

void xd_net_timer(struct xd_net *n, enum xd_sim_kind kind, xd_nsec at,
                  unsigned number, uint64_t life)
{
    struct xd_sim_event *e = xd_events_put(&n->events, kind, number, at);

    if (e)
        e->life = life;
}

static void over_shared(struct xd_net *n, const struct xd_sim_event *e)
{
    size_t via = n->scenario->lines[n->depots[e->number]].via;
    xd_nsec out = transmit(n, via, e->packet.bytes + XD_HEADER_BYTES);

    if (out >= 0)
        travel(n, e->number, out, e->packet);
}

static void over_access(struct xd_net *n, const struct xd_sim_event *e)
{
    xd_nsec out = transmit(n, 0, e->packet.bytes + XD_HEADER_BYTES);

    if (out >= 0)
        put(n, XD_SIM_AT_CLIENT, out, e->number, e->packet);
}

static void apply_changes(struct xd_net *n, xd_nsec until)
{
    const struct xd_scenario *s = n->scenario;

    for (; n->next_change < s->n_changes &&
           s->changes[n->next_change].at <= until;
         n->next_change++) {
        const struct xd_change *c = &s->changes[n->next_change];

        xd_path_apply(&n->wires[c->line].path, c->key, c->value);
    }
}

bool xd_net_next(struct xd_net *n, xd_nsec until, struct xd_sim_event *out)
{
    while (xd_events_take(&n->events, until, out)) {
        n->now = out->at;
        apply_changes(n, n->now);
        if (out->kind == XD_SIM_AT_CLIENT && out->packet.kind == XD_PACKET_DATA)
            xd_net_wire(n, out->number)->delivered += out->packet.bytes;
        if (out->kind == XD_SIM_AT_SHARED)
            over_shared(n, out);
        else if (out->kind == XD_SIM_AT_ACCESS)
            over_access(n, out);
        else
            return true;
    }
    return false;
}
