/* SPDX-License-Identifier: MIT */
/*
 * Bytes become depots that tell a size, fail, or say nothing, at any time and
 * also when they were told to stop, and a size probe is held among them.  What it
 * does is checked against its header; and when the bytes are used up and all
 * depots fail, it must come to an end.
 */
#include "fuzz.h"
#include "sched/size_probe.h"

#define MOST_DEPOTS 12
#define MOST_ACTIONS 100 /* without an event */

enum state {
    IN_RESERVE,
    PINGED,
    REFUSED, /* a ping */
    OPEN,
    ASKED,
    CANCELED,
    FAILED, /* and may be asked again, or not */
    ANSWERED,
    PARKED
};

struct meeting {
    struct fuzz_input in;
    struct xd_size_probe *size_probe;
    enum state states[MOST_DEPOTS];
    unsigned fetches[MOST_DEPOTS]; /* the number that it is asked under */
    xd_usec asked_at[MOST_DEPOTS], retry_at[MOST_DEPOTS];
    uint64_t sizes[MOST_DEPOTS]; /* that it told */
    unsigned failures[MOST_DEPOTS];
    unsigned n, max_open, max_failures, max_pings;
    xd_usec now, until;
    xd_usec deadline; /* XD_NEVER before the first answer */
    bool is_over;
    enum xd_sched_action_kind end; /* FINISH or FAIL */
};

static unsigned count(const struct meeting *m, enum state state)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->n; i++)
        n += m->states[i] == state;
    return n;
}

static bool is_free(const struct meeting *m, unsigned fetch)
{
    for (unsigned i = 0; i < m->n; i++)
        if (m->states[i] == ASKED && m->fetches[i] == fetch)
            return false;
    return fetch < m->max_open;
}

static bool is_to_be_asked(const struct meeting *m, unsigned depot)
{
    return m->states[depot] == OPEN ||
           (m->states[depot] == FAILED && m->now >= m->retry_at[depot]);
}

/* How many told that size. */
static unsigned votes(const struct meeting *m, uint64_t size)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->n; i++)
        n += m->states[i] == ANSWERED && m->sizes[i] == size;
    return n;
}

/* Of sizes that equally many told, the first depot's. */
static uint64_t elected(const struct meeting *m)
{
    uint64_t best = UINT64_MAX;

    for (unsigned i = 0; i < m->n; i++)
        if (m->states[i] == ANSWERED && m->sizes[i] != UINT64_MAX &&
            (best == UINT64_MAX || votes(m, m->sizes[i]) > votes(m, best)))
            best = m->sizes[i];
    return best;
}

static unsigned count_open(const struct meeting *m)
{
    return m->n - count(m, IN_RESERVE) - count(m, PINGED) - count(m, REFUSED) -
           count(m, PARKED);
}

/* Whether the others cannot outvote those who agree. */
static bool has_majority(const struct meeting *m)
{
    unsigned most = m->max_open < m->n ? m->max_open : m->n;
    uint64_t size = elected(m);

    return size != UINT64_MAX && votes(m, size) > most / 2;
}

/* It waits for somebody, and has all open that may be. */
static void wait(struct meeting *m, xd_usec until)
{
    FUZZ_CHECK(!has_majority(m));
    FUZZ_CHECK(m->now < until && until <= m->deadline);
    FUZZ_CHECK(count(m, IN_RESERVE) == 0 || count(m, PINGED) > 0 ||
               count_open(m) == m->max_open);
    m->until = until;
}

static void open_depot(struct meeting *m, unsigned depot)
{
    FUZZ_CHECK(m->now < m->deadline);
    FUZZ_CHECK(m->states[depot] == IN_RESERVE ||
               (m->states[depot] == REFUSED && count(m, IN_RESERVE) == 0));
    m->states[depot] = OPEN;
    FUZZ_CHECK(count_open(m) <= m->max_open);
}

static void ping(struct meeting *m, unsigned depot)
{
    FUZZ_CHECK(m->states[depot] == IN_RESERVE && m->now < m->deadline);
    FUZZ_CHECK(count(m, PINGED) < m->max_pings);
    m->states[depot] = PINGED;
}

static void ask(struct meeting *m, const struct xd_sched_action *a)
{
    FUZZ_CHECK(is_to_be_asked(m, a->depot) && is_free(m, a->fetch));
    FUZZ_CHECK(a->range.begin == 0 && a->range.end == 1);
    FUZZ_CHECK(m->now < m->deadline);
    FUZZ_CHECK(m->failures[a->depot] < m->max_failures);
    m->states[a->depot] = ASKED;
    m->fetches[a->depot] = a->fetch;
    m->asked_at[a->depot] = m->now;
}

static void end(struct meeting *m, enum xd_sched_action_kind kind)
{
    FUZZ_CHECK(count(m, ASKED) == 0);
    FUZZ_CHECK((count(m, ANSWERED) > 0) == (kind == XD_DO_FINISH));
    FUZZ_CHECK(xd_size_probe_size(m->size_probe) == elected(m));
    m->is_over = true;
    m->end = kind;
}

