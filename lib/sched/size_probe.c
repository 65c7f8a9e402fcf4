/* SPDX-License-Identifier: MIT */
#include "sched/size_probe.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"
#include "sched/depot_set.h"

#define LEAST_PATIENCE (500 * XD_MS)

/* Pings at a time; one more for each refusal so far. */
#define PINGS 16

enum probe_state {
    PROBE_RESERVE, /* in reserve, may be opened */
    PROBE_UNSEEN,  /* in reserve, to be pinged before it is opened */
    PROBE_PINGED,  /* a ping is in progress */
    PROBE_SILENT,  /* in reserve, after all others */
    PROBE_OPENED,  /* in use, but not asked yet */
    PROBE_ASKED,
    PROBE_CANCELED,
    PROBE_BACKING_OFF, /* failed recently, and will be asked again */
    PROBE_ANSWERED,
    PROBE_FAILED, /* still in use */
    PROBE_PARKED,
    N_STATES
};

struct probe {
    enum probe_state state;
    unsigned slot;
    unsigned failures;
    xd_usec asked_at;
    xd_usec back_off_until;
    uint64_t size; /* valid after it has answered */
};

struct xd_size_probe {
    struct probe *probes;
    struct xd_depot_set in[N_STATES]; /* the probes in each state */
    bool *slot_is_taken;
    unsigned n_probes, n_slots, max_failures;
    unsigned n_pings, max_pings; /* in progress, and their limit */
    unsigned n_refused;          /* refused pings so far */
    unsigned n_answers;
    xd_usec deadline; /* XD_NEVER before the first answer */
    bool is_over;
};

static void set_state(struct xd_size_probe *c, unsigned depot,
                      enum probe_state state)
{
    struct probe *v = &c->probes[depot];

    xd_depot_set_put(&c->in[v->state], depot, false);
    v->state = state;
    xd_depot_set_put(&c->in[state], depot, true);
}

/* Returns the most preferred depot in that state, or n_probes. */
static unsigned find(const struct xd_size_probe *c, enum probe_state state)
{
    return xd_depot_set_next(&c->in[state], 0);
}

static bool is_any(const struct xd_size_probe *c, enum probe_state state)
{
    return find(c, state) < c->n_probes;
}

bool xd_size_probe_has_reserve(const struct xd_size_probe *c)
{
    return is_any(c, PROBE_RESERVE) || is_any(c, PROBE_UNSEEN) ||
           is_any(c, PROBE_PINGED) || is_any(c, PROBE_SILENT);
}

static int init_states(struct xd_size_probe *c)
{
    for (unsigned i = 0; i < N_STATES; i++)
        if (xd_depot_set_init(&c->in[i], c->n_probes) < 0)
            return XD_E_NOMEM;
    for (unsigned i = 0; i < c->n_probes; i++)
        set_state(c, i,
                  i < c->n_slots || c->max_pings == 0 ? PROBE_RESERVE
                                                      : PROBE_UNSEEN);
    return 0;
}

struct xd_size_probe *xd_size_probe_new(size_t n_depots, unsigned max_open,
                                        unsigned max_failures,
                                        unsigned max_pings)
{
    struct xd_size_probe *c = xd_alloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->n_probes = (unsigned)n_depots;
    c->n_slots = max_open < c->n_probes ? max_open : c->n_probes;
    c->max_failures = max_failures;
    c->max_pings = max_pings;
    c->deadline = XD_NEVER;
    c->probes = xd_alloc(c->n_probes, sizeof *c->probes);
    c->slot_is_taken = xd_alloc(c->n_slots, sizeof *c->slot_is_taken);
    if (c->probes == NULL || c->slot_is_taken == NULL || init_states(c) < 0) {
        xd_size_probe_free(c);
        return NULL;
    }
    return c;
}

void xd_size_probe_free(struct xd_size_probe *c)
{
    if (c == NULL)
        return;
    for (unsigned i = 0; i < N_STATES; i++)
        xd_depot_set_fini(&c->in[i]);
    xd_free(c->probes);
    xd_free(c->slot_is_taken);
    xd_free(c);
}

static int add_probe(struct xd_size_probe *c, unsigned max_open)
{
    if (xd_lengthen(&c->probes, c->n_probes, c->n_probes + 1,
                    sizeof *c->probes) < 0)
        return XD_E_NOMEM;
    if (c->n_slots < max_open &&
        xd_lengthen(&c->slot_is_taken, c->n_slots, c->n_slots + 1,
                    sizeof *c->slot_is_taken) < 0)
        return XD_E_NOMEM;
    for (unsigned i = 0; i < N_STATES; i++)
        if (xd_depot_set_grow(&c->in[i], c->n_probes + 1) < 0)
            return XD_E_NOMEM;
    c->n_slots += c->n_slots < max_open;
    set_state(c, c->n_probes++, PROBE_RESERVE);
    return 0;
}

