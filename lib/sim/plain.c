/*
 * No scheduler: each depot sends as much as its TCP can, and all of it counts.
 */
#include "sim/run.h"
#include "sim/tcp.h"

#define MOST_TIME (3600 * XD_NSEC_SECOND)

static void count(void *user, unsigned tag, uint64_t n)
{
    (void)tag;
    *(uint64_t *)user += n;
}

static void broken(void *user, unsigned tag)
{
    (void)user;
    (void)tag;
}

static void ask_all(struct xd_tcp *t, const struct xd_scenario *s,
                    uint64_t size)
{
    for (unsigned i = 0; i < s->n_depots && !t->failed; i++) {
        struct xd_connection *c;

        if (xd_scenario_depot(s, i)->path.lies)
            continue;
        c = xd_tcp_connect(t, i);
        if (c)
            xd_tcp_request(t, c, i, size);
    }
}

int xd_sim_plain(const struct xd_scenario *s, const struct xd_sim_options *o,
                 xd_usec *out)
{
    uint64_t got = 0;
    struct xd_tcp_user user = {&got, count, broken};
    struct xd_sim_event e;
    struct xd_tcp tcp;
    struct xd_net net;
    int rc = xd_net_init(&net, s, o->seed);

    xd_tcp_init(&tcp, &net, &user);
    tcp.has_tls = o->has_tls;
    tcp.has_bbr = o->has_bbr;
    if (rc == 0)
        ask_all(&tcp, s, o->size);
    while (rc == 0 && got < o->size && xd_net_next(&net, MOST_TIME, &e)) {
        xd_tcp_event(&tcp, &e);
        if (tcp.failed || net.events.failed)
            rc = XD_E_NOMEM;
    }
    *out = got < o->size ? XD_NEVER : (xd_usec)(net.now / 1000);
    xd_tcp_fini(&tcp);
    xd_net_fini(&net);
    return rc;
}
