/* SPDX-License-Identifier: MIT */
#include "crowds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "mesh/mesh.h"
#include "sched/policy.h"
#include "sim/net.h"

#define MIB ((uint64_t)1 << 20)
#define MBIT 125000.0
#define PAYLOAD ((double)XD_SEGMENT_BYTES / XD_PACKET_BYTES)

/* Of the limit of a layout: halvings, and turns of each chunk. */
#define LEVEL_STEPS 50
#define LAYOUT_ROUNDS 100

static void *room(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);

    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return p;
}

struct crowd_setup crowd_live(void)
{
    return (struct crowd_setup){.n_clients = 40,
                                .n_nodes = 5,
                                .client_mbit = 50,
                                .node_mbit = 50,
                                .origin_mbit = 100,
                                .rtt_ms = 50,
                                .size = 64 * MIB,
                                .chunk = 4 * MIB,
                                .copies = 2,
                                .hops = 2,
                                .spread_s = 0.2,
                                .window = {.deadline_devs = 4},
                                .seed = 1,
                                .step_ms = 2,
                                .silence_s = 5,
                                .poll_s = 0.5,
                                .lanes = 6,
                                .first_lanes = 2};
}

struct crowd_setup crowd_planetlab(void)
{
    return (struct crowd_setup){.n_clients = 380,
                                .n_nodes = 380,
                                .client_mbit = 10,
                                .node_mbit = 10,
                                .origin_mbit = 100,
                                .size = 50000000,
                                .chunk = 60000,
                                .copies = 7,
                                .hops = 2,
                                .kind = XD_CROWD_WINDOW,
                                .shares_hosts = true,
                                .has_peers = true,
                                .unseen = 0.05,
                                .spread_s = 1,
                                .window = {.deadline_devs = 4},
                                .seed = 1,
                                .step_ms = 10,
                                .silence_s = 5,
                                .poll_s = 0.5,
                                .lanes = 6,
                                .first_lanes = 2};
}

/* ---- rank ---- */

static struct xd_mesh *make_mesh(unsigned n_nodes)
{
    struct xd_text text = {.s = NULL};
    struct xd_error err = {0};
    struct xd_mesh *mesh = NULL;

