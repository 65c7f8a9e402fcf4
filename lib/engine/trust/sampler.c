/* SPDX-License-Identifier: MIT */
/*
 * Decides, under the lock, which depot to ask next, and evaluates the
 * responses.  sampler_ask.c sends the requests.
 */
#include "engine/trust/sampler.h"

#include <string.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/source.h"
#include "engine/via.h"
#include "engine/lane.h"
#include "engine/trust/blame.h"
#include "engine/trust/relayed.h"
#include "engine/trust/sampler_ask.h"
#include "transfer/registry.h"

typedef unsigned long long ull;

/* Minimum length of a sample of a depot's first bytes.  Fewer bytes of two
 * files may be equal by chance. */
#define OWN_LEAST 512

/* How long the first reader of a depot's bytes waits until another depot
 * confirms them: two round trips on a slow network. */
#define DELAY (XD_SECOND / 2)

int xd_sampler_init(struct xd_sampler *s)
{
    return xd_cond_init(&s->changed);
}

void xd_sampler_fini(struct xd_sampler *s)
{
    for (size_t i = 0; i < s->n; i++)
        xd_sample_copies_fini(&s->samples[i]);
    xd_runner_free(s->runner);
    xd_free(s->final_url);
    xd_cond_fini(&s->changed);
}

/* Returns true if a hash decides which bytes are right before anyone uses them.
 * The hash of the whole file does so for a file that is used only when it is
 * complete, but not for readers and pipes. */
static bool has_deciding_hash(const struct xd_engine *e)
{
    return e->verify.pieces.n > 0 ||
           (e->verify.whole && e->dest.output->is_seen_at_end);
}

void xd_sampler_start_locked(struct xd_engine *e)
{
    struct xd_sampler *s = &e->sampler;
    struct xd_range ranges[XD_SAMPLES_MAX];

    if (has_deciding_hash(e) || e->depots.n < 2 ||
        e->dest.output->has_many_files || !XD_DEFENDS("comparison"))
        return;
    s->n = xd_sample_ranges(e->wanted, ranges);
    for (size_t i = 0; i < s->n; i++)
        xd_sample_copies_init(&s->samples[i], ranges[i]);
    s->n_places = s->n;
    s->is_on = s->n > 0;
}

/* ---- choice of the depot to ask ---- */

_Static_assert(XD_COMPARED_MAX <= 64,
               "a bit for each in xd_depot.samples_asked");

static bool has_asked(const struct xd_depot *d, size_t i)
{
    return d->samples_asked >> i & 1;
}

/* Returns true if the depot can be asked for a sample.  A sample needs an extra
 * connection, so depots whose connections are limited are not asked. */
static bool can_deliver(const struct xd_engine *e, struct xd_depot *d,
                        struct xd_range range)
{
    return !d->node_id && d->kind->can_sample && d->state != XD_DEPOT_FAILED &&
           !d->is_banned && !d->knows_no_ranges && d->max_connections == 0 &&
           e->depots.max_connections == 0 && xd_depot_source(d, range);
}

/* Returns the depot with a running request for the range; depots.n if there is
 * none. */
static unsigned find_deliverer_locked(const struct xd_engine *e,
                                      struct xd_range range)
{
    for (unsigned i = 0; i < e->workers.n; i++) {
        const struct xd_worker *w = e->workers.list[i];

        for (unsigned j = 0; w->depot && j < w->n_lanes; j++) {
            const struct xd_lane *l = &w->lanes[j];

            if (l->state != LANE_FREE && l->range.begin < range.end &&
                range.begin < l->end)
                return w->depot->number;
        }
    }
    return (unsigned)e->depots.n;
}

/* Returns true if `d` is the origin of the mesh nodes. */
static bool is_origin(const struct xd_engine *e, const struct xd_depot *d)
{
    return xd_via_origin(&e->depots) == d;
}

/* A sample that can be requested now. */
struct question {
    size_t i; /* index of the sample */
    bool is_disputed;
    unsigned deliverer; /* depot that is delivering the range now, or depots.n;
                           if there is one, another depot that has delivered
                           bytes is asked */
    bool is_for_known;  /* ask only depots that have answered before */
};

/* Returns true if the depot has delivered bytes.  The origin of a mesh has
 * delivered bytes to its caches. */
static bool has_delivered(const struct xd_engine *e, const struct xd_depot *d)
{
    return d->bytes + d->bytes_redundant > 0 || is_origin(e, d);
}

static bool may_be_asked(const struct xd_engine *e, const struct question *q,
                         struct xd_depot *d)
{
    const struct xd_sample_copies *c = &e->sampler.samples[q->i];

