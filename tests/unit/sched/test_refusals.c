/* SPDX-License-Identifier: MIT */
/*
 * How often a scheduler asks a depot that refuses, in virtual time.  The
 * governor of each host stands between the two, as the runner and the engine
 * have it.
 */
#include <limits.h>

#include "base/governor.h"
#include "play.h"

#define START (1000 * XD_SECOND)
#define MINUTE (60 * XD_SECOND)
#define ROUND_TRIP (20 * XD_MS)
#define STEP (10 * XD_MS)
#define LANES 16u
#define MOST_FETCHES 64u
#define N_FILES 200u
#define MIB ((uint64_t)1 << 20)
#define RATE (MIB / 2) /* bytes per second of each request */

/* How a host refuses a request. */
struct kind {
    const char *name;
    enum xd_governed_end end;
    bool is_refusal; /* as the transport says */
    uint64_t bytes;  /* delivered all the same */
    xd_usec retry_after;
    unsigned serves; /* so many requests at first */
};

static const struct kind kinds[] = {
    {"429", XD_GOVERNED_REFUSED, .is_refusal = true},
    {"429 with Retry-After: 5", XD_GOVERNED_REFUSED, .is_refusal = true,
     .retry_after = 5 * XD_SECOND},
    {"503", XD_GOVERNED_REFUSED, .is_refusal = true},
    {"509", XD_GOVERNED_REFUSED, .is_refusal = true},
    {"403, again and again", XD_GOVERNED_FAILED_AGAIN, .is_refusal = false},
    {"404, again and again", XD_GOVERNED_FAILED_AGAIN, .is_refusal = false},
    {"a reset", XD_GOVERNED_REFUSED, .is_refusal = true},
    {"an empty reply", XD_GOVERNED_REFUSED, .is_refusal = true},
    {"206 without a byte", XD_GOVERNED_REFUSED, .is_refusal = false},
    {"one byte per answer", XD_GOVERNED_REFUSED, .bytes = 1},
    {"429 after four that were served", XD_GOVERNED_REFUSED, .is_refusal = true,
     .serves = 4},
    {"a reset after four that were served", XD_GOVERNED_REFUSED,
     .is_refusal = true, .serves = 4},
};

#define N_KINDS (sizeof kinds / sizeof *kinds)

static const char *const policies[] = {"basic", "aggressive", "progress",
                                       "adaptive", "adaptive2"};

#define N_POLICIES (sizeof policies / sizeof *policies)

struct fetch {
    bool is_live, is_started, is_served;
    unsigned depot;
    struct xd_range range;
    uint64_t at;
    xd_usec ends_at; /* if it is refused */
    xd_usec flows_at;
    struct xd_governed governed;
};

struct world {
    struct play p;
    struct xd_governor governors[2];
    struct xd_governor_terms terms[2];
    struct fetch fetches[MOST_FETCHES];
    const struct kind *kind;
    unsigned n_asked;  /* requests that depot 0 got */
    unsigned vain[10]; /* of them, in each minute since the first in vain */
    xd_usec first_vain;
    bool is_over;
};

static struct world w;

static void govern(unsigned depot)
{
    const struct xd_governor_terms t =
        xd_governor_terms(&w.governors[depot], w.p.now);

    if (t.most_open == w.terms[depot].most_open &&
        t.has_refused == w.terms[depot].has_refused &&
        (t.not_before <= w.p.now || t.not_before == w.terms[depot].not_before))
        return;
    w.terms[depot] = t;
    play_event(&w.p, (struct xd_sched_event){.kind = XD_EV_GOVERNED,
                                             .depot = depot,
                                             .max_lanes = t.most_open,
                                             .is_sparing = t.has_refused,
                                             .retry_at = t.not_before});
}

static void end(unsigned i, enum xd_sched_event_kind kind, xd_usec pause,
                bool is_refusal)
{
    struct fetch *f = &w.fetches[i];

    f->is_live = false;
    play_event(&w.p, (struct xd_sched_event){
                         .kind = kind,
                         .fetch = i,
                         .range = {f->range.begin, f->at},
                         .is_refusal = is_refusal,
                         .retry_at = pause > 0 ? w.p.now + pause : 0});
    if (f->at > f->range.begin)
        play_range(&w.p, XD_EV_VERIFIED, f->range.begin, f->at);
}

