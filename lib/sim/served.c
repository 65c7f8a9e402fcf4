/* SPDX-License-Identifier: MIT */
/*
 * How a depot treats connections and requests that exceed its limits.
 */
#include "sim/cap.h"
#include "sim/tcp.h"

static const struct xd_path *path_of(struct xd_tcp *t,
                                     const struct xd_connection *c)
{
    return &xd_net_wire(t->net, c->depot)->path;
}

static void answer(struct xd_tcp *t, const struct xd_connection *c,
                   enum xd_packet_kind kind, unsigned stream)
{
    xd_net_to_client(t->net, c->depot,
                     (struct xd_packet){.kind = kind,
                                        .connection = c->number,
                                        .first = stream});
}

static void reset(struct xd_tcp *t, struct xd_connection *c)
{
    answer(t, c, XD_PACKET_RESET, 0);
    if (c->sender.is_served)
        xd_sender_die(&c->sender);
}

static bool is_sending(const struct xd_connection *c)
{
    for (unsigned i = c->first_live; i < c->n_streams; i++)
        if (c->streams[i].is_known && c->streams[i].to_send > 0)
            return true;
    return false;
}

/* Counts the depot's other connections; with `busy`, only those that send. */
static unsigned count_others(const struct xd_tcp *t,
                             const struct xd_connection *c, bool busy)
{
    unsigned n = 0;

    for (unsigned i = 0; i < t->n_connections; i++) {
        const struct xd_connection *other = t->connections[i];

        n += other != c && other->depot == c->depot &&
             other->sender.is_served && !other->sender.is_dead &&
             !other->sender.is_excess && (!busy || is_sending(other));
    }
    return n;
}

static void ban(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_wire *wire = xd_net_wire(t->net, c->depot);

    wire->banned_until = t->net->now + wire->path.ban;
    wire->n_bans++;
    for (unsigned i = 0; i < t->n_connections; i++) {
        struct xd_connection *other = t->connections[i];

        if (other->depot == c->depot && other->sender.is_served &&
            !other->sender.is_dead)
            reset(t, other);
    }
}

/* Returns whether the connection exceeds the depot's limit on connections.  If
 * the depot then bans the client, this also ends all other connections to the
 * depot. */
static bool is_excess(struct xd_tcp *t, struct xd_connection *c, bool busy)
{
    unsigned most = path_of(t, c)->most;

    if (most == 0 || count_others(t, c, busy) < most)
        return false;
    if (path_of(t, c)->ban > 0)
        ban(t, c);
    return true;
}

/* Draws the random properties of a new connection, the same as
 * tests/wan/gate.py. */
static void draw(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_wire *w = xd_net_wire(t->net, c->depot);
    const struct xd_path *p = &w->path;
    double left = 0;

    if (p->hangs > 0)
        c->sender.hangs = xd_sim_uniform(&w->draw_random) < p->hangs;
    if (p->n_draws == 0)
        return;
    for (unsigned i = 0; i < p->n_draws; i++)
        left += p->draws[i].chances;
    left *= xd_sim_uniform(&w->draw_random);
    for (unsigned i = 0; i < p->n_draws && left >= 0; i++) {
        c->sender.drawn = p->draws[i].cap;
        left -= p->draws[i].chances;
    }
}

/* Returns whether the client sends requests too often. */
static bool is_too_often(struct xd_tcp *t, const struct xd_connection *c)
{
    struct xd_wire *w = xd_net_wire(t->net, c->depot);

    if (w->path.asks <= 0)
        return false;
    if (xd_cap_wait(&w->requests, w->path.asks, w->path.spare + 1, t->net->now,
                    1) > 0)
        return true;
    xd_cap_pay(&w->requests, 1);
    return false;
}

bool xd_serves_connection(struct xd_tcp *t, struct xd_connection *c)
{
    const struct xd_path *path = path_of(t, c);
    bool is_refused = path->refuses ||
                      xd_net_wire(t->net, c->depot)->banned_until > t->net->now;

    if (!c->sender.is_served && path->refusal != XD_REFUSAL_STATUS &&
        !is_refused) {
        bool excess = is_excess(t, c, false);

        is_refused =
            excess && (path->refusal == XD_REFUSAL_RESET || path->ban > 0);
        c->sender.is_excess = excess;
    }
    if (is_refused) {
        if (!path->refuses)
            answer(t, c, XD_PACKET_SYN, 0);
        reset(t, c);
    } else if (!c->sender.is_served) {
        c->sender.is_served = true;
        draw(t, c);
    }
    return !is_refused;
}

bool xd_serves_request(struct xd_tcp *t, struct xd_connection *c,
                       unsigned stream)
{
    if (c->sender.is_excess) {
        reset(t, c);
        return false;
    }
    if ((path_of(t, c)->refusal != XD_REFUSAL_STATUS || is_sending(c) ||
         !is_excess(t, c, true)) &&
        !is_too_often(t, c))
        return true;
    if (!c->sender.is_dead)
        answer(t, c, XD_PACKET_REFUSAL, stream);
    return false;
}
