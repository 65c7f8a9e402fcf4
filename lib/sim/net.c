/* SPDX-License-Identifier: MIT */
#include "sim/net.h"

#include "base/alloc.h"

/* Threads wake, a request is written, read and looked up; and what the answer
 * before it left in the buffer was written.  Measured with nginx on the same
 * machine: half a millisecond for 64 KiB, twice that for a buffer of 256. */
#define LEAST_THOUGHT (2 * XD_NSEC_MS / 10)
#define MORE_THOUGHT (XD_NSEC_MS / 2)
#define WRITE_NSEC 3 /* per byte */

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

/* So that a line's luck is its own, whatever lines there are beside it. */
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
        n->wires[i].random = seed_of(&s->lines[i], seed);
        n->wires[i].loss_random = xd_sim_random(&n->wires[i].random);
        n->wires[i].jitter_random = xd_sim_random(&n->wires[i].random);
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

/* When the packet will have left, or -1: it finds no room in the queue. */
static xd_nsec transmit(struct xd_wire *w, xd_nsec now, unsigned bytes)
{
    xd_nsec start = w->busy_until > now ? w->busy_until : now;
    double waiting;

    if (w->path.rate <= 0)
        return now;
    waiting = (double)(start - now) * w->path.rate / 1e9;
    if (waiting + bytes > (double)w->path.queue)
        return -1;
    return w->busy_until = start + (xd_nsec)(bytes / w->path.rate * 1e9);
}

static void put(struct xd_net *n, enum xd_sim_kind kind, xd_nsec at,
                size_t depot, struct xd_packet p)
{
    struct xd_sim_event *e =
        xd_events_put(&n->events, kind, (unsigned)depot, at);

    if (e)
        e->packet = p;
}

/* From the last line of its own to the client's. */
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
    out = transmit(w, n->now, p.bytes + XD_HEADER_BYTES);
    if (out < 0)
        return;
    if (n->scenario->lines[n->depots[depot]].via == XD_NO_LINE)
        travel(n, depot, out, p);
    else
        put(n, XD_SIM_AT_SHARED, out, depot, p);
}

/* How long a request takes beside its way. */
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
    xd_nsec out =
        transmit(&n->wires[via], n->now, e->packet.bytes + XD_HEADER_BYTES);

    if (out >= 0)
        travel(n, e->number, out, e->packet);
}

static void over_access(struct xd_net *n, const struct xd_sim_event *e)
{
    xd_nsec out =
        transmit(&n->wires[0], n->now, e->packet.bytes + XD_HEADER_BYTES);

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
