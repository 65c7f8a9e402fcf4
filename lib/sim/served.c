/* SPDX-License-Identifier: MIT */
/*
 * A depot that serves only so many connections of a client at a time: what a
 * further one meets.
 */
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

/* How many others it serves; with `busy` those that it sends something. */
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

/* One more than it serves: that a ban follows ends all others as well. */
static bool is_excess(struct xd_tcp *t, struct xd_connection *c, bool busy)
{
    unsigned most = path_of(t, c)->most;

    if (most == 0 || count_others(t, c, busy) < most)
        return false;
    if (path_of(t, c)->ban > 0)
        ban(t, c);
    return true;
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
    if (is_refused)
        reset(t, c);
    else
        c->sender.is_served = true;
    return !is_refused;
}

bool xd_serves_request(struct xd_tcp *t, struct xd_connection *c,
                       unsigned stream)
{
    if (c->sender.is_excess) {
        reset(t, c);
        return false;
    }
    if (path_of(t, c)->refusal != XD_REFUSAL_STATUS || is_sending(c) ||
        !is_excess(t, c, true))
        return true;
    if (!c->sender.is_dead)
        answer(t, c, XD_PACKET_REFUSAL, stream);
    return false;
}
