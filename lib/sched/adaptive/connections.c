/* SPDX-License-Identifier: MIT */
#include "sched/adaptive/connections.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

/* Over less time the 20 ms in which bytes are reported tell no rate.  Where a
 * window bounds a connection its bytes come together, once in a round trip: two
 * round trips tell its rate, if they last that long.  The bytes of the second may
 * come somewhat early. */
#define TURN (100 * XD_MS)
#define TURN_ROUNDS 1.75
#define LEAST_ROUNDS (70 * XD_MS)

/* Rates that differ from their mean by no more than this part are equal. */
#define EQUAL 0.2

/* And of connections that a server caps, exactly so: in the lab their rates were
 * seen to differ from the mean by 0.01.  After their first burst connections that
 * fill a line fall as well, and are equal; in the scenario equal they differ by
 * 0.12 then. */
#define EXACT 0.05

/* A server may give one of the requests that share a connection several times what
 * it gives another, as nginx was seen to; what they deliver together is steady if
 * it was for so many turns.  If it had to be for one, the scenarios blackout and
 * long-fat would take 9 and 5 % longer where requests share connections. */
#define STEADY_TURNS 5

/* A rate that is older than so many turns says nothing. */
#define FRESH_TURNS 3

/* A depot all of whose connections are silent for so long, and for half as long
 * as they brought so many bytes before, rations them: nginx's limit_rate was
 * seen to send for 0.2 s what it allows in one, or more.  A line whose rate has
 * fallen was never silent before. */
#define RATION_SILENCE (200 * XD_MS)
#define RATION_LATENCIES 4
#define RATION_BYTES (256 << 10)
#define LONGEST_BURST XD_SECOND

/* Each connection is to have so much to bring, and the download so long to go
 * on, before another is tried: it costs some round trips. */
#define WORTH_BYTES ((double)(1 << 20))
#define WORTH_S 2.0

/* A handshake and an answer that take longer than the least by more than this
 * part, and so long, waited in a queue. */
#define INFLATED_PARTS 4
#define INFLATED (15 * XD_MS)

/* New connections need a handshake and a request before their first byte, and
 * then TCP has to find its speed; what comes for so long after that is counted.
 * Of a depot that rations it is some rations. */
#define SETTLE_LATENCIES 5
#define COUNT (150 * XD_MS)
#define COUNT_LATENCIES 3
#define COUNT_SHARED (100 * XD_MS)
#define COUNT_LATENCIES_SHARED 2
#define COUNT_RATIONS (1500 * XD_MS)

/* The part of what they would bring if each were capped that new connections
 * have to gain. */
#define GAIN 0.25

/* Connections that could be one, and bring so many times what they would if each
 * were capped, are on a line that has become faster. */
#define MOST_GAIN 1.5

/* The part of what one request delivers that one more on their connection has to
 * gain; and the part of what the first other connection delivers that is gained,
 * not taken from the one that all shared. */
#define GAIN_SHARED 0.5

/* A connection that requests could share takes so many latencies until its first
 * byte, those of TLS among them, as far as it is not known. */
#define CONNECT_LATENCIES 3

/* What was learned is checked when the burst is over with which a depot that
 * rations begins, over two of its rations; each connection has to deliver this
 * part of what it did then, or no more than as much more. */
#define KNOWN_SETTLE (500 * XD_MS)
#define KNOWN_COUNT (2 * XD_SECOND)
#define HOLDS 0.6

/* A connection that delivers no more than so many times what it did beside
 * another one, for so long, has a bound of its own. */
#define SAME 1.1
#define COUNT_ONE (300 * XD_MS)
#define COUNT_LATENCIES_ONE 8

#define NOTHING_TO_ASK (500 * XD_MS)
#define FIRST_PAUSE (2 * XD_SECOND)
#define LONGEST_PAUSE (32 * XD_SECOND)

/* Whoever says how many connections to use gets as many from the first request
 * on, before it is known whether requests could share one. */
