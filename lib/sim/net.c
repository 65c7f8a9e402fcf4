#include "sim/net.h"

#include "base/alloc.h"

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

int xd_net_init(struct xd_net *n, const struct xd_scenario *s, uint64_t seed)
{
    *n = (struct xd_net){
        .scenario = s, .client.path = s->client, .random = seed};
    n->depots = xd_alloc(s->n_depots, sizeof *n->depots);
    if (!n->depots)
        return XD_E_NOMEM;
    for (size_t i = 0; i < s->n_depots; i++)
        n->depots[i].path = s->depots[i].path;
    return 0;
}

void xd_net_fini(struct xd_net *n)
{
    xd_events_fini(&n->events);
    xd_free(n->depots);
}

/* When the packet will have left, or -1: it finds no room in the queue. */
static xd_nsec transmit(struct xd_link *l, xd_nsec now, unsigned bytes)
{
    xd_nsec start = l->busy_until > now ? l->busy_until : now;
    double waiting;

    if (l->path.rate <= 0)
        return now;
    waiting = (double)(start - now) * l->path.rate / 1e9;
    if (waiting + bytes > (double)l->path.queue)
        return -1;
    return l->busy_until = start + (xd_nsec)(bytes / l->path.rate * 1e9);
}

void xd_net_to_client(struct xd_net *n, size_t depot, struct xd_packet p)
{
    struct xd_link *l = &n->depots[depot];
    xd_nsec out;

    if (l->path.is_down ||
        (l->path.loss > 0 && xd_sim_uniform(&n->random) < l->path.loss))
        return;
    out = transmit(l, n->now, p.bytes + XD_HEADER_BYTES);
    if (out < 0)
        return;
    out += l->path.delay;
    if (l->path.jitter > 0)
        out += (xd_nsec)(xd_sim_uniform(&n->random) * (double)l->path.jitter);
    if (out < l->last_out)
        out = l->last_out;
    l->last_out = out;
    xd_events_put(&n->events, (struct xd_sim_event){.at = out,
                                                    .kind = XD_SIM_AT_ACCESS,
                                                    .number = (unsigned)depot,
                                                    .packet = p});
}

void xd_net_to_depot(struct xd_net *n, size_t depot, struct xd_packet p)
{
    const struct xd_path *path = &n->depots[depot].path;

    if (!path->is_down)
        xd_events_put(&n->events,
                      (struct xd_sim_event){.at = n->now + path->delay,
                                            .kind = XD_SIM_AT_DEPOT,
                                            .number = (unsigned)depot,
                                            .packet = p});
}

void xd_net_timer(struct xd_net *n, enum xd_sim_kind kind, xd_nsec at,
                  unsigned number, uint64_t life)
{
    xd_events_put(&n->events,
                  (struct xd_sim_event){
                      .at = at, .kind = kind, .number = number, .life = life});
}

static void over_access(struct xd_net *n, struct xd_sim_event *e)
{
    xd_nsec out =
        transmit(&n->client, n->now, e->packet.bytes + XD_HEADER_BYTES);

    if (out < 0)
        return;
    e->at = out;
    e->kind = XD_SIM_AT_CLIENT;
    xd_events_put(&n->events, *e);
}

static void apply_changes(struct xd_net *n, xd_nsec until)
{
    const struct xd_scenario *s = n->scenario;

    for (; n->next_change < s->n_changes &&
           s->changes[n->next_change].at <= until;
         n->next_change++) {
        const struct xd_change *c = &s->changes[n->next_change];
        struct xd_link *l =
            c->depot == XD_CLIENT ? &n->client : &n->depots[c->depot];

        xd_path_apply(&l->path, c->key, c->value);
    }
}

bool xd_net_next(struct xd_net *n, xd_nsec until, struct xd_sim_event *out)
{
    while (n->events.n > 0 && n->events.heap[0].at <= until) {
        xd_events_take(&n->events, out);
        n->now = out->at;
        apply_changes(n, n->now);
        if (out->kind == XD_SIM_AT_CLIENT && out->packet.kind == XD_PACKET_DATA)
            n->depots[out->number].delivered += out->packet.bytes;
        if (out->kind != XD_SIM_AT_ACCESS)
            return true;
        over_access(n, out);
    }
    return false;
}
