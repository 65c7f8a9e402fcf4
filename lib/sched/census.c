#include "sched/census.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"
#include "sched/depot_set.h"

#define LEAST_PATIENCE (500 * XD_MS)

/* As the scheduler's own: a pause after the first failure, doubled by each
 * further one up to the longest. */
#define FIRST_REST (250 * XD_MS)
#define LONGEST_REST (30 * XD_SECOND)

/* So many depots are pinged at once, and as many more as have refused. */
#define PINGS 16

enum voter_state {
    VOTER_RESERVE, /* may be opened */
    VOTER_UNSEEN,  /* in reserve, to be pinged before it is opened */
    VOTER_PINGED,  /* a ping is on its way */
    VOTER_SILENT,  /* in reserve, after all others */
    VOTER_OPENED,  /* not asked yet */
    VOTER_ASKED,
    VOTER_CANCELED,    /* asked, and told to stop */
    VOTER_BACKING_OFF, /* failed a moment ago, and will be asked again */
    VOTER_ANSWERED,
    VOTER_FAILED, /* still open */
    VOTER_PARKED,
    N_STATES
};

struct voter {
    enum voter_state state;
    unsigned slot;
    unsigned failures;
    xd_usec asked_at;
    xd_usec back_off_until;
    uint64_t size; /* once it answered */
};

struct xd_census {
    struct voter *voters;
    struct xd_depot_set in[N_STATES]; /* the voters in each state */
    bool *slot_is_taken;
    unsigned n_voters, n_slots, max_failures;
    unsigned n_pings, max_pings; /* on their way, and at most */
    unsigned n_refused;          /* pings, ever */
    unsigned n_answers;
    xd_usec deadline; /* XD_NEVER before the first answer */
    bool is_over;
};

static void set_state(struct xd_census *c, unsigned depot,
                      enum voter_state state)
{
    struct voter *v = &c->voters[depot];

    xd_depot_set_put(&c->in[v->state], depot, false);
    v->state = state;
    xd_depot_set_put(&c->in[state], depot, true);
}

/* The most preferred voter in that state; n_voters if there is none. */
static unsigned find(const struct xd_census *c, enum voter_state state)
{
    return xd_depot_set_next(&c->in[state], 0);
}

static bool is_any(const struct xd_census *c, enum voter_state state)
{
    return find(c, state) < c->n_voters;
}

bool xd_census_has_reserve(const struct xd_census *c)
{
    return is_any(c, VOTER_RESERVE) || is_any(c, VOTER_UNSEEN) ||
           is_any(c, VOTER_PINGED) || is_any(c, VOTER_SILENT);
}

static int init_states(struct xd_census *c)
{
    for (unsigned i = 0; i < N_STATES; i++)
        if (xd_depot_set_init(&c->in[i], c->n_voters) < 0)
            return XD_E_NOMEM;
    for (unsigned i = 0; i < c->n_voters; i++)
        set_state(c, i,
                  i < c->n_slots || c->max_pings == 0 ? VOTER_RESERVE
                                                      : VOTER_UNSEEN);
    return 0;
}

struct xd_census *xd_census_new(size_t n_depots, unsigned max_open,
                                unsigned max_failures, unsigned max_pings)
{
    struct xd_census *c = xd_alloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->n_voters = (unsigned)n_depots;
    c->n_slots = max_open < c->n_voters ? max_open : c->n_voters;
    c->max_failures = max_failures;
    c->max_pings = max_pings;
    c->deadline = XD_NEVER;
    c->voters = xd_alloc(c->n_voters, sizeof *c->voters);
    c->slot_is_taken = xd_alloc(c->n_slots, sizeof *c->slot_is_taken);
    if (c->voters == NULL || c->slot_is_taken == NULL || init_states(c) < 0) {
        xd_census_free(c);
        return NULL;
    }
    return c;
}

void xd_census_free(struct xd_census *c)
{
    if (c == NULL)
        return;
    for (unsigned i = 0; i < N_STATES; i++)
        xd_depot_set_fini(&c->in[i]);
    xd_free(c->voters);
    xd_free(c->slot_is_taken);
    xd_free(c);
}