    xd_text_addf(&text, "xdownload nodes 1\nchunk 4m\nhops 2\n"
                        "origin http://origin.example/\n");
    for (unsigned i = 0; i < n_nodes; i++)
        xd_text_addf(&text, "node n%u http://n%u.example:8080\n", i, i);
    if (xd_mesh_parse(&mesh, text.s, strlen(text.s), "crowd", &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        exit(2);
    }
    xd_text_fini(&text);
    return mesh;
}

static unsigned *make_rank(const struct crowd_setup *s)
{
    const size_t n_chunks = (size_t)((s->size + s->chunk - 1) / s->chunk);
    unsigned *rank = room(n_chunks * s->n_nodes, sizeof *rank);
    struct xd_mesh *mesh = make_mesh(s->n_nodes);

    for (size_t c = 0; c < n_chunks; c++)
        xd_mesh_rank(mesh, s->seed, c, rank + c * s->n_nodes, s->n_nodes);
    xd_mesh_free(mesh);
    return rank;
}

/* ---- places ---- */

/* Continents, as shares of PlanetLab's sites of 2005 and where they lie, in
 * milliseconds of a round trip. */
static const struct {
    double share, x, y, width, height;
} regions[] = {{0.30, 0, 0, 25, 20},      /* the east of North America */
               {0.22, 65, 0, 25, 20},     /* its west */
               {0.30, -95, 0, 40, 30},    /* Europe */
               {0.12, 175, 10, 70, 60},   /* the east of Asia */
               {0.03, 0, 150, 60, 40},    /* South America */
               {0.03, 190, 160, 60, 60}}; /* India, Australia */

#define N_REGIONS (sizeof regions / sizeof regions[0])

/* Which region node i is in, so that each has its share. */
static size_t region_of(unsigned i, unsigned n)
{
    const double at = ((double)i + 0.5) / n;
    double sum = 0;
    size_t r = 0;

    while (r + 1 < N_REGIONS && (sum += regions[r].share) <= at)
        r++;
    return r;
}

static void place(struct xd_crowd_host *h, unsigned i, unsigned n,
                  uint64_t *random)
{
    const size_t r = region_of(i, n);

    h->x = regions[r].x + (xd_sim_uniform(random) - 0.5) * regions[r].width;
    h->y = regions[r].y + (xd_sim_uniform(random) - 0.5) * regions[r].height;
    /* Most are near a backbone; some have long ways of their own. */
    h->access_ms = 1 - 6 * log(1 - xd_sim_uniform(random));
}

/* ---- peers: section 4.2 ---- */

#define MOST_PEERS 120
#define LEAST_PEERS 60
#define PEER_RTT (100 * XD_MS)

struct near {
    xd_usec rtt;
    unsigned node;
};

static int by_rtt(const void *a, const void *b)
{
    const struct near *x = a, *y = b;

    return x->rtt != y->rtt ? (x->rtt > y->rtt ? 1 : -1)
                            : (x->node > y->node) - (x->node < y->node);
}

static double distance(const struct xd_crowd_host *a,
                       const struct xd_crowd_host *b)
{
    return a->access_ms + b->access_ms + hypot(a->x - b->x, a->y - b->y);
}

static unsigned find_peers(const struct crowd *c, const struct crowd_setup *s,
                           unsigned node, bool *has)
{
    uint64_t random = s->seed * 15485863 + node;
    const unsigned n = (unsigned)c->o.n_caches;
    struct near *all = room(n, sizeof *all);
    unsigned n_peers = 0;

    for (unsigned i = 0; i < n; i++)
        all[i] = (struct near){
            (xd_usec)(1000 * distance(&c->hosts[c->caches[node].host],
                                      &c->hosts[c->caches[i].host])),
            i};
    all[node].rtt = 0;
    qsort(all, n, sizeof *all, by_rtt);
    for (unsigned i = 0; i < n && n_peers < MOST_PEERS; i++)
        if (all[i].node != node && xd_sim_uniform(&random) >= s->unseen &&
            (all[i].rtt <= PEER_RTT || n_peers < LEAST_PEERS)) {
            has[all[i].node] = true;
            n_peers++;
        }
    free(all);
    return n_peers;
}

/* ---- making one ---- */

static void set_rate(struct xd_crowd_host *h, double mbit)
{
    h->up = h->down = mbit * MBIT;
}

/* Host 0 is the origin's; nodes; clients. */
static void make_hosts(struct crowd *c, const struct crowd_setup *s)
{
    uint64_t random = s->seed * 7919 + 1;
    const unsigned n = 1 + s->n_nodes + s->n_clients;

    c->hosts = room(n, sizeof *c->hosts);
    c->o.n_hosts = s->shares_hosts ? 1 + s->n_nodes : n;
    for (unsigned i = 0; i < c->o.n_hosts; i++) {
        c->hosts[i].access_ms = s->rtt_ms / 2;
        set_rate(&c->hosts[i], i == 0            ? s->origin_mbit
                               : i <= s->n_nodes ? s->node_mbit
                                                 : s->client_mbit);
        if (s->shares_hosts && i > 0)
            place(&c->hosts[i], i - 1, s->n_nodes, &random);
    }
    if (s->shares_hosts) /* Princeton */
        c->hosts[0].access_ms = 1;
}

static double arrival(const struct crowd_setup *s, uint64_t *random,
                      double *last)
{
    if (s->poisson_s > 0)
        return *last += -log(1 - xd_sim_uniform(random)) * s->poisson_s;
    return xd_sim_uniform(random) * s->spread_s;
}

static void make_clients(struct crowd *c, const struct crowd_setup *s)
{
    uint64_t random = s->seed * 104729 + 5;
    double last = 0;

    c->clients = room(s->n_clients, sizeof *c->clients);
    for (unsigned i = 0; i < s->n_clients; i++) {
        struct xd_crowd_client *client = &c->clients[i];
        const bool is_plain = i >= s->n_clients - s->n_plain;

        client->kind = is_plain ? XD_CROWD_PLAIN : s->kind;
        client->server = s->asks_origin ? s->n_nodes : i % s->n_nodes;
        client->host = 1 + (s->shares_hosts ? i % s->n_nodes : s->n_nodes + i);
        client->arrives =
            (xd_usec)(arrival(s, &random, &last) * (double)XD_SECOND);
        if (s->has_peers)
            client->peers = c->caches[i % s->n_nodes].peers;
    }
}

static void make_caches(struct crowd *c, const struct crowd_setup *s)
{
    c->caches = room(s->n_nodes, sizeof *c->caches);
    c->peers = room(s->n_nodes, sizeof *c->peers);
    c->o.n_caches = s->n_nodes;
    for (unsigned i = 0; i < s->n_nodes; i++)
        c->caches[i] = (struct xd_crowd_cache){
            .host = 1 + i, .memory = s->memory, .is_warm = s->is_warm};
    for (unsigned i = 0; s->has_peers && i < s->n_nodes; i++) {
        c->peers[i] = room(s->n_nodes, 1);
        c->caches[i].peers.n = find_peers(c, s, i, c->peers[i]);
        c->caches[i].peers.has = c->peers[i];
    }
}

static void make_change(struct crowd *c, const struct crowd_setup *s)
{
    struct xd_crowd_change *change = c->changes;
    const double at = fmax(s->dies_s, fmax(s->mutes_s, s->slows_s));

    change->at = (xd_usec)(at * (double)XD_SECOND);
    change->kind = s->dies_s > 0    ? XD_CROWD_DIES
                   : s->mutes_s > 0 ? XD_CROWD_IS_MUTE
                                    : XD_CROWD_RATE;
    change->number = change->kind == XD_CROWD_RATE ? c->caches[0].host : 0;
    change->rate = MBIT / 2;
    c->o.n_changes = at > 0;
    c->o.changes = c->changes;
}

/* As the command chooses. */
static struct xd_sched_options sched_options(const struct crowd_setup *s)
{
    return (struct xd_sched_options){.policy = &xd_policy_adaptive,
                                     .redundancy = 2,
                                     .progress = XD_AUTO,
                                     .lanes_per_depot = s->lanes,
                                     .first_lanes = s->first_lanes,
                                     .max_open = 64,
                                     .block_bytes = 1 << 20,
                                     .max_failures = 5,
                                     .patience = 120 * XD_SECOND};
}

void crowd_make(struct crowd *c, const struct crowd_setup *s)
{
    *c = (struct crowd){
        .o = {.size = s->size,
              .chunk = s->chunk,
              .routing = s->has_peers ? XD_CROWD_PEERS : XD_CROWD_MESH,
              .copies = s->copies,
              .hops = s->hops,
              .lock_poll = (xd_usec)(s->poll_s * (double)XD_SECOND),
              .upstream_silence = 2 * XD_SECOND,
              .sched = sched_options(s),
              .silence = (xd_usec)(s->silence_s * (double)XD_SECOND),
              .is_checked = s->is_checked,
              .window = s->window,
              .seed = s->seed,
              .step = (xd_usec)(s->step_ms * 1000),
              .most_time = 3600 * XD_SECOND}};
    make_hosts(c, s);
    make_caches(c, s);
    make_clients(c, s);
    make_change(c, s);
    c->rank = make_rank(s);
    c->o.hosts = c->hosts;
    c->o.caches = c->caches;
    c->o.clients = c->clients;
    c->o.n_clients = s->n_clients;
    c->o.rank = c->rank;
}

void crowd_free(struct crowd *c)
{
    for (size_t i = 0; i < c->o.n_caches; i++)
        free(c->peers[i]);
    free(c->peers);
    free(c->hosts);
    free(c->caches);
    free(c->clients);
    free(c->rank);
}

/* ---- sums ---- */

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double share_of(const double *sorted, size_t n, double share)
{
    const size_t i = (size_t)(share * (double)n);

    return n == 0 ? NAN : sorted[i < n ? i : n - 1];
}

static void sum_times(struct crowd_summary *sum, double *times, size_t n,
                      uint64_t size)
{
    const double mbits = (double)size / MBIT;
    double rates = 0, squares = 0;

    qsort(times, n, sizeof *times, by_value);
    for (size_t i = 0; i < n; i++) {
        sum->mean += times[i] / (double)n;
        rates += mbits / times[i];
        squares += mbits / times[i] * (mbits / times[i]);
    }
    sum->first = share_of(times, n, 0);
    sum->median = share_of(times, n, 0.5);
    sum->p90 = share_of(times, n, 0.9);
    sum->last = share_of(times, n, 1);
    sum->mbit_mean = rates / (double)n;
    sum->mbit_median = mbits / sum->median;
    sum->mbit_p90 = mbits / share_of(times, n, 0.1);
    sum->fairness = rates * rates / ((double)n * squares);
}

struct crowd_summary crowd_sum(const struct crowd_setup *s,
                               const struct xd_crowd_result *r, size_t from,
                               size_t to)
{
    const double size = (double)s->size, n = (double)(to - from);
    struct crowd_summary sum = {.origin = (double)r->origin_bytes / size,
                                .hops = (double)r->hop_bytes / size,
                                .least = UINT32_MAX};
    double *times = room(to - from, sizeof *times);

    for (size_t i = from; i < to; i++) {
        const struct xd_crowd_client_result *c = &r->clients[i];

        sum.n_broken += c->broken != XD_RULE_NONE;
        sum.requests += c->requests / n;
        sum.retries += c->retries / n;
        sum.failures += c->failures / n;
        if (!c->is_complete) {
            sum.n_failed++;
            continue;
        }
        sum.redundant += ((double)c->received / size - 1) / n;
        times[sum.n_done++] = (double)c->took / (double)XD_SECOND;
    }
    for (size_t i = 0; i < r->n_chunks; i++) {
        const unsigned asked = r->origin_chunks[i];

        sum.least = asked < sum.least ? asked : sum.least;
        sum.most = asked > sum.most ? asked : sum.most;
    }
    sum_times(&sum, times, sum.n_done, s->size);
    free(times);
    return sum;
}

struct crowd_summary crowd_run(const struct crowd_setup *s,
                               struct xd_crowd_result *out)
{
    struct xd_crowd_result r;
    struct crowd_summary sum;
    struct crowd c;

