/* SPDX-License-Identifier: MIT */
#include "families.h"

#include <math.h>

#include "sim/net.h"

#define MIB ((uint64_t)1 << 20)

/* What Linux lets a connection have in flight (tcp_rmem). */
#define WINDOW "window=6m"

typedef struct xd_draw_network net;

static double uniform(net *w, double least, double most)
{
    return least + xd_sim_uniform(&w->random) * (most - least);
}

/* As likely to be between 1 and 10 as between 10 and 100. */
static double scaled(net *w, double least, double most)
{
    return least * exp2(xd_sim_uniform(&w->random) * log2(most / least));
}

static unsigned whole(net *w, unsigned least, unsigned most)
{
    return least + (unsigned)(xd_sim_random(&w->random) % (most - least + 1));
}

static bool chance(net *w, double probability)
{
    return xd_sim_uniform(&w->random) < probability;
}

/* Mbit/s; a queue of 100 ms. */
static void client(net *w, double rate)
{
    xd_text_addf(&w->text, "client rate=%.0fkbit queue=%.0fk\n", rate * 1e3,
                 fmax(64, rate * 12.5));
}

/* Mbit/s, ms; a queue of one round trip.  Returns the number of the depot, whose
 * line is to be ended. */
static unsigned depot(net *w, double rate, double rtt)
{
    unsigned i = w->n_depots++;

    xd_text_addf(
        &w->text,
        "depot d%u 198.18.1.%u rate=%.0fkbit rtt=%.1fms queue=%.0fk " WINDOW, i,
        i + 1, rate * 1e3, rtt, fmax(64, rate * rtt / 8));
    return i;
}

static void end(net *w)
{
    xd_text_addf(&w->text, "\n");
}

static void at(net *w, double when, unsigned i, double rate)
{
    if (rate > 0)
        xd_text_addf(&w->text, "at %.3fs d%u rate=%.0fkbit\n", when, i,
                     rate * 1e3);
    else
        xd_text_addf(&w->text, "at %.3fs d%u down\n", when, i);
}

static void up(net *w, double when, unsigned i)
{
    xd_text_addf(&w->text, "at %.3fs d%u up\n", when, i);
}

/* Plain depots of random rate and distance. */
static void depots(net *w, unsigned n, double least_rate, double most_rate,
                   double least_rtt, double most_rtt)
{
    while (n-- > 0) {
        double rate = scaled(w, least_rate, most_rate);

        depot(w, rate, scaled(w, least_rtt, most_rtt));
        end(w);
    }
}

/* Steady. */

static void steady(net *w)
{
    client(w, scaled(w, 40, 600));
    depots(w, whole(w, 1, 6), 10, 150, 8, 150);
}

static void conncap(net *w)
{
    client(w, 200);
    for (unsigned n = whole(w, 1, 3); n > 0; n--) {
        depot(w, 200, scaled(w, 10, 100));
        xd_text_addf(&w->text, " cap=%.0fk\n", scaled(w, 1024, 5120));
    }
}

static void reqcap(net *w)
{
    client(w, 200);
    for (unsigned n = whole(w, 1, 3); n > 0; n--) {
        depot(w, 200, scaled(w, 10, 100));
        xd_text_addf(&w->text, " cap=%.0fk per=request\n",
                     scaled(w, 1024, 5120));
    }
}

static void shared(net *w)
{
    client(w, 400);
    xd_text_addf(&w->text, "link l0 rate=%.0fkbit\nlink l1 rate=%.0fkbit\n",
                 scaled(w, 20, 80) * 1e3, scaled(w, 20, 80) * 1e3);
    for (unsigned i = 0, n = whole(w, 4, 6); i < n; i++) {
        depot(w, scaled(w, 30, 100), scaled(w, 8, 150));
        xd_text_addf(&w->text, " via=l%u\n", i % 2);
    }
}

static void far(net *w)
{
    client(w, 60);
    depots(w, 2, 40, 40, 200, 600);
}