static void begin_depots(struct xd_connections *c, unsigned begin)
{
    for (unsigned i = begin; i < c->n_depots; i++) {
        struct xd_connections_depot *d = &c->depots[i];

        d->allowed = c->first > 0 ? c->first : c->lanes_per_depot;
        d->spreads = c->first == 0 && c->lanes_per_depot > 1;
    }
}

int xd_connections_init(struct xd_connections *c, unsigned n_depots,
                        unsigned n_lanes, unsigned lanes_per_depot,
                        unsigned first)
{
    *c = (struct xd_connections){.n_depots = n_depots,
                                 .n_lanes = n_lanes,
                                 .lanes_per_depot = lanes_per_depot,
                                 .first = first};
    c->lanes = xd_alloc(n_lanes, sizeof *c->lanes);
    c->depots = xd_alloc(n_depots, sizeof *c->depots);
    if (c->lanes == NULL || c->depots == NULL) {
        xd_connections_fini(c);
        return XD_E_NOMEM;
    }
    begin_depots(c, 0);
    return 0;
}

int xd_connections_grow(struct xd_connections *c, unsigned n_depots,
                        unsigned n_lanes)
{
    unsigned begin;

    if (xd_lengthen(&c->lanes, c->n_lanes, n_lanes, sizeof *c->lanes) < 0 ||
        xd_lengthen(&c->depots, c->n_depots, n_depots, sizeof *c->depots) < 0)
        return XD_E_NOMEM;
    begin = c->n_depots;
    c->n_lanes = n_lanes;
    c->n_depots = n_depots;
    begin_depots(c, begin);
    return 0;
}

void xd_connections_remember(struct xd_connections *c, unsigned depot,
                             const struct xd_learned *learned)
{
    c->depots[depot].learned = *learned;
    c->depots[depot].learned.ceiling = 0;
}

void xd_connections_fini(struct xd_connections *c)
{
    xd_free(c->lanes);
    xd_free(c->depots);
    *c = (struct xd_connections){.n_depots = 0};
}

/* What each connection brings. */

static xd_usec longer(xd_usec a, xd_usec b)
{
    return a > b ? a : b;
}

static xd_usec turn_of(xd_usec round)
{
    xd_usec rounds = (xd_usec)(TURN_ROUNDS * (double)round);

    return rounds < LEAST_ROUNDS ? TURN : rounds;
}

/* A round trip.  A depot's latency is longer once it has more than one connection:
 * the handshakes of the others count in it. */
static xd_usec round_of(const struct xd_connections_depot *d, xd_usec latency)
{
    xd_usec least = d->least_wait / 2; /* for a handshake, and an answer */

    return !d->can_share && least > 0 && least < latency ? least : latency;
}

static xd_usec silence_of(xd_usec latency)
{
    return longer(RATION_SILENCE, RATION_LATENCIES * latency);
}

static void count_lane(struct xd_connection_watch *w, xd_usec round,
                       xd_usec now, uint64_t bytes)
{
    if (!w->is_flowing) { /* how long these took is not known */
        w->is_flowing = true;
        w->began_at = now;
        w->turn_at = now;
        w->bytes = 0;
        return;
    }
    w->bytes += bytes;
    if (now - w->turn_at < turn_of(round))
        return;
    w->before = w->rate;
    w->rate = (double)w->bytes * (double)XD_SECOND / (double)(now - w->turn_at);
    w->turn_at = w->measured_at = now;
    w->bytes = 0;
}

static void count_all(struct xd_connections_depot *d, xd_usec round,
                      xd_usec now, uint64_t bytes)
{
    struct xd_connection_watch *w = &d->all;
    xd_usec measured_at = w->measured_at;

    count_lane(w, round, now, bytes);
    if (w->measured_at == measured_at)
        return;
    if (w->before < w->rate * (1 - EQUAL) || w->before > w->rate * (1 + EQUAL))
        d->n_steady = 0;
    else
        d->n_steady++;
}