static void carry_out(const struct xd_sched_action *a)
{
    struct fetch *f = &w.fetches[a->fetch];

    switch (a->kind) {
    case XD_DO_FETCH:
        ck_assert_uint_lt(a->fetch, MOST_FETCHES);
        *f = (struct fetch){.is_live = true,
                            .depot = a->depot,
                            .range = a->range,
                            .at = a->range.begin};
        break;
    case XD_DO_SHORTEN:
        f->range.end = a->range.end;
        break;
    case XD_DO_CANCEL:
        (void)xd_governor_end(&w.governors[f->depot], &f->governed,
                              XD_GOVERNED_NEUTRAL, f->at - f->range.begin, 0,
                              w.p.now);
        end(a->fetch, XD_EV_CANCELED, 0, false);
        break;
    case XD_DO_FINISH:
    case XD_DO_FAIL:
        w.is_over = true;
        break;
    case XD_DO_WAIT:
    case XD_DO_OPEN:
    case XD_DO_PARK:
    case XD_DO_PING:
        break;
    }
}

static void decide(unsigned n_depots)
{
    struct xd_sched_action a;

    do {
        for (unsigned i = 0; i < n_depots; i++)
            govern(i);
        a = play_next(&w.p);
        carry_out(&a);
    } while (!w.is_over && a.kind != XD_DO_WAIT);
}

static void start(struct fetch *f)
{
    xd_governor_begin(&w.governors[f->depot], &f->governed, w.p.now);
    f->is_started = true;
    f->is_served = f->depot != 0 || w.n_asked < w.kind->serves;
    w.n_asked += f->depot == 0;
    f->ends_at = w.p.now + ROUND_TRIP;
    f->flows_at = f->ends_at;
}

static void refuse(unsigned i)
{
    struct fetch *f = &w.fetches[i];
    const struct kind *k = w.kind;
    xd_usec pause;

    if (w.first_vain == 0)
        w.first_vain = w.p.now;
    if ((w.p.now - w.first_vain) / MINUTE < 10)
        w.vain[(w.p.now - w.first_vain) / MINUTE]++;
    f->at = f->range.begin + k->bytes;
    pause = xd_governor_end(&w.governors[f->depot], &f->governed, k->end,
                            k->bytes, k->retry_after, w.p.now);
    end(i, XD_EV_FAILED, pause, k->is_refusal);
}

static void deliver(unsigned i)
{
    struct fetch *f = &w.fetches[i];
    const uint64_t left = f->range.end - f->at;
    const uint64_t n = RATE * STEP / XD_SECOND;

    f->at += n < left ? n : left;
    xd_governor_progress(&w.governors[f->depot], &f->governed);
    if (f->at < f->range.end) {
        play_bytes(&w.p, i, f->at);
        return;
    }
    (void)xd_governor_end(&w.governors[f->depot], &f->governed,
                          XD_GOVERNED_SERVED, f->at - f->range.begin, 0,
                          w.p.now);
    end(i, XD_EV_DONE, 0, false);
}

static void step(void)
{
    for (unsigned i = 0; i < MOST_FETCHES; i++) {
        struct fetch *f = &w.fetches[i];

        if (!f->is_live)
            continue;
        if (!f->is_started &&
            xd_governor_ask(&w.governors[f->depot],
                            w.kind->end == XD_GOVERNED_FAILED_AGAIN,
                            w.p.now) <= w.p.now)
            start(f);
        if (f->is_started && f->is_served && w.p.now >= f->flows_at)
            deliver(i);
        else if (f->is_started && !f->is_served && w.p.now >= f->ends_at)
            refuse(i);
    }
}

/* A player, which jumps every minute. */
static void read_on(void)
{
    const uint64_t minute = (w.p.now - START) / MINUTE;

    if (w.p.o.window_bytes > 0 && (w.p.now - START) % MINUTE == 0)
        play_reader(&w.p, minute * 5 % 8 * w.p.o.window_bytes);
}

/* Where the files of a set end. */
static uint64_t cuts[N_FILES - 1];

