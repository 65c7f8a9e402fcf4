/* SPDX-License-Identifier: MIT */
/* Many clients, caches between them and an origin. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "crowd/crowds.h"
#include "sched/policy.h"
#include "crowd/share.h"
#include "sim/run.h"
#include "suite.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* 10 clients, 5 nodes; the rules look at every step. */
static struct crowd_setup small_crowd(void)
{
    struct crowd_setup s = crowd_live();

    s.n_clients = 10;
    s.size = 8 * MIB;
    s.chunk = 512 * KIB;
    s.step_ms = 5;
    s.is_checked = true;
    return s;
}

static struct crowd_summary run(const struct crowd_setup *s,
                                struct xd_crowd_result *r)
{
    const struct crowd_summary sum = crowd_run(s, r);

    ck_assert_uint_eq(sum.n_broken, 0);
    ck_assert_uint_eq(sum.n_done, s->n_clients);
    return sum;
}

/* ---- shares ---- */

START_TEST(shares_are_max_min_fair)
{
    /* Two flows of line 0, one of which line 1 bounds to 2; a third is bound
     * by itself, and one by nothing but its cap. */
    struct xd_share_line lines[] = {{.rate = 10}, {.rate = 4}, {.rate = 0}};
    struct xd_share_flow flows[] = {
        {.cap = INFINITY, .lines = {0}, .n_lines = 1},
        {.cap = INFINITY, .lines = {0, 1}, .n_lines = 2},
        {.cap = INFINITY, .lines = {1}, .n_lines = 1},
        {.cap = 1, .lines = {0}, .n_lines = 1},
        {.cap = 77, .lines = {2}, .n_lines = 1}};
    unsigned order[5];

    xd_share(lines, 3, flows, order, 5);
    ck_assert_double_eq_tol(flows[0].rate, 7, 1e-9);
    ck_assert_double_eq_tol(flows[1].rate, 2, 1e-9);
    ck_assert_double_eq_tol(flows[2].rate, 2, 1e-9);
    ck_assert_double_eq_tol(flows[3].rate, 1, 1e-9);
    ck_assert_double_eq_tol(flows[4].rate, 77, 1e-9);
}
END_TEST

/* ---- what the origin sends ---- */

START_TEST(with_two_hops_the_origin_sends_each_chunk_once)
{
    const struct crowd_setup s = small_crowd();
    struct xd_crowd_result r;
    const struct crowd_summary sum = run(&s, &r);

    ck_assert_uint_eq(r.origin_bytes, s.size);
    ck_assert_uint_eq(sum.least, 1);
    ck_assert_uint_eq(sum.most, 1);
    ck_assert_uint_gt(r.hop_bytes, 0);
    ck_assert_uint_le(r.hop_bytes, (s.copies - 1) * s.size);
    xd_crowd_result_fini(&r);
}
END_TEST

START_TEST(with_one_hop_it_sends_each_once_for_each_copy)
{
    struct crowd_setup s = small_crowd();
    struct xd_crowd_result r;
    struct crowd_summary sum;

    s.hops = 1;
    sum = run(&s, &r);
    ck_assert_double_ge(sum.origin, 0.9 * s.copies);
    ck_assert_double_le(sum.origin, s.copies);
    ck_assert_uint_le(sum.most, s.copies);
    ck_assert_uint_eq(r.hop_bytes, 0);
    xd_crowd_result_fini(&r);
}
END_TEST

START_TEST(warm_nodes_ask_nobody_and_their_lines_are_full)
{
    struct crowd_setup s = small_crowd();
    struct xd_crowd_result r;
    struct crowd_summary sum;

    s.is_warm = true;
    s.n_clients = 20;
    sum = run(&s, &r);
    ck_assert_uint_eq(r.origin_requests, 0);
    ck_assert_double_le(sum.last, 1.25 * crowd_layout_limit(&s));
    ck_assert_double_ge(sum.last + s.spread_s, crowd_line_limit(&s));
    for (size_t i = 0; i < r.n_caches; i++)
        ck_assert_uint_eq(r.caches[i].misses, 0);
    xd_crowd_result_fini(&r);
}
END_TEST

