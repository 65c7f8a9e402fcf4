/* SPDX-License-Identifier: MIT */
#include "sched/adaptive/growth.h"

/* So many depots are opened at once, and up to twice as many if each has so many
 * bytes to bring: a short download is not to trouble them all. */
#define FIRST_OPEN 16
#define MOST_FIRST_OPEN 32
#define WORTH_OPENING ((uint64_t)2 << 20)

/* A turn, in which bytes are counted, is so long, and more depots pay if they
 * make it faster by this factor. */
#define TURN (200 * XD_MS)
#define GROWTH 1.1

static unsigned first_open(uint64_t bytes)
{
    uint64_t n = bytes / WORTH_OPENING;

    if (n < FIRST_OPEN)
        return FIRST_OPEN;
    return n < MOST_FIRST_OPEN ? (unsigned)n : MOST_FIRST_OPEN;
}

void xd_growth_init(struct xd_growth *g, uint64_t bytes)
{
    *g = (struct xd_growth){.most_open = first_open(bytes), .began = XD_NEVER};
}

void xd_growth_heard(struct xd_growth *g, xd_usec now, uint64_t bytes)
{
    if (g->began == XD_NEVER)
        g->began = now;
    g->bytes += bytes;
}

/* Whether a turn is over in which all that are open found their speed, and it
 * is more than half as many brought. */
static bool has_grown(struct xd_growth *g, xd_usec now)
{
    double rate, last = g->rate;

    if (g->began == XD_NEVER || now < g->began + TURN)
        return false;
    rate = (double)g->bytes * (double)XD_SECOND / (double)(now - g->began);
    g->rate = rate;
    g->began = now;
    g->bytes = 0;
    return rate < last * GROWTH && rate > g->rate_before * GROWTH;
}

bool xd_growth_wants_more(struct xd_growth *g, unsigned n_well, xd_usec now)
{
    if (n_well < g->most_open)
        return true;
    if (!has_grown(g, now))
        return false;
    g->rate_before = g->rate;
    g->most_open *= 2;
    return true;
}