void xd_connections_heard(struct xd_connections *c, unsigned depot,
                          unsigned lane, xd_usec latency, xd_usec now,
                          uint64_t bytes)
{
    struct xd_connections_depot *d = &c->depots[depot];

    count_lane(&c->lanes[lane], round_of(d, latency), now, bytes);
    count_all(d, round_of(d, latency), now, bytes);
    if (d->heard_at == 0 || now - d->heard_at >= silence_of(latency)) {
        d->burst_at = now;
        d->burst = 0;
    }
    d->heard_at = now;
    d->burst += bytes;
    d->bytes += bytes;
    if (c->lanes[lane].began_at >= d->spread_at)
        d->added += bytes;
}

void xd_connections_ended(struct xd_connections *c, unsigned lane)
{
    c->lanes[lane].is_flowing = false;
}

void xd_connections_answered(struct xd_connections *c, unsigned depot,
                             xd_usec wait)
{
    struct xd_connections_depot *d = &c->depots[depot];

    if (d->least_wait == 0 || wait < d->least_wait)
        d->least_wait = wait;
    if (!d->spreads) /* else it shares one yet */
        d->wait = wait;
}

void xd_connections_connected(struct xd_connections *c, unsigned depot,
                              xd_usec wait)
{
    struct xd_connections_depot *d = &c->depots[depot];

    if (d->connect_wait == 0)
        d->connect_wait = wait;
    d->wait = wait;
}

/* What lanes deliver in one turn. */
struct turn {
    double rate, least, most; /* of all; of any */
};

/* What lanes deliver that were measured of late. */
struct sum {
    unsigned n;
    struct turn last, before; /* the last turn of each, and the one before */
};

static bool is_fresh(const struct xd_connection_watch *w,
                     const struct xd_connections_facts *f)
{
    return w->rate > 0 &&
           f->now - w->measured_at < FRESH_TURNS * turn_of(f->latency);
}

static void add_rate(struct turn *t, double rate, bool is_first)
{
    t->rate += rate;
    if (is_first || rate < t->least)
        t->least = rate;
    if (is_first || rate > t->most)
        t->most = rate;
}

static struct sum add_up(const struct xd_connections *c, unsigned begin,
                         unsigned n, const struct xd_connections_facts *f)
{
    struct sum s = {.n = 0};

    for (unsigned i = begin; i < begin + n; i++) {
        const struct xd_connection_watch *w = &c->lanes[i];

        if (!is_fresh(w, f))
            continue;
        add_rate(&s.last, w->rate, s.n == 0);
        add_rate(&s.before, w->before, s.n == 0);
        s.n++;
    }
    return s;
}

/* Whether each is that rate, but for this part of it. */
static bool are_within(const struct turn *t, double part, double rate)
{
    return t->least >= rate * (1 - part) && t->most <= rate * (1 + part);
}

/* A server that caps them lets all begin with the same burst, and is exact from
 * then on. */
static bool have_ended_burst(const struct sum *s)
{
    double rate = s->last.rate / s->n, before = s->before.rate / s->n;

    return before > rate && are_within(&s->before, EQUAL, before) &&
           are_within(&s->last, EXACT, rate);
}

/* As if each were capped: steady, and like the others. */
static bool are_equal(const struct sum *s)
{
    double rate = s->last.rate / s->n;

    return are_within(&s->last, EQUAL, rate) &&
           (are_within(&s->before, EQUAL, rate) || have_ended_burst(s));
}

static double mean_rate(uint64_t bytes, xd_usec from, xd_usec to)
{
    return to > from ? (double)bytes * (double)XD_SECOND / (double)(to - from)
                     : 0;
}

/* Trials. */

/* Whether its requests share a connection. */
static bool shares(const struct xd_connections_depot *d)
{
    return d->can_share && !d->spreads;
}

static unsigned bound_of(const struct xd_connections *c,
                         const struct xd_connections_depot *d,
                         const struct xd_connections_facts *f)
{
    unsigned most = c->lanes_per_depot;

    if (f->n_short > 0 && shares(d) && f->n_streams > most)
        most = f->n_streams;
    return f->ceiling > 0 && f->ceiling_spreads == d->spreads &&
                   f->ceiling < most
               ? f->ceiling
               : most;
}