int xd_size_probe_join(struct xd_size_probe *c, unsigned depot,
                       unsigned max_open)
{
    if (depot == c->n_probes)
        return add_probe(c, max_open);
    c->probes[depot].failures = 0;
    if (c->probes[depot].state == PROBE_PARKED)
        set_state(c, depot, PROBE_RESERVE);
    else if (c->probes[depot].state == PROBE_FAILED)
        set_state(c, depot, PROBE_OPENED);
    return 0;
}

void xd_size_probe_answered(struct xd_size_probe *c, unsigned depot,
                            xd_usec now, uint64_t size)
{
    struct probe *v = &c->probes[depot];
    xd_usec patience = 2 * (now - v->asked_at);

    if (c->is_over || v->state != PROBE_ASKED)
        return;
    set_state(c, depot, PROBE_ANSWERED);
    v->size = size;
    if (c->n_answers++ == 0)
        c->deadline =
            now + (patience > LEAST_PATIENCE ? patience : LEAST_PATIENCE);
}

void xd_size_probe_failed(struct xd_size_probe *c, unsigned depot)
{
    if (!c->is_over && c->probes[depot].state == PROBE_ASKED)
        set_state(c, depot, PROBE_FAILED);
}

void xd_size_probe_retry(struct xd_size_probe *c, unsigned depot,
                         xd_usec retry_at)
{
    struct probe *v = &c->probes[depot];

    if (c->is_over || v->state != PROBE_ASKED)
        return;
    v->failures++;
    set_state(c, depot,
              v->failures < c->max_failures && !xd_size_probe_has_reserve(c)
                  ? PROBE_BACKING_OFF
                  : PROBE_FAILED);
    v->back_off_until = retry_at;
}

void xd_size_probe_postponed(struct xd_size_probe *c, unsigned depot,
                             xd_usec retry_at)
{
    struct probe *v = &c->probes[depot];

    if (c->is_over || v->state != PROBE_ASKED)
        return;
    set_state(c, depot, PROBE_BACKING_OFF);
    v->back_off_until = retry_at;
}

/* A depot that refused is only asked if no other is left. */
static enum probe_state state_after(const struct xd_size_probe *c,
                                    enum xd_ping_result result)
{
    switch (result) {
    case XD_PING_ANSWERED:
    case XD_PING_UNKNOWN:
        break;
    case XD_PING_SILENT:
        return PROBE_SILENT;
    case XD_PING_REFUSED:
        return xd_size_probe_has_reserve(c) ? PROBE_PARKED : PROBE_SILENT;
    }
    return PROBE_RESERVE;
}

void xd_size_probe_pinged(struct xd_size_probe *c, unsigned depot,
                          enum xd_ping_result result)
{
    if (c->probes[depot].state != PROBE_PINGED)
        return;
    c->n_pings--;
    c->n_refused += result == XD_PING_REFUSED;
    set_state(c, depot, PROBE_PARKED);
    set_state(c, depot, state_after(c, result));
}

static bool try_find(const struct xd_size_probe *c, enum probe_state state,
                     struct xd_sched_action *a)
{
    a->depot = find(c, state);
    if (a->depot == c->n_probes)
        return false;
    a->fetch = c->probes[a->depot].slot;
    return true;
}

static bool try_park(struct xd_size_probe *c, struct xd_sched_action *a)
{
    if (!try_find(c, PROBE_FAILED, a))
        return false;
    set_state(c, a->depot, PROBE_PARKED);
    c->slot_is_taken[a->fetch] = false;
    a->kind = XD_DO_PARK;
    return true;
}

static bool try_cancel(struct xd_size_probe *c, struct xd_sched_action *a)
{
    if (!try_find(c, PROBE_ASKED, a))
        return false;
    set_state(c, a->depot, PROBE_CANCELED);
    a->kind = XD_DO_CANCEL;
    a->range = (struct xd_range){0, 1};
    return true;
}

/* Lets depots whose back-off is over be asked again.  Returns whether some
 * still back off; then *out_until is lowered to the end of the first
 * back-off. */
