/* SPDX-License-Identifier: MIT */
/*
 * No scheduler: each depot sends as much as its TCP can, and all of it counts.
 * One whose connections are bounded is asked over as many as a scheduler may
 * use.
 */
#include "plain.h"

#include "sim/request.h"
#include "sim/tcp.h"

#define MOST_TIME (3600 * XD_NSEC_SECOND)

struct plain {
    const struct xd_sim_options *o;
    struct xd_net net;
    uint64_t got;
    xd_usec stalled;
};

/* The first byte that cannot be shown yet was needed since when? */
static void look_at_player(struct plain *p)
{
    const struct xd_sim_player *player = &p->o->player;
    uint64_t piece = p->o->piece_bytes > 0 ? p->o->piece_bytes : 1;
    uint64_t shown = p->got - p->got % piece;
    xd_usec now = xd_run_usec(p->net.now), at;

    if (player->bytes_per_s == 0)
        return;
    at = player->prebuffer +
         (xd_usec)((double)shown / (double)player->bytes_per_s * XD_SECOND);
    if (now > at + p->stalled)
        p->stalled = now - at;
}

static void count(void *user, unsigned tag, uint64_t n)
{
    struct plain *p = user;

    (void)tag;
    look_at_player(p);
    p->got += n;
}

static void broken(void *user, unsigned tag, xd_nsec retry)
{
    (void)user;
    (void)tag;
    (void)retry;
}

static void ask(struct xd_tcp *t, unsigned depot, unsigned connections,
                uint64_t size)
{
    for (unsigned i = 0; i < connections && !t->failed; i++) {
        struct xd_connection *c = xd_tcp_connect(t, depot);

        if (c)
            xd_tcp_request(t, c, depot, size);
    }
}

static void ask_all(struct xd_tcp *t, const struct xd_scenario *s,
                    unsigned connections, uint64_t size)
{
    for (unsigned i = 0; i < s->n_depots; i++) {
        const struct xd_path *path = &xd_scenario_depot(s, i)->path;

        if (!path->lies)
            ask(t, i, xd_path_connections(path, connections), size);
    }
}

int xd_sim_plain(const struct xd_scenario *s, const struct xd_sim_options *o,
                 xd_usec *out_took, xd_usec *out_stalled)
{
    struct plain p = {.o = o};
    struct xd_tcp_user user = {&p, count, broken, NULL};
    struct xd_sim_event e;
    struct xd_tcp tcp;
    int rc = xd_net_init(&p.net, s, o->seed);

    xd_tcp_init(&tcp, &p.net, &user);
    tcp.has_tls = o->has_tls;
    tcp.has_bbr = o->has_bbr;
    if (rc == 0)
        ask_all(&tcp, s, o->sched.lanes_per_depot, o->size);
    while (rc == 0 && p.got < o->size && xd_net_next(&p.net, MOST_TIME, &e)) {
        xd_tcp_event(&tcp, &e);
        if (tcp.failed || p.net.events.failed)
            rc = XD_E_NOMEM;
    }
    *out_took = p.got < o->size ? XD_NEVER : xd_run_usec(p.net.now);
    *out_stalled = p.got < o->size ? XD_NEVER : p.stalled;
    xd_tcp_fini(&tcp);
    xd_net_fini(&p.net);
    return rc;
}