    if (has_asked(d, q->i) || xd_sample_copies_of(c, d->number) ||
        !can_deliver(e, d, c->range))
        return false;
    if (q->deliverer < e->depots.n &&
        (d->number == q->deliverer || !has_delivered(e, d)))
        return false;
    if (q->is_for_known && d->first_byte == XD_NEVER && !has_delivered(e, d))
        return false;
    return q->is_disputed ||
           (!d->refuses_samples && d->state != XD_DEPOT_PAUSED);
}

/* Returns true if `d` should be asked rather than `other`.  The origin of
 * caches comes first, because it knows whether they are right.  Next is a depot
 * that has delivered bytes: it answers, and its bytes need checking.  Next is
 * the nearest depot, because samples are requested one after the other and a
 * complete file waits for the last. */
static bool is_better(const struct xd_engine *e, const struct xd_depot *d,
                      const struct xd_depot *other)
{
    bool d_gives = d->bytes + d->bytes_redundant > 0;
    bool other_gives = other->bytes + other->bytes_redundant > 0;

    if (is_origin(e, d) != is_origin(e, other))
        return is_origin(e, d);
    return d_gives != other_gives ? d_gives : d->first_byte < other->first_byte;
}

/* Returns the best depot to ask; depots.n if there is none. */
static unsigned choose_depot_locked(const struct xd_engine *e,
                                    const struct question *q)
{
    unsigned n = (unsigned)e->depots.n, best = n;

    for (unsigned j = 0; j < n; j++) {
        if (may_be_asked(e, q, e->depots.list[j]) &&
            (best == n ||
             is_better(e, e->depots.list[j], e->depots.list[best])))
            best = j;
    }
    return best;
}

/* Returns true if a sample needs one more copy.  Two copies are enough, and the
 * download itself delivers one of them.  The other is requested while the
 * download receives its own, so that a complete file does not have to wait for
 * it. */
static bool needs_copy_locked(const struct xd_engine *e, struct question *q)
{
    const struct xd_sample_copies *c = &e->sampler.samples[q->i];
    size_t n_copies = xd_sample_copies_count(c);
    unsigned deliverer;

    q->deliverer = (unsigned)e->depots.n;
    if (q->is_disputed)
        return true;
    if (n_copies > 1 || q->i >= e->sampler.n_places ||
        xd_range_is_empty(c->range)) /* the sample was closed */
        return false;
    if (xd_ledger_has(&e->ledger, XD_BYTES_STORED, c->range))
        return true;
    deliverer = find_deliverer_locked(e, c->range);
    if (deliverer == e->depots.n || xd_sample_copies_of(c, deliverer))
        return n_copies == 1;
    q->deliverer = deliverer;
    return n_copies == 0;
}

/* ---- depots not yet compared ---- */

/* Returns true if bytes that the depot delivered for the download were compared
 * with a copy from another depot.  A copy that was requested only as a sample
 * does not count: it may come from another server with the same name. */
static bool is_compared(const struct xd_engine *e, unsigned depot)
{
    const struct xd_sampler *s = &e->sampler;

    for (size_t i = 0; i < s->n; i++) {
        const struct xd_sample_copies *c = &s->samples[i];

        if (xd_sample_copies_of(c, depot) && xd_sample_copies_count(c) > 1 &&
            !has_asked(e->depots.list[depot], i))
            return true;
    }
    return false;
}

static bool is_confirmed(const struct xd_engine *e, unsigned depot)
{
    const struct xd_sampler *s = &e->sampler;

    for (size_t i = 0; i < s->n; i++) {
        const struct xd_sample_copies *c = &s->samples[i];

        if (xd_sample_copies_of(c, depot) && xd_sample_copies_count(c) > 1 &&
            !xd_sample_copies_differ(c) && !has_asked(e->depots.list[depot], i))
            return true;
    }
    return false;
}

static bool has_witness(const struct xd_engine *e, unsigned depot)
{
    for (unsigned i = 0; i < e->depots.n; i++)
        if (i != depot && can_deliver(e, e->depots.list[i], e->wanted))
            return true;
    return false;
}

bool xd_sampler_delays_locked(struct xd_engine *e, unsigned depot,
                              xd_usec *out_until)
{
    struct xd_depot *d = e->depots.list[depot];
    const xd_usec now = xd_now();

    /* after the end, no other copy can confirm the bytes */
    if (!e->sampler.is_on || !e->verify.whole || xd_engine_is_over_locked(e) ||
        d->is_banned || d->node_id || is_confirmed(e, depot) ||
        !has_witness(e, depot))
        return false;
    if (d->delays_until == 0)
        d->delays_until = now + DELAY;
    *out_until = d->delays_until;
    return now < d->delays_until;
}