/* How many connections have to be in use before more are tried. */
static unsigned usual_of(const struct xd_connections_depot *d,
                         const struct xd_connections_facts *f)
{
    return d->stage == XD_CONNECTIONS_BOUND ? d->allowed : f->n_usual;
}

/* When a depot has been silent for as long as one that rations is. */
static xd_usec rationed_at(const struct xd_connections_depot *d,
                           const struct xd_connections_facts *f)
{
    xd_usec lasted = d->heard_at - d->burst_at;

    if (d->burst < RATION_BYTES || lasted > LONGEST_BURST ||
        f->n_running < usual_of(d, f))
        return XD_NEVER;
    return d->heard_at + longer(silence_of(f->latency), lasted / 2);
}

/* One more would have enough to bring. */
static bool is_worth_a_trial(const struct xd_connections_depot *d,
                             const struct xd_connections_facts *f, double each)
{
    return f->time_left >= WORTH_S &&
           f->bytes_left >= (d->allowed + 1) * WORTH_BYTES &&
           each * f->time_left >= WORTH_BYTES;
}

static void probe(struct xd_connections *c, struct xd_connections_depot *d,
                  const struct xd_connections_facts *f)
{
    if (c->n_trials++ == 0)
        c->has_helped = false;
    d->stage_before = d->stage;
    d->allowed_before = d->allowed;
    d->spread_before = d->spreads;
    d->is_gauged = !shares(d);
    d->stage = XD_CONNECTIONS_PROBING;
    d->tried_at = f->now;
    d->wait = 0;
    d->allowed++;
    d->why = XD_LANES_PROBE;
}

static bool is_equal_trial(struct xd_connections *c,
                           struct xd_connections_depot *d,
                           const struct xd_connections_facts *f)
{
    struct sum s = add_up(c, f->first_lane, c->lanes_per_depot, f);

    if (s.n == 0 || s.n < usual_of(d, f) || s.n > d->allowed)
        return false;
    d->n_before = s.n;
    d->each_before = s.last.rate / s.n;
    if (shares(d) && d->n_steady >= STEADY_TURNS)
        d->each_before = d->all.rate / s.n;
    else if (!are_equal(&s))
        return false;
    d->is_rationed = false;
    return f->is_needed || is_worth_a_trial(d, f, d->each_before);
}

static bool is_rationed_trial(struct xd_connections_depot *d,
                              const struct xd_connections_facts *f)
{
    double mean = mean_rate(d->burst, d->burst_at, f->now);

    if (rationed_at(d, f) > f->now)
        return false;
    d->is_rationed = true;
    d->n_before = f->n_running;
    d->each_before = mean / f->n_running;
    return f->is_needed || is_worth_a_trial(d, f, d->each_before);
}

/* What a trial of no use delays: where requests share a connection all are equal,
 * whatever limits them, so that it says nothing of other depots. */
static struct xd_trial_pause *pause_of(struct xd_connections *c,
                                       struct xd_connections_depot *d)
{
    return d->can_share ? &d->pause : &c->pause;
}

static xd_usec begin_trial(struct xd_connections *c,
                           struct xd_connections_depot *d,
                           const struct xd_connections_facts *f)
{
    if (d->allowed >= bound_of(c, d, f) || f->is_held_back || d->heard_at == 0)
        return XD_NEVER;
    if (f->n_short > 0 && shares(d)) /* it has what it is worth */
        return XD_NEVER;
    if (f->now < d->next_at ||
        (f->now < pause_of(c, d)->ends_at && !f->is_needed))
        return XD_NEVER;
    if (is_rationed_trial(d, f) || is_equal_trial(c, d, f))
        probe(c, d, f);
    else if (rationed_at(d, f) > f->now)
        return rationed_at(d, f);
    return XD_NEVER;
}

