#include "sched/census.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

#define LEAST_PATIENCE (500 * XD_MS)

/* As the scheduler's own: a pause after the first failure, doubled by each
 * further one up to the longest. */
#define FIRST_REST (250 * XD_MS)
#define LONGEST_REST (30 * XD_SECOND)

enum voter_state {
    VOTER_RESERVE,
    VOTER_OPENED, /* not asked yet */
    VOTER_ASKED,
    VOTER_CANCELED, /* asked, and told to stop */
    VOTER_RESTING,  /* failed a moment ago, and will be asked again */
    VOTER_ANSWERED,
    VOTER_FAILED, /* still open */
    VOTER_PARKED
};

struct voter {
    enum voter_state state;
    unsigned slot;
    unsigned failures;
    xd_usec asked_at;
    xd_usec rest_until;
    uint64_t size; /* once it answered */
};

struct xd_census {
    struct voter *voters;
    bool *slot_is_taken;
    unsigned n_voters, n_slots, max_failures;
    unsigned n_answers;
    xd_usec deadline; /* XD_NEVER before the first answer */
    bool is_over;
};

struct xd_census *xd_census_new(size_t n_depots, unsigned max_open,
                                unsigned max_failures)
{
    struct xd_census *c = xd_alloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->n_voters = (unsigned)n_depots;
    c->n_slots = max_open < c->n_voters ? max_open : c->n_voters;
    c->max_failures = max_failures;
    c->deadline = XD_NEVER;
    c->voters = xd_alloc(c->n_voters, sizeof *c->voters);
    c->slot_is_taken = xd_alloc(c->n_slots, sizeof *c->slot_is_taken);
    if (c->voters == NULL || c->slot_is_taken == NULL) {
        xd_census_free(c);
        return NULL;
    }
    return c;
}

void xd_census_free(struct xd_census *c)
{
    if (c == NULL)
        return;
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
    c->n_slots += c->n_slots < max_open;
    c->n_voters++;
    return 0;
}

int xd_census_join(struct xd_census *c, unsigned depot, unsigned max_open)
{
    struct voter *v;

    if (depot == c->n_voters)
        return add_voter(c, max_open);
    v = &c->voters[depot];
    v->failures = 0;
    if (v->state == VOTER_PARKED)
        v->state = VOTER_RESERVE;
    else if (v->state == VOTER_FAILED)
        v->state = VOTER_OPENED;
    return 0;
}

void xd_census_vote(struct xd_census *c, unsigned depot, xd_usec now,
                    uint64_t size)
{
    struct voter *v = &c->voters[depot];
    xd_usec patience = 2 * (now - v->asked_at);

    if (c->is_over || v->state != VOTER_ASKED)
        return;
    v->state = VOTER_ANSWERED;
    v->size = size;
    if (c->n_answers++ == 0)
        c->deadline =
            now + (patience > LEAST_PATIENCE ? patience : LEAST_PATIENCE);
}

void xd_census_failed(struct xd_census *c, unsigned depot)
{
    struct voter *v = &c->voters[depot];

    if (!c->is_over && v->state == VOTER_ASKED)
        v->state = VOTER_FAILED;
}

static unsigned find(const struct xd_census *c, enum voter_state state);

void xd_census_again(struct xd_census *c, unsigned depot, xd_usec now,
                     xd_usec retry_at)
{
    struct voter *v = &c->voters[depot];
    xd_usec pause = FIRST_REST;

    if (c->is_over || v->state != VOTER_ASKED)
        return;
    v->failures++;
    v->state =
        v->failures < c->max_failures && find(c, VOTER_RESERVE) == c->n_voters
            ? VOTER_RESTING
            : VOTER_FAILED;
    for (unsigned i = 1; i < v->failures && pause < LONGEST_REST; i++)
        pause *= 2;
    if (pause > LONGEST_REST)
        pause = LONGEST_REST;
    v->rest_until = now + pause > retry_at ? now + pause : retry_at;
}

void xd_census_hindered(struct xd_census *c, unsigned depot, xd_usec retry_at)
{
    struct voter *v = &c->voters[depot];

    if (c->is_over || v->state != VOTER_ASKED)
        return;
    v->state = VOTER_RESTING;
    v->rest_until = retry_at;
}

/* The most preferred voter in that state; n_voters if there is none. */
static unsigned find(const struct xd_census *c, enum voter_state state)
{
    for (unsigned i = 0; i < c->n_voters; i++)
        if (c->voters[i].state == state)
            return i;
    return c->n_voters;
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
    c->voters[a->depot].state = VOTER_PARKED;
    c->slot_is_taken[a->fetch] = false;
    a->kind = XD_DO_PARK;
    return true;
}

static bool try_cancel(struct xd_census *c, struct xd_sched_action *a)
{
    if (!try_find(c, VOTER_ASKED, a))
        return false;
    c->voters[a->depot].state = VOTER_CANCELED;
    a->kind = XD_DO_CANCEL;
    a->range = (struct xd_range){0, 1};
    return true;
}

/* Those whose rest is over are asked again; true if some still rest, and then
 * *out_until is when the first of them has rested. */
static bool wake(struct xd_census *c, xd_usec now, xd_usec *out_until)
{
    bool some_rest = false;

    for (unsigned i = 0; i < c->n_voters; i++) {
        struct voter *v = &c->voters[i];

        if (v->state != VOTER_RESTING)
            continue;
        if (v->rest_until <= now) {
            v->state = VOTER_OPENED;
            continue;
        }
        some_rest = true;
        if (v->rest_until < *out_until)
            *out_until = v->rest_until;
    }
    return some_rest;
}

static bool try_fetch(struct xd_census *c, xd_usec now,
                      struct xd_sched_action *a)
{
    if (!try_find(c, VOTER_OPENED, a))
        return false;
    c->voters[a->depot].state = VOTER_ASKED;
    c->voters[a->depot].asked_at = now;
    a->kind = XD_DO_FETCH;
    a->range = (struct xd_range){0, 1};
    return true;
}

static bool try_open(struct xd_census *c, struct xd_sched_action *a)
{
    unsigned slot = 0;

    while (slot < c->n_slots && c->slot_is_taken[slot])
        slot++;
    if (slot == c->n_slots || !try_find(c, VOTER_RESERVE, a))
        return false;
    c->slot_is_taken[slot] = true;
    c->voters[a->depot].state = VOTER_OPENED;
    c->voters[a->depot].slot = slot;
    a->kind = XD_DO_OPEN;
    return true;
}

/* The size that most name, and by how many it is named. */
static uint64_t find_size(const struct xd_census *c, unsigned *out_n)
{
    uint64_t best = UINT64_MAX;
    unsigned most = 0;

    for (unsigned i = 0; i < c->n_voters; i++) {
        uint64_t size = c->voters[i].size;
        unsigned n = 0;

        if (c->voters[i].state != VOTER_ANSWERED || size == UINT64_MAX)
            continue;
        for (unsigned j = 0; j < c->n_voters; j++)
            n += c->voters[j].state == VOTER_ANSWERED &&
                 c->voters[j].size == size;
        if (n > most) {
            most = n;
            best = size;
        }
    }
    *out_n = most;
    return best;
}

/* Who has answered keeps its slot, so there are never more votes than slots:
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
    if (find(c, VOTER_ASKED) == c->n_voters && (c->n_answers > 0 || !some_rest))
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