static bool is_of_owner(const struct xd_sampler *s, size_t i)
{
    return s->of_owners >> i & 1;
}

/* Chooses a sample that only one depot has delivered, if that depot was not
 * compared yet.  Two equal copies of a sample say nothing about a third depot,
 * so the first bytes of each depot are a sample, too.  A near depot is asked
 * for them, which takes one round trip on an open connection. */
static bool choose_uncompared_locked(const struct xd_engine *e,
                                     size_t *out_sample, unsigned *out_depot)
{
    const struct xd_sampler *s = &e->sampler;

    for (size_t i = 0; i < s->n; i++) {
        const struct xd_sample_copies *c = &s->samples[i];
        struct question q = {
            .i = i, .deliverer = (unsigned)e->depots.n, .is_for_known = true};

        if (xd_sample_copies_count(c) != 1 ||
            (!is_of_owner(s, i) &&
             is_compared(e, xd_sample_copies_first(c)->depot)))
            continue;
        *out_sample = i;
        *out_depot = choose_depot_locked(e, &q);
        if (*out_depot < e->depots.n)
            return true;
    }
    return false;
}

bool xd_sampler_choose_locked(const struct xd_engine *e, size_t *out_sample,
                              unsigned *out_depot)
{
    const struct xd_sampler *s = &e->sampler;

    for (int disputes = 1; disputes >= (s->is_on ? 0 : 1); disputes--) {
        for (size_t i = 0; i < s->n; i++) {
            struct question q = {
                .i = i, .is_disputed = xd_sample_copies_differ(&s->samples[i])};

            if (q.is_disputed != (disputes == 1) || !needs_copy_locked(e, &q))
                continue;
            *out_depot = choose_depot_locked(e, &q);
            *out_sample = i;
            if (*out_depot < e->depots.n)
                return true;
        }
    }
    return s->is_on && choose_uncompared_locked(e, out_sample, out_depot);
}

/* ---- consequences ---- */

/* Starts the comparison of a node from the beginning, because this node may
 * send wrong bytes although another node was blamed.  Discards what the node
 * has delivered.  The first bytes that it delivers from now on are compared. */
static void begin_again_locked(struct xd_engine *e, unsigned depot)
{
    for (size_t i = 0; i < e->sampler.n; i++)
        xd_sample_copies_forget(&e->sampler.samples[i], depot);
    e->depots.list[depot]->has_own_sample = false;
    xd_blame_discard_locked(e, depot);
}

/* Handles caches whose bytes differ from those of their origin. */
static void drop_caches_locked(struct xd_engine *e, struct xd_sample_copies *c)
{
    const struct xd_sample_copy *wrong, *right;
    struct xd_error error = {0};

    while ((wrong = xd_sample_copies_contradicted(c, &right))) {
        const unsigned depot = wrong->depot;

        xd_fail(&error, XD_E_CORRUPT,
                "%s: its bytes within %llu-%llu are not those of %s",
                e->depots.list[depot]->host, (ull)c->range.begin,
                (ull)(c->range.end - 1),
                e->depots.list[right->depot]->shown_url);
        if (xd_relayed_excuses_locked(e, e->depots.list[depot], c->range,
                                      &error))
            begin_again_locked(e, depot);
        else
            xd_blame_confirm_bad_locked(e, depot, &error);
        e->sampler.wait_until = 0;
        if (!XD_DEFENDS("blame"))
            return;
    }
}

static void outvote_locked(struct xd_engine *e, struct xd_sample_copies *c,
                           const struct xd_sample_copy *right)
{
    const char *witness = e->depots.list[right->depot]->shown_url;
    struct xd_error error = {0};

    for (size_t i = c->n; i-- > 0;) {
        unsigned depot = c->list[i].depot;

        if (!xd_sample_copy_differs(c, &c->list[i], right))
            continue;
        xd_fail(&error, XD_E_CORRUPT,
                "%s: its bytes within %llu-%llu are not those of %s and others",
                e->depots.list[depot]->shown_url, (ull)c->range.begin,
                (ull)(c->range.end - 1), witness);
        xd_blame_confirm_bad_locked(e, depot, &error);
        e->sampler.wait_until = 0;
        right = xd_sample_copies_majority(c); /* the ban has removed a copy from
                                                 the list */
        if (!right)
            return;
    }
}