static bool wake(struct xd_size_probe *c, xd_usec now, xd_usec *out_until)
{
    const struct xd_depot_set *backing_off = &c->in[PROBE_BACKING_OFF];
    bool some_rest = false;

    for (unsigned i = xd_depot_set_next(backing_off, 0); i < c->n_probes;
         i = xd_depot_set_next(backing_off, i + 1)) {
        const struct probe *v = &c->probes[i];

        if (v->back_off_until <= now) {
            set_state(c, i, PROBE_OPENED);
            continue;
        }
        some_rest = true;
        if (v->back_off_until < *out_until)
            *out_until = v->back_off_until;
    }
    return some_rest;
}

static bool try_fetch(struct xd_size_probe *c, xd_usec now,
                      struct xd_sched_action *a)
{
    if (!try_find(c, PROBE_OPENED, a))
        return false;
    set_state(c, a->depot, PROBE_ASKED);
    c->probes[a->depot].asked_at = now;
    a->kind = XD_DO_FETCH;
    a->reason = XD_FETCH_PROBE;
    a->range = (struct xd_range){0, 1};
    return true;
}

/* Called when a slot is free because others have failed. */
static bool try_ping(struct xd_size_probe *c, struct xd_sched_action *a)
{
    if (c->n_pings == c->max_pings || c->n_pings >= PINGS + c->n_refused ||
        !try_find(c, PROBE_UNSEEN, a))
        return false;
    set_state(c, a->depot, PROBE_PINGED);
    c->n_pings++;
    a->kind = XD_DO_PING;
    return true;
}

/* Silent depots are asked when no others are left. */
static bool try_reserve(const struct xd_size_probe *c,
                        struct xd_sched_action *a)
{
    if (try_find(c, PROBE_RESERVE, a))
        return true;
    return c->n_pings == 0 && !is_any(c, PROBE_UNSEEN) &&
           try_find(c, PROBE_SILENT, a);
}

static bool try_open(struct xd_size_probe *c, struct xd_sched_action *a)
{
    unsigned slot = 0;

    while (slot < c->n_slots && c->slot_is_taken[slot])
        slot++;
    if (slot == c->n_slots)
        return false;
    if (!try_reserve(c, a))
        return try_ping(c, a);
    c->slot_is_taken[slot] = true;
    set_state(c, a->depot, PROBE_OPENED);
    c->probes[a->depot].slot = slot;
    a->kind = XD_DO_OPEN;
    return true;
}

/* Returns the size that most depots state, and their number. */
static uint64_t find_size(const struct xd_size_probe *c, unsigned *out_n)
{
    const struct xd_depot_set *answered = &c->in[PROBE_ANSWERED];
    uint64_t best = UINT64_MAX;
    unsigned most = 0;

    for (unsigned i = xd_depot_set_next(answered, 0); i < c->n_probes;
         i = xd_depot_set_next(answered, i + 1)) {
        uint64_t size = c->probes[i].size;
        unsigned n = 0;

        if (size == UINT64_MAX)
            continue;
        for (unsigned j = xd_depot_set_next(answered, 0); j < c->n_probes;
             j = xd_depot_set_next(answered, j + 1))
            n += c->probes[j].size == size;
        if (n > most) {
            most = n;
            best = size;
        }
    }
    *out_n = most;
    return best;
}

/* A depot that has answered keeps its slot, so there are never more votes than
 * slots.  A majority of the slots therefore cannot be overruled. */
static bool is_decided(const struct xd_size_probe *c)
{
    unsigned n;

    find_size(c, &n);
    return n > c->n_slots / 2;
}

struct xd_sched_action xd_size_probe_next(struct xd_size_probe *c, xd_usec now)
{
    struct xd_sched_action a = {.kind = XD_DO_WAIT, .until = c->deadline};
    bool some_rest = wake(c, now, &a.until);

    if (c->deadline <= now || is_decided(c))
        c->is_over = true;
    if (try_park(c, &a))
        return a;
    if (!c->is_over && (try_fetch(c, now, &a) || try_open(c, &a)))
        return a;
    if (!is_any(c, PROBE_ASKED) &&
        (c->n_answers > 0 || (!some_rest && c->n_pings == 0)))
        c->is_over = true;
    if (!c->is_over || try_cancel(c, &a))
        return a;
    a.kind = c->n_answers > 0 ? XD_DO_FINISH : XD_DO_FAIL;
    return a;
}

uint64_t xd_size_probe_size(const struct xd_size_probe *c)
{
    unsigned n;

    return find_size(c, &n);
}