static void lossy_far(net *w)
{
    client(w, 300);
    for (unsigned n = whole(w, 2, 4); n > 0; n--) {
        depot(w, 50, uniform(w, 150, 300));
        xd_text_addf(&w->text, " loss=%.3f%%\n", scaled(w, 0.1, 1));
    }
    depots(w, 1, 20, 20, 40, 40);
}

/* The good ones come last, as in a list that nobody has ordered. */
static void many(net *w)
{
    unsigned n = whole(w, 8, 40), good = n / 6 > 2 ? n / 6 : 2;

    client(w, 400);
    depots(w, n - good, 0.3, 10, 20, 300);
    depots(w, good, 25, 100, 8, 100);
}

/* Each is slow, so that most of them are needed. */
static void swarm(net *w)
{
    client(w, scaled(w, 50, 200));
    depots(w, whole(w, 40, 90), 0.5, 3, 20, 200);
}

static void thin_line(net *w)
{
    xd_text_addf(&w->text, "client rate=%.0fkbit queue=%.0fk\n",
                 scaled(w, 8, 24) * 1e3, scaled(w, 32, 128));
    w->o->size = 16 * MIB;
    depots(w, whole(w, 2, 3), 50, 100, 15, 60);
}

static void thinking(net *w)
{
    client(w, 200);
    for (unsigned n = whole(w, 1, 4); n > 0; n--) {
        double least = scaled(w, 200, 1500);

        depot(w, scaled(w, 20, 100), scaled(w, 15, 100));
        xd_text_addf(&w->text, " think=%.0fms-%.0fms\n", least,
                     least * uniform(w, 1, 2));
    }
}

static void dead(net *w)
{
    unsigned n = whole(w, 4, 10), bad = n / 2;

    client(w, 300);
    for (unsigned left = n; left > 0; left--) {
        bool is_dead = chance(w, (double)bad / left);

        depot(w, scaled(w, 10, 80), scaled(w, 8, 150));
        xd_text_addf(&w->text, is_dead ? " down\n" : "\n");
        bad -= is_dead;
    }
}

static void copies(net *w)
{
    client(w, 300);
    w->o->object_bytes = MIB;
    w->o->copies = whole(w, 2, 3);
    depots(w, whole(w, 4, 8), 10, 80, 8, 150);
}

/* Caches own each object in pairs; of some the origin has to take the place. */
static void tiers(net *w)
{
    client(w, scaled(w, 80, 300));
    w->o->object_bytes = MIB;
    for (unsigned n = whole(w, 3, 6); n > 0; n--) {
        depot(w, scaled(w, 20, 80), scaled(w, 8, 60));
        xd_text_addf(&w->text, " owners=2%s\n", chance(w, 0.15) ? " down" : "");
    }
    depot(w, scaled(w, 40, 150), scaled(w, 40, 150));
    xd_text_addf(&w->text, " tier=2\n");
}

static void parity(net *w)
{
    unsigned k = whole(w, 2, 6), slow = whole(w, 1, 2);

    client(w, 300);
    w->o->object_bytes = MIB / 2;
    w->o->code = (struct xd_sim_code){.k = k, .n = k + 2};
    depots(w, k + 2 - slow, 20, 60, 8, 150);
    depots(w, slow, 1, 3, 8, 150);
}

static void small_files(net *w)
{
    client(w, 100);
    w->o->size = 16 * MIB;
    w->o->object_bytes = (uint64_t)scaled(w, 64, 1024) * 1024;
    depots(w, whole(w, 1, 4), 10, 80, 8, 100);
}

/* A set of files as the engine has it: so many are begun at a time. */
static void sets(net *w)
{
    client(w, scaled(w, 40, 400));
    w->o->size = 24 * MIB;
    w->o->object_bytes = (uint64_t)scaled(w, 8, 4096) * 1024;
    w->o->piece_bytes = 0;
    w->o->sched.most_objects = 64;
    w->o->has_http2 = w->o->has_tls = chance(w, 0.5);
    if (w->o->has_http2) {
        w->o->sched.connections_per_depot = w->o->sched.lanes_per_depot;
        w->o->sched.lanes_per_depot = 16;
    }
    depots(w, whole(w, 1, 5), 10, 100, 8, 120);
}