static int add_voter(struct xd_census *c, unsigned max_open)
{
    if (xd_lengthen(&c->voters, c->n_voters, c->n_voters + 1,
                    sizeof *c->voters) < 0)
        return XD_E_NOMEM;
    if (c->n_slots < max_open &&
        xd_lengthen(&c->slot_is_taken, c->n_slots, c->n_slots + 1,
                    sizeof *c->slot_is_taken) < 0)
        return XD_E_NOMEM;
    for (unsigned i = 0; i < N_STATES; i++)
        if (xd_depot_set_grow(&c->in[i], c->n_voters + 1) < 0)
            return XD_E_NOMEM;
    c->n_slots += c->n_slots < max_open;
    set_state(c, c->n_voters++, VOTER_RESERVE);
    return 0;
}

int xd_census_join(struct xd_census *c, unsigned depot, unsigned max_open)
{
    if (depot == c->n_voters)
        return add_voter(c, max_open);
    c->voters[depot].failures = 0;
    if (c->voters[depot].state == VOTER_PARKED)
        set_state(c, depot, VOTER_RESERVE);
    else if (c->voters[depot].state == VOTER_FAILED)
        set_state(c, depot, VOTER_OPENED);
    return 0;
}

void xd_census_vote(struct xd_census *c, unsigned depot, xd_usec now,
                    uint64_t size)
{
    struct voter *v = &c->voters[depot];
    xd_usec patience = 2 * (now - v->asked_at);

    if (c->is_over || v->state != VOTER_ASKED)
        return;
    set_state(c, depot, VOTER_ANSWERED);
    v->size = size;
    if (c->n_answers++ == 0)
        c->deadline =
            now + (patience > LEAST_PATIENCE ? patience : LEAST_PATIENCE);
}

void xd_census_failed(struct xd_census *c, unsigned depot)
{
    if (!c->is_over && c->voters[depot].state == VOTER_ASKED)
        set_state(c, depot, VOTER_FAILED);
}

void xd_census_again(struct xd_census *c, unsigned depot, xd_usec now,
                     xd_usec retry_at)
{
    struct voter *v = &c->voters[depot];
    xd_usec pause = FIRST_REST;

    if (c->is_over || v->state != VOTER_ASKED)
        return;
    v->failures++;
    set_state(c, depot,
              v->failures < c->max_failures && !xd_census_has_reserve(c)
                  ? VOTER_BACKING_OFF
                  : VOTER_FAILED);
    for (unsigned i = 1; i < v->failures && pause < LONGEST_REST; i++)
        pause *= 2;
    if (pause > LONGEST_REST)
        pause = LONGEST_REST;
    v->back_off_until = now + pause > retry_at ? now + pause : retry_at;
}

void xd_census_hindered(struct xd_census *c, unsigned depot, xd_usec retry_at)
{
    struct voter *v = &c->voters[depot];

    if (c->is_over || v->state != VOTER_ASKED)
        return;
    set_state(c, depot, VOTER_BACKING_OFF);
    v->back_off_until = retry_at;
}

/* One that refused is not asked, unless nobody else is left to ask. */
static enum voter_state state_after(const struct xd_census *c,
                                    enum xd_ping_result result)
{
    switch (result) {
    case XD_PING_ANSWERED:
    case XD_PING_UNKNOWN:
        break;
    case XD_PING_SILENT:
        return VOTER_SILENT;
    case XD_PING_REFUSED:
        return xd_census_has_reserve(c) ? VOTER_PARKED : VOTER_SILENT;
    }
    return VOTER_RESERVE;
}

void xd_census_pinged(struct xd_census *c, unsigned depot,
                      enum xd_ping_result result)
{
    if (c->voters[depot].state != VOTER_PINGED)
        return;
    c->n_pings--;
    c->n_refused += result == XD_PING_REFUSED;
    set_state(c, depot, VOTER_PARKED);
    set_state(c, depot, state_after(c, result));
}

static bool try_find(const struct xd_census *c, enum voter_state state,
                     struct xd_sched_action *a)
{
    a->depot = find(c, state);
    if (a->depot == c->n_voters)
        return false;
    a->fetch = c->voters[a->depot].slot;
    return true;
}

static bool try_park(struct xd_census *c, struct xd_sched_action *a)
{
    if (!try_find(c, VOTER_FAILED, a))
        return false;
    set_state(c, a->depot, VOTER_PARKED);
    c->slot_is_taken[a->fetch] = false;
    a->kind = XD_DO_PARK;
    return true;
}

static bool try_cancel(struct xd_census *c, struct xd_sched_action *a)
{
    if (!try_find(c, VOTER_ASKED, a))
        return false;
    set_state(c, a->depot, VOTER_CANCELED);
    a->kind = XD_DO_CANCEL;
    a->range = (struct xd_range){0, 1};
    return true;
}

/* Those whose rest is over are asked again; true if some still rest, and then
 * *out_until is when the first of them has rested. */