    crowd_make(&c, s);
    if (xd_crowd_run(&c.o, &r) < 0) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    sum = crowd_sum(s, &r, 0, s->n_clients);
    crowd_free(&c);
    if (out)
        *out = r;
    else
        xd_crowd_result_fini(&r);
    return sum;
}

/* ---- limits ---- */

double crowd_line_limit(const struct crowd_setup *s)
{
    const double one = (double)s->size / (s->client_mbit * MBIT * PAYLOAD);

    return fmax(one, (double)s->size * s->n_clients /
                         (s->n_nodes * s->node_mbit * MBIT * PAYLOAD));
}

/* Up to which load the least loaded of these nodes are filled by `amount`. */
static double level_of(const double *load, const unsigned *nodes, unsigned n,
                       double amount)
{
    double low = load[nodes[0]], high;

    for (unsigned k = 1; k < n; k++)
        low = fmin(low, load[nodes[k]]);
    high = low + amount;
    for (unsigned i = 0; i < LEVEL_STEPS; i++) {
        const double middle = (low + high) / 2;
        double room_there = 0;

        for (unsigned k = 0; k < n; k++)
            room_there += fmax(0, middle - load[nodes[k]]);
        *(room_there < amount ? &low : &high) = middle;
    }
    return high;
}

/* Each chunk in turn is spread over its nodes as evenly as the loads of the
 * others allow, until nothing moves. */
double crowd_layout_limit(const struct crowd_setup *s)
{
    const size_t n_chunks = (size_t)((s->size + s->chunk - 1) / s->chunk);
    const double amount = (double)s->size / (double)n_chunks * s->n_clients;
    double *load = room(s->n_nodes, sizeof *load), most = 0;
    double *shares = room(n_chunks * s->copies, sizeof *shares);
    unsigned *rank = make_rank(s);

    for (size_t i = 0; i < LAYOUT_ROUNDS * n_chunks; i++) {
        const size_t c = i % n_chunks;
        const unsigned *nodes = rank + c * s->n_nodes;
        double *share = shares + c * s->copies, level;

        for (unsigned k = 0; k < s->copies; k++)
            load[nodes[k]] -= share[k];
        level = level_of(load, nodes, s->copies, amount);
        for (unsigned k = 0; k < s->copies; k++) {
            share[k] = fmax(0, level - load[nodes[k]]);
            load[nodes[k]] += share[k];
        }
    }
    for (unsigned i = 0; i < s->n_nodes; i++)
        most = fmax(most, load[i]);
    free(rank);
    free(shares);
    free(load);
    return fmax(crowd_line_limit(s), most / (s->node_mbit * MBIT * PAYLOAD));
}