static void little(net *w)
{
    client(w, scaled(w, 20, 400));
    w->o->size = (uint64_t)scaled(w, 4, 1000) * 1024;
    depots(w, whole(w, 1, 8), 5, 150, 8, 250);
}

/* Requests share a connection, which the server may cap. */
static void streams(net *w)
{
    client(w, scaled(w, 40, 400));
    w->o->has_http2 = w->o->has_tls = true;
    for (unsigned n = whole(w, 1, 4); n > 0; n--) {
        depot(w, scaled(w, 20, 150), scaled(w, 8, 150));
        if (chance(w, 0.5))
            xd_text_addf(&w->text, " cap=%.0fk per=%s", scaled(w, 1024, 5120),
                         chance(w, 0.5) ? "request" : "connection");
        end(w);
    }
}

/* Changing. */

static void changing(net *w)
{
    client(w, scaled(w, 80, 400));
    for (unsigned n = whole(w, 2, 5); n > 0; n--) {
        unsigned i = depot(w, scaled(w, 10, 150), scaled(w, 8, 150));

        end(w);
        for (double t = uniform(w, 1, 4); t < 60; t += uniform(w, 1, 4))
            at(w, t, i, scaled(w, 3, 100));
    }
}

static void blackout(net *w)
{
    client(w, scaled(w, 80, 200));
    depots(w, 1, 12, 15, 8, 150); /* the worst stays */
    for (unsigned n = whole(w, 1, 3); n > 0; n--) {
        double from = uniform(w, 1, 4);
        unsigned i = depot(w, scaled(w, 15, 40), scaled(w, 8, 150));

        end(w);
        at(w, from, i, 0);
        up(w, from + uniform(w, 1, 5), i);
    }
}

static void burst_depot(net *w)
{
    client(w, 300);
    for (unsigned n = whole(w, 2, 4); n > 0; n--) {
        double rate = scaled(w, 50, 150);
        unsigned i = depot(w, rate, scaled(w, 15, 80));

        end(w);
        at(w, uniform(w, 0.5, 1.5), i, rate / scaled(w, 4, 16));
    }
}

/* The client's line is fast at first. */
static void powerboost(net *w)
{
    double rate = scaled(w, 20, 60);

    client(w, rate * uniform(w, 2, 5));
    depots(w, whole(w, 2, 4), 20, 100, 8, 100);
    xd_text_addf(&w->text, "at %.3fs client rate=%.0fkbit\n", uniform(w, 1, 3),
                 rate * 1e3);
}

static void jitter(net *w)
{
    client(w, 150);
    for (unsigned n = whole(w, 2, 4); n > 0; n--) {
        double rate = scaled(w, 10, 150);
        unsigned i = depot(w, rate, scaled(w, 8, 150));

        xd_text_addf(&w->text, " jitter=%.1fms\n", uniform(w, 1, 10));
        for (double t = 0.15; t < 20; t += 0.15)
            at(w, t, i, rate * scaled(w, 0.5, 2));
    }
}

/* A client that moves: its line changes, and is dark in tunnels. */
static void train(net *w)
{
    client(w, 60);
    depots(w, whole(w, 2, 4), 20, 60, 40, 150);
    for (double t = uniform(w, 1.5, 3); t < 90; t += uniform(w, 1.5, 3)) {
        xd_text_addf(&w->text, "at %.3fs client rate=%.0fkbit\n", t,
                     scaled(w, 3, 60) * 1e3);
        if (!chance(w, 0.4))
            continue;
        t += uniform(w, 0.5, 1.5);
        for (unsigned i = 0; i < w->n_depots; i++)
            at(w, t, i, 0);
        t += 0.7;
        for (unsigned i = 0; i < w->n_depots; i++)
            up(w, t, i);
    }
}

static void coldcache(net *w)
{
    client(w, 300);
    for (unsigned n = whole(w, 1, 4); n > 0; n--) {
        double rate = scaled(w, 50, 150), t = uniform(w, 0.5, 3);
        unsigned i = depot(w, rate * 0.05, scaled(w, 15, 100));

        end(w);
        for (unsigned k = 1; k <= 8; k++)
            at(w, k * t / 8, i, rate * (0.05 + 0.95 * k * k / 64));
    }
}