static void obey(struct meeting *m, const struct xd_sched_action *a)
{
    switch (a->kind) {
    case XD_DO_WAIT:
        wait(m, a->until);
        break;
    case XD_DO_OPEN:
        open_depot(m, a->depot);
        break;
    case XD_DO_PARK:
        FUZZ_CHECK(m->states[a->depot] == FAILED);
        m->states[a->depot] = PARKED;
        break;
    case XD_DO_PING:
        ping(m, a->depot);
        break;
    case XD_DO_FETCH:
        ask(m, a);
        break;
    case XD_DO_CANCEL:
        FUZZ_CHECK(m->now >= m->deadline || has_majority(m));
        FUZZ_CHECK(m->states[a->depot] == ASKED);
        FUZZ_CHECK(m->fetches[a->depot] == a->fetch);
        m->states[a->depot] = CANCELED;
        break;
    case XD_DO_FINISH:
    case XD_DO_FAIL:
        end(m, a->kind);
        break;
    case XD_DO_SHORTEN:
        FUZZ_CHECK(a->kind != XD_DO_SHORTEN);
    }
}

/* Until nothing is to be done without an event, which comes soon. */
static void act(struct meeting *m)
{
    struct xd_sched_action a;
    unsigned n = 0;

    do {
        a = xd_size_probe_next(m->size_probe, m->now);
        FUZZ_CHECK(a.kind == XD_DO_WAIT || a.kind == XD_DO_FINISH ||
                   a.kind == XD_DO_FAIL || a.depot < m->n);
        obey(m, &a);
        FUZZ_CHECK(++n < MOST_ACTIONS);
    } while (a.kind != XD_DO_WAIT && !m->is_over);
}

static void vote(struct meeting *m, unsigned depot)
{
    unsigned kind = fuzz_below(&m->in, 4);
    uint64_t size = kind > 0 ? kind : UINT64_MAX;
    xd_usec patience = 2 * (m->now - m->asked_at[depot]);

    xd_size_probe_answered(m->size_probe, depot, m->now, size);
    if (m->states[depot] != ASKED)
        return;
    m->states[depot] = ANSWERED;
    m->sizes[depot] = size;
    if (count(m, ANSWERED) == 1)
        m->deadline =
            m->now + (patience > 500 * XD_MS ? patience : 500 * XD_MS);
}

static void fail(struct meeting *m, unsigned depot)
{
    bool is_for_good = fuzz_below(&m->in, 2) == 0;
    xd_usec retry_at = m->now + fuzz_byte(&m->in) * XD_SECOND;

    if (is_for_good)
        xd_size_probe_failed(m->size_probe, depot);
    else
        xd_size_probe_retry(m->size_probe, depot, retry_at);
    if (m->states[depot] != ASKED)
        return;
    m->states[depot] = FAILED;
    m->failures[depot]++;
    m->retry_at[depot] = is_for_good ? XD_NEVER : retry_at;
}

static void end_ping(struct meeting *m, unsigned depot,
                     enum xd_ping_result result)
{
    xd_size_probe_pinged(m->size_probe, depot, result);
    m->states[depot] = result == XD_PING_REFUSED ? REFUSED : IN_RESERVE;
}

/* One that was told to stop may say something yet. */
static void answer(struct meeting *m, unsigned depot)
{
    if (m->states[depot] == PINGED)
        end_ping(m, depot, (enum xd_ping_result)fuzz_below(&m->in, 4));
    if (m->states[depot] != ASKED && m->states[depot] != CANCELED)
        return;
    if (fuzz_below(&m->in, 2) == 0)
        vote(m, depot);
    else
        fail(m, depot);
}

static void step(struct meeting *m)
{
    unsigned what = fuzz_byte(&m->in);

    if (what < 100 && m->until < XD_NEVER)
        m->now = m->until;
    else
        m->now += what * 10 * XD_MS;
    answer(m, fuzz_below(&m->in, m->n));
    act(m);
}

/* Who was asked fails for good; who rests is asked again, and fails. */
static void come_to_an_end(struct meeting *m)
{
    while (!m->is_over) {
        bool is_asked = false;

        for (unsigned i = 0; i < m->n; i++) {
            if (m->states[i] == PINGED) {
                end_ping(m, i, XD_PING_REFUSED);
                is_asked = true;
            }
            if (m->states[i] != ASKED)
                continue;
            xd_size_probe_failed(m->size_probe, i);
            m->states[i] = FAILED;
            is_asked = true;
        }
        FUZZ_CHECK(is_asked || m->until < XD_NEVER);
        if (!is_asked)
            m->now = m->until;
        act(m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct meeting m = {
        .now = XD_SECOND, .until = XD_NEVER, .deadline = XD_NEVER};

    m.in = fuzz_input(data, len);
    m.n = fuzz_between(&m.in, 1, MOST_DEPOTS);
    m.max_open = fuzz_between(&m.in, 1, MOST_DEPOTS);
    m.max_failures = fuzz_between(&m.in, 1, 4);
    m.max_pings = m.max_failures % 3; /* 0: none */
    m.size_probe =
        xd_size_probe_new(m.n, m.max_open, m.max_failures, m.max_pings);
    FUZZ_CHECK(m.size_probe != NULL);
    act(&m);
    while (!m.is_over && !fuzz_is_over(&m.in))
        step(&m);
    come_to_an_end(&m);
    FUZZ_CHECK(xd_size_probe_next(m.size_probe, m.now).kind == m.end);
    xd_size_probe_free(m.size_probe);
    return 0;
}