static void set_pause(struct xd_trial_pause *p, bool has_helped, xd_usec now)
{
    p->length = has_helped ? 0 : longer(2 * p->length, FIRST_PAUSE);
    if (p->length > LONGEST_PAUSE)
        p->length = LONGEST_PAUSE;
    p->ends_at = now + p->length;
}

static void end_trial(struct xd_connections *c, struct xd_connections_depot *d,
                      unsigned useful, xd_usec now)
{
    struct xd_trial_pause *pause = pause_of(c, d);

    d->stage = useful > 0 ? XD_CONNECTIONS_BOUND : d->stage_before;
    d->spreads = useful > 0 ? d->spreads : d->spread_before;
    d->allowed = useful > 0 ? d->n_before + useful : d->allowed_before;
    d->why = useful > 0 ? XD_LANES_USEFUL : XD_LANES_USELESS;
    c->has_helped |= useful > 0;
    if (useful > 0)
        d->learned =
            (struct xd_learned){.useful = d->allowed, .spreads = d->spreads};
    if (--c->n_trials == 0 || d->can_share)
        set_pause(pause, d->can_share ? useful > 0 : c->has_helped, now);
    d->next_at = now + longer(pause->length, FIRST_PAUSE);
}

/* End a trial that opened no connection, since there was nothing to request over
 * it or the server gave none: that says nothing of their use. */
static void give_up(struct xd_connections *c, struct xd_connections_depot *d,
                    xd_usec now)
{
    c->n_trials--;
    d->stage = d->stage_before;
    d->spreads = d->spread_before;
    d->allowed = d->allowed_before;
    d->why = XD_LANES_NO_WORK;
    d->next_at = now + NOTHING_TO_ASK;
}

/* Try all lanes; or where they share a connection, first what one more is
 * worth, and then what another connection is. */
static void begin_counting(struct xd_connections *c,
                           struct xd_connections_depot *d,
                           const struct xd_connections_facts *f)
{
    d->stage = XD_CONNECTIONS_TRYING;
    d->tried_at = f->now;
    d->is_marked = false;
    if (!d->is_gauged)
        return;
    d->allowed = bound_of(c, d, f);
    d->why = XD_LANES_TRIAL;
}

/* A request more on the connection that all share was of no use, or not answered
 * in time: perhaps that connection is capped, and another one is of use. */
static void begin_spread(struct xd_connections_depot *d,
                         const struct xd_connections_facts *f)
{
    d->stage = XD_CONNECTIONS_PROBING;
    d->spreads = true;
    d->is_rationed = false;
    d->each_before *= d->n_before;
    d->n_before = 1;
    d->allowed = 2;
    d->wait = 0;
    d->tried_at = d->spread_at = f->now;
    d->why = XD_LANES_SPREAD;
}

static void end_useless(struct xd_connections *c,
                        struct xd_connections_depot *d,
                        const struct xd_connections_facts *f)
{
    bool is_refused = f->ceiling_spreads && f->ceiling == 1;

    if (shares(d) && !is_refused)
        begin_spread(d, f);
    else
        end_trial(c, d, 0, f->now);
}

/* How long a probe of a depot that is not busy waits for its first byte. */
static xd_usec least_wait(const struct xd_connections_depot *d,
                          const struct xd_connections_facts *f)
{
    if (!d->spreads)
        return d->least_wait;
    return d->connect_wait > 0 ? d->connect_wait
                               : CONNECT_LATENCIES * f->latency;
}

/* Its first byte has come, or is late. */
static void look_at_probe(struct xd_connections *c,
                          struct xd_connections_depot *d,
                          const struct xd_connections_facts *f)
{
    xd_usec wait = d->wait > 0 ? d->wait : f->now - d->tried_at;
    xd_usec least = least_wait(d, f);
    xd_usec most = least + least / INFLATED_PARTS + INFLATED;

    if (wait > most && f->n_running <= d->n_before) {
        give_up(c, d, f->now);
    } else if (wait > most) {
        end_useless(c, d, f);
    } else if (d->wait > 0) {
        begin_counting(c, d, f);
    }
}