static void stutter(net *w)
{
    client(w, 200);
    for (unsigned n = whole(w, 2, 4); n > 0; n--) {
        double rate = scaled(w, 30, 120);
        unsigned i = depot(w, rate, scaled(w, 15, 100));

        xd_text_addf(&w->text, " queue=64k\n");
        for (double t = uniform(w, 0.3, 0.9); t < 40;
             t += uniform(w, 0.3, 0.9)) {
            at(w, t, i, rate / 10);
            t += uniform(w, 0.2, 0.6);
            at(w, t, i, rate);
        }
    }
}

/* Every second one fades, the others grow. */
static void fading(net *w)
{
    client(w, 300);
    for (unsigned k = 0, n = whole(w, 3, 5); k < n; k++) {
        double rate = scaled(w, 20, 80);
        unsigned i = depot(w, rate, scaled(w, 8, 150));

        end(w);
        for (double t = 0.25; t < 15; t += 0.25)
            at(w, t, i,
               rate * (k % 2 ? fmax(0.05, 1 - t / 10) : fmin(2, 0.3 + t / 8)));
    }
}

/* The fastest becomes a hundred times slower, dies, or comes back. */
static void collapse(net *w)
{
    double when = uniform(w, 0.5, 3);
    unsigned i;

    client(w, 300);
    depots(w, whole(w, 2, 4), 10, 40, 8, 150);
    i = depot(w, 80, scaled(w, 8, 100));
    end(w);
    at(w, when, i, chance(w, 0.5) ? 0.8 : 0);
    if (chance(w, 0.5)) {
        when += uniform(w, 1, 4);
        at(w, when, i, 80);
        up(w, when, i);
    }
}

/* Hidden. */

static void lottery(net *w)
{
    double slow = uniform(w, 20, 50);

    client(w, 200);
    depot(w, 200, scaled(w, 15, 80));
    xd_text_addf(&w->text, " draws=500k:%.0f,1m:30,8m:%.0f\n", slow, 70 - slow);
}

static void burst(net *w, const char *per)
{
    client(w, 200);
    for (unsigned n = whole(w, 1, 2); n > 0; n--) {
        depot(w, 200, scaled(w, 15, 80));
        xd_text_addf(&w->text, " burst=%.0fk cap=%.0fk per=%s\n",
                     scaled(w, 1024, 6144), scaled(w, 64, 512), per);
    }
}

static void burst_request(net *w)
{
    burst(w, "request");
}

static void burst_conn(net *w)
{
    burst(w, "connection");
}

static void rate_limit(net *w)
{
    client(w, 200);
    for (unsigned n = whole(w, 1, 2); n > 0; n--) {
        depot(w, 200, scaled(w, 15, 80));
        xd_text_addf(&w->text, " asks=%u spare=%u%s\n", 1U << whole(w, 0, 3),
                     2 * whole(w, 0, 2), chance(w, 0.5) ? " retry=1s" : "");
    }
}

static void conn_limit(net *w)
{
    static const char *const caps[] = {"", " cap=2m", " cap=5m"};
    static const char *const answers[] = {"503", "429", "reset", "close"};

    client(w, 200);
    for (unsigned n = whole(w, 1, 3); n > 0; n--) {
        depot(w, 200, scaled(w, 15, 80));
        xd_text_addf(&w->text, " most=%u answer=%s%s\n", whole(w, 1, 5),
                     answers[whole(w, 0, 3)], caps[whole(w, 0, 2)]);
    }
}

static void ban(net *w)
{
    client(w, 200);
    for (unsigned n = whole(w, 1, 3); n > 0; n--) {
        depot(w, 200, scaled(w, 15, 80));
        xd_text_addf(&w->text, " most=%u answer=reset ban=%.1fs%s\n",
                     whole(w, 3, 10), uniform(w, 3, 8),
                     chance(w, 0.5) ? " cap=3m" : "");
    }
}