static void distrust_locked(struct xd_engine *e, struct xd_range where,
                            unsigned depot, unsigned other)
{
    struct xd_error error = {0};

    xd_fail(&error, XD_E_CORRUPT,
            "%s: its bytes within %llu-%llu are not those of %s",
            e->depots.list[depot]->shown_url, (ull)where.begin,
            (ull)(where.end - 1), e->depots.list[other]->shown_url);
    xd_blame_ban_locked(e, depot, &error);
}

/* Fails the download.  Neither depot is trusted, so that a later run does not
 * continue with their bytes. */
static void give_up_locked(struct xd_engine *e, struct xd_sample_copies *c)
{
    const struct xd_sample_copy *first = xd_sample_copies_first(c);
    const unsigned one = first->depot;
    unsigned other = one;
    struct xd_error error = {0};

    for (size_t i = 0; i < c->n && other == one; i++)
        if (xd_sample_copy_differs(c, &c->list[i], first))
            other = c->list[i].depot;
    xd_fail(&error, XD_E_CORRUPT,
            "%s and %s differ within bytes %llu-%llu, and no hash or third "
            "depot shows which is right",
            e->depots.list[one]->shown_url, e->depots.list[other]->shown_url,
            (ull)c->range.begin, (ull)(c->range.end - 1));
    for (size_t i = c->n; i-- > 0;) { /* a ban removes the depot's copy from the
                                         list */
        const unsigned depot = c->list[i].depot;

        if (xd_sample_copies_of(c, depot))
            distrust_locked(e, c->range, depot, depot == one ? other : one);
    }
    xd_engine_fail_locked(e, &error);
}

/* Closes a sample.  In a repair the hash decides, and samples only find a
 * suspect. */
static void close_locked(struct xd_engine *e, struct xd_sample_copies *c,
                         const struct xd_sample_copy *right)
{
    unsigned outvoted = XD_HELD;

    for (size_t i = 0; right && i < c->n; i++) {
        if (xd_sample_copy_differs(c, &c->list[i], right))
            outvoted = c->list[i].depot;
    }
    xd_sample_copies_fini(c);
    if (outvoted != XD_HELD)
        xd_repair_outvoted_locked(e, outvoted);
}

/* Returns true if the whole file is stored and has a hash.  The hash will show
 * which of two depots is right.  Then the bytes of the other depot are fetched
 * again, and their readers fail. */
static bool has_hash_at_the_end(const struct xd_engine *e)
{
    return e->verify.whole && !xd_engine_is_bounded(e);
}

static void judge_locked(struct xd_engine *e)
{
    struct xd_sampler *s = &e->sampler;

    for (size_t i = 0; i < s->n && !xd_engine_is_over_locked(e); i++) {
        struct xd_sample_copies *c = &s->samples[i];
        struct question q = {
            .i = i, .is_disputed = true, .deliverer = (unsigned)e->depots.n};
        const struct xd_sample_copy *right;

        if (s->is_on)
            drop_caches_locked(e, c);
        if (!xd_sample_copies_differ(c))
            continue;
        right = xd_sample_copies_majority(c);
        if (!right && (s->is_busy || choose_depot_locked(e, &q) < e->depots.n))
            continue;
        if (!s->is_on)
            close_locked(e, c, right);
        else if (right)
            outvote_locked(e, c, right);
        else if (has_hash_at_the_end(e))
            xd_sample_copies_fini(c);
        else
            give_up_locked(e, c);
    }
    xd_engine_wake_readers_locked(e);
}

static void add_copy_locked(struct xd_engine *e, struct xd_sample_copies *c,
                            unsigned depot, struct xd_range range,
                            const unsigned char *data)
{
    size_t n_copies = xd_sample_copies_count(c);

    if (range.begin >= c->range.end || range.end <= c->range.begin ||
        e->depots.list[depot]->is_banned)
        return;
    if (xd_sample_copies_add(c, depot, xd_via_witness(&e->depots, depot), range,
                             data) < 0)
        xd_engine_fail_nomem_locked(e);
    else if (n_copies == 1 && xd_sample_copies_count(c) == 2 &&
             !xd_sample_copies_differ(c))
        e->sampler.bytes_compared += xd_range_length(c->range);
}

void xd_sampler_received_locked(struct xd_engine *e, size_t i, unsigned depot,
                                const unsigned char *data)
{
    struct xd_sample_copies *c = &e->sampler.samples[i];
    bool was_disputed;

    if (e->depots.list[depot]->is_banned)
        return;
    add_copy_locked(e, c, depot, c->range, data);
    was_disputed = xd_sample_copies_differ(c);
    judge_locked(e);
    if (was_disputed && xd_sample_copies_of(c, depot) &&
        xd_sample_copies_count(c) > 1 && !xd_sample_copies_differ(c))
        e->sampler.bytes_compared += xd_range_length(c->range);
}