START_TEST(those_who_come_while_a_chunk_is_fetched_wait_for_it)
{
    struct crowd_setup s = small_crowd();
    struct xd_crowd_result r;
    unsigned waits = 0;

    s.n_plain = s.n_clients;
    s.n_nodes = 1;
    s.copies = 1;
    run(&s, &r);
    ck_assert_uint_eq(r.origin_bytes, s.size);
    ck_assert_uint_eq(r.caches[0].misses, s.size / s.chunk);
    ck_assert_uint_eq(r.caches[0].misses + r.caches[0].hits + r.caches[0].waits,
                      s.n_clients * (s.size / s.chunk));
    waits = r.caches[0].waits;
    ck_assert_uint_gt(waits, 0);
    ck_assert_uint_eq(r.caches[0].out, s.n_clients * s.size);
    xd_crowd_result_fini(&r);
}
END_TEST

START_TEST(with_too_little_memory_chunks_are_fetched_again)
{
    struct crowd_setup s = small_crowd();
    struct xd_crowd_result r;
    unsigned evictions = 0;
    double origin;

    s.memory = 2 * s.chunk;
    s.spread_s = 3;
    origin = run(&s, &r).origin;
    for (size_t i = 0; i < r.n_caches; i++)
        evictions += r.caches[i].evictions;
    ck_assert_uint_gt(evictions, 0);
    ck_assert_double_gt(origin, 1.1);
    xd_crowd_result_fini(&r);
    s.memory = s.size;
    ck_assert_double_eq_tol(run(&s, NULL).origin, 1, 1e-9);
}
END_TEST

/* ---- faults ---- */

START_TEST(no_client_fails_when_a_node_dies)
{
    struct crowd_setup s = small_crowd();
    struct xd_crowd_result r;

    s.dies_s = 1.5;
    ck_assert_double_le(run(&s, &r).origin, 1.6);
    ck_assert_uint_gt(r.caches[0].out, 0);
    ck_assert_uint_lt(r.caches[0].out, s.size);
    xd_crowd_result_fini(&r);
}
END_TEST

START_TEST(nor_when_one_falls_silent_or_becomes_slow)
{
    struct crowd_setup s = small_crowd();

    s.mutes_s = 1.5;
    ck_assert_double_le(run(&s, NULL).origin, 1.6);
    s.mutes_s = 0;
    s.slows_s = 1.5;
    ck_assert_double_le(run(&s, NULL).origin, 1.6);
}
END_TEST

START_TEST(a_client_fails_where_the_only_owner_is_dead)
{
    struct crowd_setup s = small_crowd();
    struct crowd_summary sum;

    s.copies = 1;
    s.n_clients = 2;
    s.dies_s = 0.001;
    sum = crowd_run(&s, NULL);
    ck_assert_uint_eq(sum.n_failed, 2);
    ck_assert_uint_eq(sum.n_broken, 0);
}
END_TEST

/* ---- other clients ---- */

START_TEST(the_agent_of_coblitz_fetches_the_file_too)
{
    struct crowd_setup s = small_crowd();
    struct xd_crowd_result r;

    s.kind = XD_CROWD_WINDOW;
    s.chunk = 64 * KIB;
    ck_assert_double_eq_tol(run(&s, &r).origin, 1, 1e-9);
    for (size_t i = 0; i < r.n_clients; i++)
        ck_assert_uint_ge(r.clients[i].received, s.size);
    xd_crowd_result_fini(&r);
    s.window.is_in_order = true;
    s.window.most = 4;
    run(&s, NULL);
    s.mutes_s = 1;
    ck_assert_double_gt(run(&s, NULL).retries, 0);
}
END_TEST

START_TEST(with_peers_that_differ_the_origin_sends_more)
{
    struct crowd_setup s = crowd_planetlab();
    double peers, mesh;

    s.n_clients = s.n_nodes = 190;
    s.size = 10 * s.chunk;
    peers = run(&s, NULL).origin;
    s.has_peers = false;
    mesh = run(&s, NULL).origin;
    ck_assert_double_eq_tol(mesh, 1, 1e-9);
    ck_assert_double_gt(peers, 1.5);
    ck_assert_double_lt(peers, 20);
}
END_TEST

START_TEST(plain_connections_share_the_line_of_the_origin)
{
    struct crowd_setup s = small_crowd();
    struct crowd_summary sum;

    s.n_clients = s.n_plain = 8;
    s.asks_origin = true;
    s.spread_s = 0;
    sum = run(&s, NULL);
    ck_assert_double_eq_tol(sum.origin, 8, 1e-9);
    ck_assert_double_gt(sum.fairness, 0.999);
    /* 64 MiB over 100 Mbit/s, less headers; and a slow start. */
    ck_assert_double_ge(sum.last, 5.55);
    ck_assert_double_le(sum.last, 5.55 + 0.5);
}
END_TEST