static void hang(net *w)
{
    client(w, 200);
    for (unsigned n = whole(w, 1, 4); n > 0; n--) {
        depot(w, scaled(w, 30, 150), scaled(w, 8, 150));
        xd_text_addf(&w->text, " hangs=%.0f%%\n", uniform(w, 10, 35));
    }
}

static void life(net *w)
{
    client(w, 200);
    for (unsigned n = whole(w, 1, 3); n > 0; n--) {
        depot(w, scaled(w, 50, 200), scaled(w, 15, 100));
        xd_text_addf(&w->text, " life=%u\n", whole(w, 1, 3));
    }
}

static void mixed(net *w)
{
    static const char *const odd[] = {"cap=2m",
                                      "draws=500k:4,1m:3,8m:3",
                                      "burst=3m cap=200k per=request",
                                      "burst=3m cap=200k",
                                      "think=300ms-800ms",
                                      "asks=3 spare=2",
                                      "most=2 answer=503",
                                      "life=2",
                                      "hangs=20%"};

    client(w, 300);
    for (unsigned n = whole(w, 2, 5); n > 0; n--) {
        depot(w, scaled(w, 30, 150), scaled(w, 15, 150));
        xd_text_addf(&w->text, " %s\n",
                     odd[whole(w, 0, sizeof odd / sizeof *odd - 1)]);
    }
}

/* Readers. */

static void film(net *w)
{
    steady(w);
    w->film.share = uniform(w, 0.5, 0.95);
}

static void film_changing(net *w)
{
    changing(w);
    w->film.share = uniform(w, 0.5, 0.95);
}

/* Longer than what is fetched ahead. */
static void long_film(net *w)
{
    steady(w);
    w->o->size = 64 * MIB;
    w->film.share = uniform(w, 0.5, 0.95);
}

static void film_seek(net *w)
{
    long_film(w);
    w->film.leaves_at = uniform(w, 0.1, 0.2);
    w->film.goes_to = uniform(w, 0.6, 0.8);
}

static void film_pause(net *w)
{
    long_film(w);
    w->film.pauses_at = uniform(w, 0.1, 0.8);
}

static void film_two(net *w)
{
    long_film(w);
    w->film.second = uniform(w, 0.4, 0.6);
}

#define FLUID "water-filling"
#define FILM "the end of the film, with the stalls of water-filling"
#define TCP "six TCPs to each depot, or water-filling if that takes longer"

/* Rates in Mbit/s, times in ms, caps in MiB/s.  FLUID is xd_sim_limit(): every depot
 * is asked over six connections from the first moment, each with its first round
 * trips, the doubling of its window and the least thinking time, and the lines are
 * shared without loss. */