/* How many of the new connections, of which there is one at least, deliver what
 * they would if each were capped, or nearly so: some have just begun, or are
 * between two requests; 0 if they deliver little more. */
static unsigned judge(const struct xd_connections_depot *d,
                      const struct xd_connections_facts *f)
{
    double rate = mean_rate(d->bytes - d->marked, d->marked_at, f->now);
    double useful = rate / d->each_before - d->n_before;
    double equal = useful / (1 - EQUAL);
    unsigned n_new = f->n_running - d->n_before;

    if (d->spreads && rate > MOST_GAIN * f->n_running * d->each_before)
        return 0;
    if (useful < GAIN * n_new)
        return 0;
    if (f->n_running < d->allowed) /* there was nothing to ask the others for */
        return d->allowed - d->n_before;
    return equal + 1 < n_new ? (unsigned)equal + 1 : n_new;
}

/* Whether one request more on the connection that all share made it faster; or
 * the first other connection did, though its TCP has not found its speed yet. */
static bool was_of_use(const struct xd_connections_depot *d,
                       const struct xd_connections_facts *f)
{
    double rate = mean_rate(d->bytes - d->marked, d->marked_at, f->now);
    double added = mean_rate(d->added, d->marked_at, f->now);
    double expected = d->spreads ? added : d->each_before;

    return rate >= d->n_before * d->each_before + GAIN_SHARED * expected;
}

static void end_counting(struct xd_connections *c,
                         struct xd_connections_depot *d,
                         const struct xd_connections_facts *f)
{
    if (f->n_running <= d->n_before) {
        give_up(c, d, f->now);
    } else if (d->is_gauged) {
        unsigned useful = judge(d, f);

        if (useful > 0)
            end_trial(c, d, useful, f->now);
        else
            end_useless(c, d, f);
    } else if (was_of_use(d, f)) {
        d->is_gauged = true;
        begin_counting(c, d, f);
    } else {
        end_useless(c, d, f);
    }
}

/* How long new connections, or requests, take until what they bring tells. */
static xd_usec settle_time(const struct xd_connections_depot *d,
                           const struct xd_connections_facts *f)
{
    if (d->is_rationed || !d->is_gauged)
        return 0;
    if (d->spreads) /* TLS takes another one */
        return (SETTLE_LATENCIES + 1) * f->latency;
    return SETTLE_LATENCIES * f->latency;
}

static void look_at_trial(struct xd_connections *c,
                          struct xd_connections_depot *d,
                          const struct xd_connections_facts *f)
{
    xd_usec settle = settle_time(d, f);
    xd_usec count = longer(COUNT, COUNT_LATENCIES * f->latency);

    if (d->is_rationed)
        count = COUNT_RATIONS;
    else if (!d->is_gauged)
        count = longer(COUNT_SHARED, COUNT_LATENCIES_SHARED * f->latency);

    if (!d->is_marked && f->now >= d->tried_at + settle) {
        d->is_marked = true;
        d->marked_at = f->now;
        d->marked = d->bytes;
        d->added = 0;
    } else if (d->is_marked && f->now >= d->marked_at + count) {
        end_counting(c, d, f);
    }
}

/* The depot refused a connection of the trial, and perhaps ended the others for
 * it: those that it served are all used from now on. */
static void end_at_ceiling(struct xd_connections *c,
                           struct xd_connections_depot *d,
                           const struct xd_connections_facts *f)
{
    c->n_trials--;
    d->stage = XD_CONNECTIONS_BOUND;
    d->allowed = f->ceiling;
    if (d->spreads && d->allowed == 1) { /* what requests share in any case */
        d->stage = d->stage_before;
        d->spreads = false;
        d->allowed = d->allowed_before;
    }
    d->why = XD_LANES_REFUSED;
}

static double cap_of(const struct xd_connections_depot *d, xd_usec to)
{
    return mean_rate(d->bytes - d->marked, d->marked_at, to) /
           d->learned.useful;
}