void xd_sampler_refused_locked(struct xd_engine *e, unsigned depot)
{
    e->depots.list[depot]->refuses_samples = true;
    judge_locked(e);
}

/* ---- samples and disputes ---- */

/* If there is no room for this dispute, it is ignored: other disputes between
 * the same depots are open. */
void xd_sampler_dispute_locked(struct xd_engine *e, struct xd_range at,
                               unsigned depot, const unsigned char *copy,
                               unsigned deliverer, const unsigned char *kept)
{
    struct xd_sampler *s = &e->sampler;
    struct xd_sample_copies *c;

    xd_repair_disputed(&e->repair);
    if (s->n == XD_COMPARED_MAX)
        return;
    c = &s->samples[s->n++];
    xd_sample_copies_init(c, at);
    add_copy_locked(e, c, depot, at, copy);
    add_copy_locked(e, c, deliverer, at, kept);
}

bool xd_sampler_compares_locked(const struct xd_engine *e, unsigned depot)
{
    return (e->sampler.is_on || xd_repair_compares(&e->repair, e->depots.n)) &&
           !xd_engine_is_over_locked(e) && !e->depots.list[depot]->is_banned;
}

/* Returns the flag that says whether a sample was opened for bytes that a node
 * got from the owner of a chunk.  NULL if the depot is not a mesh node. */
static bool *owner_sample_of(struct xd_engine *e, unsigned depot,
                             struct xd_range range)
{
    struct xd_depot *d = e->depots.list[depot];
    const struct xd_depot_source *s =
        d->node_id ? xd_depot_source(d, range) : NULL;
    struct xd_via *v = e->depots.via;

    return s ? &v->was_sampled[xd_via_named(v, xd_source_via(s), range.begin)]
             : NULL;
}

/* Opens a sample of the first bytes of the depot, or of the first bytes that it
 * got from the owner, unless they are too few. */
static void open_own_locked(struct xd_engine *e, unsigned depot,
                            struct xd_range range)
{
    struct xd_sampler *s = &e->sampler;
    struct xd_depot *d = e->depots.list[depot];
    bool *is_open = &d->has_own_sample, *is_owner_open;

    if (!s->is_on || s->n >= XD_OWN_SAMPLES_END ||
        (xd_range_length(range) < OWN_LEAST && d->n_excuses == 0))
        return;
    is_owner_open = owner_sample_of(e, depot, range);
    if (is_owner_open && !*is_owner_open) {
        is_open = is_owner_open;
        s->of_owners |= UINT64_C(1) << s->n;
    }
    if (*is_open)
        return;
    if (xd_range_length(range) > XD_SAMPLE_BYTES)
        range.end = range.begin + XD_SAMPLE_BYTES;
    *is_open = true;
    xd_sample_copies_init(&s->samples[s->n++], range);
}

void xd_sampler_note_locked(struct xd_engine *e, unsigned depot,
                            struct xd_range range, const unsigned char *data)
{
    struct xd_sampler *s = &e->sampler;

    open_own_locked(e, depot, range);
    for (size_t i = 0; i < s->n; i++)
        add_copy_locked(e, &s->samples[i], depot, range, data);
}

void xd_sampler_judge_locked(struct xd_engine *e)
{
    judge_locked(e);
    if (e->sampler.n > 0)
        xd_sampler_run_locked(e);
}

bool xd_sampler_is_pending_locked(struct xd_engine *e)
{
    unsigned depot;
    size_t i;

    return e->sampler.is_on && !xd_engine_is_over_locked(e) &&
           (e->sampler.is_busy || xd_sampler_choose_locked(e, &i, &depot));
}

bool xd_sampler_holds_locked(struct xd_engine *e)
{
    struct xd_sampler *s = &e->sampler;
    xd_usec now = xd_now();
    unsigned depot;
    size_t i;

    if (!s->is_on)
        return false;
    judge_locked(e);
    if (xd_engine_is_over_locked(e))
        return true;
    if (s->wait_until == 0)
        s->wait_until = now + XD_SAMPLER_WAIT;
    if (now >= s->wait_until ||
        (!s->is_busy && !xd_sampler_choose_locked(e, &i, &depot)))
        return false;
    xd_sampler_run_locked(e);
    e->decisions.until = xd_earlier(s->wait_until, e->times.deadline);
    return true;
}