const struct xd_family xd_families[] = {
    {"steady", "steady", "1-6 depots, 10-150, rtt 8-150, line 40-600", FLUID,
     steady, false, false},
    {"conncap", "steady", "1-3 depots, cap 1-5 per connection", FLUID, conncap,
     false, false},
    {"reqcap", "steady", "1-3 depots, cap 1-5 per request", FLUID, reqcap,
     false, false},
    {"shared", "steady", "4-6 depots, 30-100, behind two links, 20-80", FLUID,
     shared, false, false},
    {"far", "steady", "2 depots, 40, rtt 200-600", TCP, far, true, false},
    {"lossy_far", "steady",
     "2-4 depots, rtt 150-300, loss 0.1-1 %, and a near one", TCP, lossy_far,
     true, false},
    {"many", "steady", "8-40 depots, 0.3-10; the last sixth 25-100", FLUID,
     many, false, false},
    {"swarm", "steady", "40-90 depots, 0.5-3, line 50-200", FLUID, swarm, false,
     false},
    {"thin_line", "steady", "line 8-24, queue 32-128 KiB; 16 MiB", FLUID,
     thin_line, false, false},
    {"thinking", "steady", "1-4 depots, first byte after 200-1500, up to twice",
     FLUID, thinking, false, false},
    {"dead", "steady", "4-10 depots, half of them silent", FLUID, dead, false,
     false},
    {"copies", "steady", "4-8 depots, 2-3 copies of each object of 1 MiB",
     "water-filling over the depots of each object", copies, false, true},
    {"tiers", "steady", "3-6 caches, 2 own each object, 15 % silent; an origin",
     FLUID " over the lowest tier that works", tiers, false, true},
    {"parity", "steady", "2-6 shards and 2 of parity, one or two depots at 1-3",
     FLUID " over enough shards", parity, false, true},
    {"small_files", "steady", "16 MiB in files of 64-1024 KiB, 1-4 depots",
     FLUID ", as if it were one file", small_files, false, true},
    {"sets", "steady",
     "24 MiB in files of 8-4096 KiB, 64 at a time, half over HTTP/2",
     FLUID ", as if it were one file", sets, false, true},
    {"little", "steady", "4-1000 KiB, 1-8 depots, 5-150, rtt 8-250", FLUID,
     little, false, false},
    {"streams", "steady", "HTTP/2, 1-4 depots, 20-150, half with caps of 1-5",
     FLUID, streams, false, true},
    {"changing", "changing", "2-5 depots, 3-100, a new rate every 1-4 s", FLUID,
     changing, false, false},
    {"blackout", "changing", "all but the worst unreachable for 1-5 s", FLUID,
     blackout, false, false},
    {"burst_depot", "changing", "2-4 depots, 4-16 times slower after 0.5-1.5 s",
     FLUID, burst_depot, false, false},
    {"powerboost", "changing", "the line 2-5 times faster for 1-3 s", FLUID,
     powerboost, false, false},
    {"jitter", "changing", "rates half to double every 0.15 s, jitter 1-10",
     FLUID, jitter, false, false},
    {"train", "changing",
     "line 3-60, a new rate every 1.5-3 s; no line for 0.7 s", FLUID, train,
     false, false},
    {"coldcache", "changing", "a depot's rate grows from 5 % to all in 0.5-3 s",
     FLUID, coldcache, false, false},
    {"stutter", "changing",
     "every 0.3-0.9 s, a tenth of the rate for 0.2-0.6 s", FLUID, stutter,
     false, false},
    {"fading", "changing", "rates fall or grow over 10 s", FLUID, fading, false,
     false},
    {"collapse", "changing", "the fastest dies or becomes slow; half recover",
     FLUID, collapse, false, false},
    {"lottery", "hidden", "random cap for each connection: 0.5, 1 or 8",
     FLUID " with the best draw", lottery, false, false},
    {"burst_request", "hidden",
     "a request gets 1-6 MiB at once, then 64-512 KiB/s",
     FLUID " with burst after burst", burst_request, false, false},
    {"burst_conn", "hidden", "the same for each connection",
     FLUID " with burst after burst", burst_conn, false, false},
    {"rate_limit", "hidden", "1-8 requests a second, 0-4 more after a pause",
     FLUID, rate_limit, false, false},
    {"conn_limit", "hidden",
     "refuses more than 1-5 connections, in 4 ways; caps",
     FLUID " over the allowed connections", conn_limit, false, false},
    {"ban", "hidden", "bans for 3-8 s after more than 3-10 connections",
     FLUID " over the allowed connections", ban, false, false},
    {"hang", "hidden", "10-35 % of connections are never answered", FLUID, hang,
     false, false},
    {"life", "hidden", "closes a connection after 1-3 responses", FLUID, life,
     false, false},
    {"mixed", "hidden", "2-5 depots, each with one of nine such limits", FLUID,
     mixed, false, false},
    {"film", "readers", "steady depots; 0.5-0.95 of the sustainable rate", FILM,
     film, false, true},
    {"film_changing", "readers", "the same with changing depots", FILM,
     film_changing, false, true},
    {"film_seek", "readers",
     "steady depots, 64 MiB, 16 ahead; a seek from 0.1-0.2 to 0.6-0.8", FILM,
     film_seek, false, true},
    {"film_pause", "readers",
     "the same without a seek; a pause of 5 s at 0.1-0.8", FILM, film_pause,
     false, true},
    {"film_two", "readers",
     "the same without a seek; another viewer starts at 0.4-0.6", FILM,
     film_two, false, true},
};
const size_t xd_n_families = sizeof xd_families / sizeof *xd_families;