static bool wake(struct xd_census *c, xd_usec now, xd_usec *out_until)
{
    const struct xd_depot_set *backing_off = &c->in[VOTER_BACKING_OFF];
    bool some_rest = false;

    for (unsigned i = xd_depot_set_next(backing_off, 0); i < c->n_voters;
         i = xd_depot_set_next(backing_off, i + 1)) {
        const struct voter *v = &c->voters[i];

        if (v->back_off_until <= now) {
            set_state(c, i, VOTER_OPENED);
            continue;
        }
        some_rest = true;
        if (v->back_off_until < *out_until)
            *out_until = v->back_off_until;
    }
    return some_rest;
}

static bool try_fetch(struct xd_census *c, xd_usec now,
                      struct xd_sched_action *a)
{
    if (!try_find(c, VOTER_OPENED, a))
        return false;
    set_state(c, a->depot, VOTER_ASKED);
    c->voters[a->depot].asked_at = now;
    a->kind = XD_DO_FETCH;
    a->reason = XD_FETCH_PROBE;
    a->range = (struct xd_range){0, 1};
    return true;
}

/* Others have failed: a slot is free. */
static bool try_ping(struct xd_census *c, struct xd_sched_action *a)
{
    if (c->n_pings == c->max_pings || c->n_pings >= PINGS + c->n_refused ||
        !try_find(c, VOTER_UNSEEN, a))
        return false;
    set_state(c, a->depot, VOTER_PINGED);
    c->n_pings++;
    a->kind = XD_DO_PING;
    return true;
}

/* The silent ones are left for when no other is. */
static bool try_reserve(const struct xd_census *c, struct xd_sched_action *a)
{
    if (try_find(c, VOTER_RESERVE, a))
        return true;
    return c->n_pings == 0 && !is_any(c, VOTER_UNSEEN) &&
           try_find(c, VOTER_SILENT, a);
}

static bool try_open(struct xd_census *c, struct xd_sched_action *a)
{
    unsigned slot = 0;

    while (slot < c->n_slots && c->slot_is_taken[slot])
        slot++;
    if (slot == c->n_slots)
        return false;
    if (!try_reserve(c, a))
        return try_ping(c, a);
    c->slot_is_taken[slot] = true;
    set_state(c, a->depot, VOTER_OPENED);
    c->voters[a->depot].slot = slot;
    a->kind = XD_DO_OPEN;
    return true;
}

/* The size that most name, and by how many it is named. */
static uint64_t find_size(const struct xd_census *c, unsigned *out_n)
{
    const struct xd_depot_set *answered = &c->in[VOTER_ANSWERED];
    uint64_t best = UINT64_MAX;
    unsigned most = 0;

    for (unsigned i = xd_depot_set_next(answered, 0); i < c->n_voters;
         i = xd_depot_set_next(answered, i + 1)) {
        uint64_t size = c->voters[i].size;
        unsigned n = 0;

        if (size == UINT64_MAX)
            continue;
        for (unsigned j = xd_depot_set_next(answered, 0); j < c->n_voters;
             j = xd_depot_set_next(answered, j + 1))
            n += c->voters[j].size == size;
        if (n > most) {
            most = n;
            best = size;
        }
    }
    *out_n = most;
    return best;
}

/* A depot that has answered keeps its slot, so there are never more votes than slots:
 * against more than half of them the others can do nothing, however many they
 * are and whatever they would say. */
static bool is_decided(const struct xd_census *c)
{
    unsigned n;

    find_size(c, &n);
    return n > c->n_slots / 2;
}

struct xd_sched_action xd_census_next(struct xd_census *c, xd_usec now)
{
    struct xd_sched_action a = {.kind = XD_DO_WAIT, .until = c->deadline};
    bool some_rest = wake(c, now, &a.until);

    if (c->deadline <= now || is_decided(c))
        c->is_over = true;
    if (try_park(c, &a))
        return a;
    if (!c->is_over && (try_fetch(c, now, &a) || try_open(c, &a)))
        return a;
    if (!is_any(c, VOTER_ASKED) &&
        (c->n_answers > 0 || (!some_rest && c->n_pings == 0)))
        c->is_over = true;
    if (!c->is_over || try_cancel(c, &a))
        return a;
    a.kind = c->n_answers > 0 ? XD_DO_FINISH : XD_DO_FAIL;
    return a;
}

uint64_t xd_census_size(const struct xd_census *c)
{
    unsigned n;

    return find_size(c, &n);
}
