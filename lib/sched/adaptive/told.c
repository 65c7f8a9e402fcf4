/* SPDX-License-Identifier: MIT */
/* What the adaptive policy is told. */
#include "sched/adaptive/adaptive.h"

/* A first request connects, which takes as long as its answer; and where
 * connections are shared agrees on keys as well. */
#define FIRST_PARTS_OF_WAIT 2
#define SHARED_PARTS_OF_WAIT 3

static void count_round(struct xd_flow *f, xd_usec latency, xd_usec now)
{
    struct xd_round *r = &f->round;

    if (f->has_begun && now - r->began < latency)
        return;
    if (f->has_begun) {
        r->before = r->bytes;
        r->bytes = (double)(f->got - r->from) * (double)latency /
                   (double)(now - r->began);
    }
    r->began = now;
    r->from = f->got;
}

/* Whether the wait for its first byte was that for a connection as well.  The
 * requests that were made before the depot was seen to share one waited for the
 * same. */
static bool has_connected(const struct xd_adaptive *p, const struct xd_flow *f)
{
    return f->is_new && !xd_flow_shares(p, f);
}

/* Into how many parts that wait is cut. */
static unsigned parts_of_wait(const struct xd_adaptive *p,
                              const struct xd_flow *f)
{
    if (!p->book->depots[f->depot].shares)
        return FIRST_PARTS_OF_WAIT;
    return f->is_new ? SHARED_PARTS_OF_WAIT : 1;
}

/* For another connection of a depot whose requests can share one; that is no
 * latency of those that do.  For a reader it is: what it needs first may have to
 * come over such a one. */
static bool waited_for_connection(const struct xd_adaptive *p,
                                  const struct xd_flow *f)
{
    return p->book->o.window_bytes == 0 && p->book->depots[f->depot].shares &&
           f->owns_connection && f->is_new;
}

/* When the connection that all requests of the depot share was begun, if they do:
 * a later one may be answered first. */
static xd_usec connected_at(const struct xd_adaptive *p,
                            const struct xd_flow *f)
{
    xd_usec at = f->asked_at;

    for (unsigned i = 0; xd_flow_shares(p, f) && i < p->book->n_fetches; i++)
        if (p->flows[i].is_running && p->flows[i].depot == f->depot)
            at = xd_earlier(at, p->flows[i].asked_at);
    return at;
}

static void note_answer(struct xd_adaptive *p, const struct xd_flow *f,
                        xd_usec now)
{
    xd_usec wait = now - f->asked_at;
    struct xd_forecast *forecast = &p->forecasts[f->depot];
    bool can_share = p->book->depots[f->depot].shares;
    bool is_first = f->is_new && p->depots[f->depot].heard_at == 0;

    if (f->is_queued)
        xd_forecast_queued(forecast, wait);
    else if (!waited_for_connection(p, f) || forecast->latency == 0)
        xd_forecast_answered(forecast, wait, parts_of_wait(p, f));
    if (is_first)
        wait = now - connected_at(p, f);
    else if (!has_connected(p, f))
        wait += forecast->latency;
    if (!can_share || !f->owns_connection)
        xd_connections_answered(&p->connections, f->depot, wait);
    if (can_share && (f->owns_connection || is_first))
        xd_connections_connected(&p->connections, f->depot, wait);
}

void xd_adaptive_heard(void *policy, unsigned fetch, uint64_t to, xd_usec now)
{
    struct xd_adaptive *p = policy;
    struct xd_flow *f = &p->flows[fetch];
    struct xd_forecast *forecast = &p->forecasts[f->depot];

    if (to <= f->got)
        return;
    if (!f->has_begun)
        note_answer(p, f, now);
    count_round(f, forecast->latency, now);
    f->has_begun = true;
    f->heard_at = p->depots[f->depot].heard_at = now;
    xd_growth_heard(&p->growth, now, to - f->got);
    xd_connections_heard(&p->connections, f->depot, fetch, forecast->latency,
                         now, to - f->got);
    xd_surplus_heard(&p->surplus, to - f->got);
    p->heard_at = now;
    p->brought += (double)(to - f->got);
    xd_forecast_heard(forecast, now, to - f->got);
    if (forecast->has_risen)
        p->risen = f->depot;
    xd_forecast_heard(&f->forecast, now, to - f->got);
    f->got = to;
}

static bool is_flowing(const struct xd_adaptive *p, unsigned depot)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (p->flows[i].is_running && p->flows[i].has_begun &&
            p->flows[i].depot == depot)
            return true;
    return false;
}

int xd_adaptive_missing(void *policy, struct xd_range r)
{
    (void)r;
    xd_search_anew(policy);
    return 0;
}

void xd_adaptive_canceled(void *policy, unsigned fetch)
{
    struct xd_adaptive *p = policy;

    p->flows[fetch].is_canceled = true;
}

/* It was too short for a sample: most of its time was its latency; or there was
 * none yet. */
static bool tells_least_rate(const struct xd_adaptive *p,
                             const struct xd_flow *f)
{
    const struct xd_forecast *its = &p->forecasts[f->depot];

    return its->rate <= 0 || its->watched == 0 ||
           f->heard_at == f->forecast.since ||
           f->heard_at - f->asked_at < 2 * its->latency;
}

int xd_adaptive_ended(void *policy, unsigned fetch, bool failed)
{
    struct xd_adaptive *p = policy;
    struct xd_flow *f = &p->flows[fetch];

    f->is_broken = f->got < f->asked_end || xd_flow_shares(p, f);
    f->is_running = false;
    xd_connections_ended(&p->connections, fetch);
    if (!is_flowing(p, f->depot))
        xd_forecast_paused(&p->forecasts[f->depot],
                           p->depots[f->depot].heard_at);
    if (f->has_begun && tells_least_rate(p, f))
        xd_forecast_gulped(&p->forecasts[f->depot], f->heard_at - f->asked_at,
                           f->got - f->range.begin);
    if (failed)
        xd_forecast_forget(&p->forecasts[f->depot]);
    if (!xd_ledger_has(p->book->ledger, XD_BYTES_RECEIVED, f->range))
        xd_search_anew(p);
    return 0;
}

void xd_adaptive_lost(void *policy, unsigned depot)
{
    struct xd_adaptive *p = policy;

    p->depots[depot].taken_to = p->book->wanted.begin;
}