/* ---- all in all ---- */

START_TEST(the_same_crowd_does_the_same)
{
    struct crowd_setup s = small_crowd();
    struct xd_crowd_result a, b, other;

    s.poisson_s = 0.2;
    run(&s, &a);
    run(&s, &b);
    s.seed++;
    run(&s, &other);
    ck_assert_mem_eq(a.clients, b.clients, a.n_clients * sizeof *a.clients);
    ck_assert_mem_eq(a.caches, b.caches, a.n_caches * sizeof *a.caches);
    ck_assert_uint_eq(a.n_decisions, b.n_decisions);
    ck_assert_int_ne(
        memcmp(a.clients, other.clients, a.n_clients * sizeof *a.clients), 0);
    xd_crowd_result_fini(&a);
    xd_crowd_result_fini(&b);
    xd_crowd_result_fini(&other);
}
END_TEST

/* Of one client, in seconds, packet by packet. */
static double over_packets(const struct crowd_setup *s)
{
    const struct xd_sim_options o = {.sched = {.policy = &xd_policy_adaptive,
                                               .redundancy = 2,
                                               .lanes_per_depot = s->lanes,
                                               .first_lanes = s->first_lanes,
                                               .progress = XD_AUTO,
                                               .max_open = 64,
                                               .block_bytes = MIB,
                                               .max_failures = 5,
                                               .patience = 120 * XD_SECOND},
                                     .size = s->size,
                                     .object_bytes = s->chunk,
                                     .seed = 1,
                                     .silence = 5 * XD_SECOND};
    struct xd_text text = {.s = NULL};
    struct xd_error err = {0};
    struct xd_sim_result result;
    struct xd_scenario scenario;
    double took;

    xd_text_addf(&text, "client rate=%.0fmbit queue=2m\n", s->client_mbit);
    for (unsigned i = 0; i < s->n_nodes; i++)
        xd_text_addf(&text,
                     "depot n%u 1.1.1.1 rate=%.0fmbit rtt=%.0fms queue=1m\n", i,
                     s->node_mbit, s->rtt_ms);
    ck_assert_msg(xd_scenario_parse(&scenario, text.s, &err) == 0, "%s",
                  err.msg);
    ck_assert_int_eq(xd_sim_run(&scenario, &o, &result), 0);
    ck_assert(result.is_complete);
    took = (double)result.took / 1e6;
    xd_sim_result_fini(&result);
    xd_scenario_fini(&scenario);
    xd_text_fini(&text);
    return took;
}

START_TEST(one_client_takes_as_long_as_over_packets)
{
    static const double rates[] = {20, 50, 250};
    struct crowd_setup s = small_crowd();
    double flows, packets;

    s.n_clients = 1;
    s.size = 32 * MIB;
    s.chunk = MIB;
    s.step_ms = 2;
    s.is_warm = true;
    s.spread_s = 0;
    s.copies = s.n_nodes;
    s.client_mbit = rates[_i];
    flows = run(&s, NULL).last;
    packets = over_packets(&s);
    ck_assert_msg(fabs(flows / packets - 1) < 0.12,
                  "%.2f s over flows, %.2f s over packets", flows, packets);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("crowd");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, shares_are_max_min_fair);
    tcase_add_test(t, with_two_hops_the_origin_sends_each_chunk_once);
    tcase_add_test(t, with_one_hop_it_sends_each_once_for_each_copy);
    tcase_add_test(t, warm_nodes_ask_nobody_and_their_lines_are_full);
    tcase_add_test(t, those_who_come_while_a_chunk_is_fetched_wait_for_it);
    tcase_add_test(t, with_too_little_memory_chunks_are_fetched_again);
    tcase_add_test(t, no_client_fails_when_a_node_dies);
    tcase_add_test(t, nor_when_one_falls_silent_or_becomes_slow);
    tcase_add_test(t, a_client_fails_where_the_only_owner_is_dead);
    tcase_add_test(t, the_agent_of_coblitz_fetches_the_file_too);
    tcase_add_test(t, with_peers_that_differ_the_origin_sends_more);
    tcase_add_test(t, plain_connections_share_the_line_of_the_origin);
    tcase_add_test(t, the_same_crowd_does_the_same);
    tcase_add_loop_test(t, one_client_takes_as_long_as_over_packets, 0, 3);
    return run_suite("sim.crowd", t);
}