struct xd_learned xd_connections_learned(const struct xd_connections *c,
                                         unsigned depot, xd_usec latency)
{
    const struct xd_connections_depot *d = &c->depots[depot];
    struct xd_learned learned = d->learned;

    if (learned.useful == 0)
        return (struct xd_learned){.latency = latency};
    if (learned.cap > 0) /* by an earlier download */
        return learned;
    learned.cap = cap_of(d, d->heard_at);
    learned.latency = latency;
    return learned;
}

/* Open as many as an earlier download found useful, as far as they have enough
 * to deliver; false: they are not known. */
static bool begin_known(struct xd_connections *c,
                        struct xd_connections_depot *d,
                        const struct xd_connections_facts *f)
{
    unsigned n = d->learned.useful, most = bound_of(c, d, f);

    if (n == 0 || d->heard_at == 0 || f->is_held_back)
        return false;
    if (xd_learned_is_outdated(&d->learned, f->latency)) {
        d->learned.useful = 0;
        return false;
    }
    if (n > most)
        n = most;
    if (!f->is_needed && n * WORTH_BYTES > f->bytes_left)
        n = (unsigned)(f->bytes_left / WORTH_BYTES);
    if (n <= d->allowed)
        return false;
    d->stage = XD_CONNECTIONS_KNOWN;
    d->spreads = d->can_share && d->learned.spreads;
    d->allowed = n;
    d->why = XD_LANES_KNOWN;
    d->tried_at = f->now;
    d->is_marked = false;
    return true;
}

/* Where no trial is possible, since its user wants two connections: while there is
 * nothing to request over one of them, does the other one become faster? */
static void look_at_one(struct xd_connections *c,
                        struct xd_connections_depot *d,
                        const struct xd_connections_facts *f)
{
    struct sum both = add_up(c, f->first_lane, c->lanes_per_depot, f);
    xd_usec count = longer(COUNT_ONE, COUNT_LATENCIES_ONE * f->latency);

    if (d->stage != XD_CONNECTIONS_FIRST)
        return;
    if (f->n_running != 1 || f->is_held_back) {
        d->is_marked = false;
        if (both.n == 2)
            d->each_before = both.last.rate / both.n;
    } else if (!d->is_marked) {
        d->is_marked = true;
        d->marked_at = f->now;
        d->marked = d->bytes;
    } else if (d->each_before > 0 && f->now >= d->marked_at + count &&
               mean_rate(d->bytes - d->marked, d->marked_at, f->now) <=
                   d->each_before * SAME) {
        d->stage = XD_CONNECTIONS_BOUND;
    }
}

/* Without it the depot begins as one of which nothing is known. */
static void forget(struct xd_connections *c, struct xd_connections_depot *d)
{
    d->stage = XD_CONNECTIONS_FIRST;
    d->spreads = false;
    d->allowed = c->first;
    d->why = XD_LANES_OUTDATED;
    d->learned = (struct xd_learned){.useful = 0};
}

static void check_known(struct xd_connections *c,
                        struct xd_connections_depot *d,
                        const struct xd_connections_facts *f)
{
    xd_usec settle = longer(KNOWN_SETTLE, SETTLE_LATENCIES * f->latency);
    double part;

    if (!d->is_marked && f->now >= d->tried_at + settle) {
        d->is_marked = true;
        d->marked_at = f->now;
        d->marked = d->bytes;
    }
    if (!d->is_marked || f->now < d->marked_at + KNOWN_COUNT)
        return;
    part = mean_rate(d->bytes - d->marked, d->marked_at, f->now) /
           (d->learned.cap * d->allowed);
    if (f->n_running < d->allowed)
        d->is_marked = false; /* there was nothing to request over some */
    else if (part < HOLDS || part > 1 / HOLDS)
        forget(c, d);
    else
        d->stage = XD_CONNECTIONS_BOUND;
}

unsigned xd_connections_first(const struct xd_connections *c, bool is_far)
{
    return is_far || c->first == 0 ? c->lanes_per_depot : c->first;
}