static void play_readers(const struct kind *kind, const char *policy,
                         unsigned n_depots, uint64_t size, xd_usec length,
                         uint64_t window_bytes, unsigned n_files)
{
    memset(&w, 0, sizeof w);
    w.kind = kind;
    play_init(&w.p, xd_policy_find(policy), n_depots, size);
    w.p.o.lanes_per_depot = LANES;
    w.p.o.first_lanes = 6;
    w.p.o.connections_per_depot = LANES;
    w.p.o.max_failures = 5;
    w.p.o.patience = 20 * MINUTE;
    w.p.o.block_bytes = MIB / 2;
    w.p.o.window_bytes = window_bytes;
    for (unsigned i = 1; i < n_files; i++)
        cuts[i - 1] = i * size / n_files;
    w.p.layout.cuts = cuts;
    w.p.layout.n_cuts = n_files - 1;
    w.p.now = START;
    w.governors[0].seed = 1;
    w.governors[1].seed = 2;
    play_start(&w.p);
    while (!w.is_over && w.p.now < START + length) {
        read_on();
        step();
        decide(n_depots);
        w.p.now += STEP;
    }
}

static void play_world(const struct kind *kind, const char *policy,
                       unsigned n_depots, uint64_t size, xd_usec length)
{
    play_readers(kind, policy, n_depots, size, length, 0, 1);
}

static void assert_few_in_vain(unsigned n_depots)
{
    if (getenv("XD_SHOW")) {
        printf("%-36s %-10s %u: asked %3u, in vain", w.kind->name,
               w.p.o.policy->name, n_depots, w.n_asked);
        for (unsigned i = 0; i < 10; i++)
            printf(" %u", w.vain[i]);
        printf(", %.1f s\n", xd_seconds(w.p.now - START));
    }
    ck_assert_msg(w.vain[0] <= XD_GOVERNOR_FIRST, "%s: %u in the first minute",
                  w.kind->name, w.vain[0]);
    for (unsigned i = 1; i < 10; i++)
        ck_assert_msg(w.vain[i] <= XD_GOVERNOR_LATER, "%s: %u in minute %u",
                      w.kind->name, w.vain[i], i);
}

START_TEST(a_lone_depot_that_refuses_is_asked_seldom)
{
    play_world(&kinds[(size_t)_i / N_POLICIES],
               policies[(size_t)_i % N_POLICIES], 1, 64 * MIB, 10 * MINUTE);
    assert_few_in_vain(1);
    play_fini(&w.p);
}
END_TEST

START_TEST(so_is_one_beside_a_depot_that_delivers)
{
    play_world(&kinds[(size_t)_i / N_POLICIES],
               policies[(size_t)_i % N_POLICIES], 2, 512 * MIB, 10 * MINUTE);
    assert_few_in_vain(2);
    play_fini(&w.p);
}
END_TEST

START_TEST(so_is_one_that_many_files_are_on)
{
    play_readers(&kinds[(size_t)_i / N_POLICIES],
                 policies[(size_t)_i % N_POLICIES], 1, 64 * MIB, 10 * MINUTE, 0,
                 N_FILES);
    assert_few_in_vain(1);
    play_fini(&w.p);
}
END_TEST

START_TEST(so_is_one_that_a_player_waits_for)
{
    play_readers(&kinds[(size_t)_i / N_POLICIES],
                 policies[(size_t)_i % N_POLICIES], 1, 64 * MIB, 10 * MINUTE,
                 8 * MIB, 1);
    assert_few_in_vain(1);
    play_fini(&w.p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("refusals");

    tcase_add_loop_test(t, a_lone_depot_that_refuses_is_asked_seldom, 0,
                        (int)(N_KINDS * N_POLICIES));
    tcase_add_loop_test(t, so_is_one_beside_a_depot_that_delivers, 0,
                        (int)(N_KINDS * N_POLICIES));
    tcase_add_loop_test(t, so_is_one_that_many_files_are_on, 0,
                        (int)(N_KINDS * N_POLICIES));
    tcase_add_loop_test(t, so_is_one_that_a_player_waits_for, 0,
                        (int)(N_KINDS * N_POLICIES));
    return run_suite("sched.refusals", t);
}
