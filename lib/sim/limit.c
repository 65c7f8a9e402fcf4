#include <math.h>

#include "base/alloc.h"
#include "sim/net.h"
#include "sim/scenario.h"

#define STEP 0.001 /* seconds */
#define MOST_SECONDS 3600.0

/* Half a round trip of a depot on the same machine is not nothing. */
#define LEAST_RTT 1e-4

struct flow {
    struct xd_path path;
    double seen; /* when it could first be asked; < 0: not yet */
};

static double rate_of(struct flow *f, double t)
{
    double rtt = (double)(2 * f->path.delay) / 1e9, age, window;

    if (f->path.is_down || f->path.refuses || f->path.lies)
        return 0;
    if (f->seen < 0)
        f->seen = t;
    age = t - f->seen - 2 * rtt; /* a handshake and a request */
    if (age < 0)
        return 0;
    if (rtt < LEAST_RTT)
        rtt = LEAST_RTT;
    window = XD_FIRST_WINDOW * XD_PACKET_BYTES * exp2(fmin(age / rtt, 40));
    return f->path.rate > 0 ? fmin(f->path.rate, window / rtt) : window / rtt;
}

static double fill(const struct xd_scenario *s, struct flow *flows,
                   uint64_t size)
{
    struct xd_path client = s->client;
    double got = 0;
    size_t next = 0;

    for (unsigned long step = 0; (double)step * STEP < MOST_SECONDS; step++) {
        double t = (double)step * STEP, sum = 0;

        for (;
             next < s->n_changes && (double)s->changes[next].at <= t * 1e9 + 1;
             next++) {
            const struct xd_change *c = &s->changes[next];

            xd_path_apply(c->depot == XD_CLIENT ? &client
                                                : &flows[c->depot].path,
                          c->key, c->value);
        }
        for (size_t i = 0; i < s->n_depots; i++)
            sum += rate_of(&flows[i], t);
        if (client.rate > 0)
            sum = fmin(sum, client.rate);
        got += sum * STEP * XD_SEGMENT_BYTES / XD_PACKET_BYTES;
        if (got >= (double)size)
            return t + STEP;
    }
    return (double)INFINITY;
}

double xd_scenario_limit(const struct xd_scenario *s, uint64_t size)
{
    struct flow *flows = xd_alloc(s->n_depots, sizeof *flows);
    double limit;

    if (!flows)
        return (double)INFINITY;
    for (size_t i = 0; i < s->n_depots; i++)
        flows[i] = (struct flow){s->depots[i].path, -1};
    limit = fill(s, flows, size);
    xd_free(flows);
    return limit;
}