static void begin_far(const struct xd_connections *c,
                      struct xd_connections_depot *d,
                      const struct xd_connections_facts *f)
{
    unsigned n = xd_connections_first(c, true), most = bound_of(c, d, f);

    if (n > most)
        n = most;
    if (!f->is_far || d->can_share || d->allowed >= n)
        return;
    d->allowed = n;
    d->why = XD_LANES_FAR;
}

/* A request follows another when that is here, so that as many latencies pass as
 * there are objects for each connection.  As many stay, since what too few bring
 * says less of the line. */
static void begin_short(const struct xd_connections *c,
                        struct xd_connections_depot *d,
                        const struct xd_connections_facts *f)
{
    unsigned n = f->n_short, most = bound_of(c, d, f);

    if (n > most)
        n = most;
    if (n > d->allowed && !f->is_held_back) {
        d->allowed = n;
        d->is_for_short = true;
        d->why = XD_LANES_SHORT;
    } else if (n == 0 && d->is_for_short) {
        d->allowed = c->first;
        d->is_for_short = false;
        d->why = XD_LANES_USUAL;
    }
}

/* Its requests can share a connection, which needs no others to find its
 * speed. */
static void share(const struct xd_connections *c,
                  struct xd_connections_depot *d)
{
    d->can_share = true;
    if (d->why == XD_LANES_FAR) {
        d->allowed = c->first;
        d->why = XD_LANES_USUAL;
    }
}

xd_usec xd_connections_decide(struct xd_connections *c, unsigned depot,
                              const struct xd_connections_facts *f)
{
    struct xd_connections_depot *d = &c->depots[depot];

    if (f->can_share && !d->can_share)
        share(c, d);
    if (c->first == 0) {
        if (c->lanes_per_depot == 2)
            look_at_one(c, d, f);
        return XD_NEVER;
    }
    if (xd_connections_are_tried(c, depot) && f->ceiling > 0 &&
        bound_of(c, d, f) < d->allowed)
        end_at_ceiling(c, d, f);
    switch (d->stage) {
    case XD_CONNECTIONS_FIRST:
        begin_far(c, d, f);
        begin_short(c, d, f);
        if (begin_known(c, d, f))
            return XD_NEVER;
        return begin_trial(c, d, f);
    case XD_CONNECTIONS_BOUND:
        return begin_trial(c, d, f);
    case XD_CONNECTIONS_PROBING:
        look_at_probe(c, d, f);
        break;
    case XD_CONNECTIONS_TRYING:
        look_at_trial(c, d, f);
        break;
    case XD_CONNECTIONS_KNOWN:
        check_known(c, d, f);
        break;
    }
    return XD_NEVER;
}

bool xd_connections_spread(const struct xd_connections *c, unsigned depot)
{
    return c->depots[depot].spreads;
}

unsigned xd_connections_allowed(const struct xd_connections *c, unsigned depot)
{
    return c->depots[depot].allowed;
}

enum xd_lanes_reason xd_connections_why(const struct xd_connections *c,
                                        unsigned depot)
{
    return c->depots[depot].why;
}

bool xd_connections_want_probe(const struct xd_connections *c, unsigned depot,
                               unsigned n_running)
{
    return xd_connections_are_tried(c, depot) &&
           n_running <= c->depots[depot].n_before;
}

bool xd_connections_are_tried(const struct xd_connections *c, unsigned depot)
{
    return c->depots[depot].stage == XD_CONNECTIONS_PROBING ||
           c->depots[depot].stage == XD_CONNECTIONS_TRYING;
}

/* A user that wants more than two connections has a reason. */
bool xd_connections_are_bound(const struct xd_connections *c, unsigned depot)
{
    const struct xd_connections_depot *d = &c->depots[depot];
    enum xd_connections_stage stage = d->stage;

    if (stage == XD_CONNECTIONS_PROBING ||
        (stage == XD_CONNECTIONS_TRYING && !d->is_gauged))
        stage = d->stage_before;
    return stage != XD_CONNECTIONS_FIRST ||
           (c->first == 0 && c->lanes_per_depot > 2);
}
