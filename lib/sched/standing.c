/* SPDX-License-Identifier: MIT */
/* Rests after failures, giving depots up, and taking them back. */
#include "base/defence.h"
#include "sched/core.h"
#include "sched/holders.h"

/* Rest after a failure for which the event states no retry_at.  The governor of
 * the host (base/governor.h) states it if the host refuses requests.  But it
 * asks for no pause if, for example, a mesh node cannot fetch the bytes.  Each
 * further failure in a row doubles the rest, up to the longest. */
#define FIRST_REST (250 * XD_MS)
#define LONGEST_REST (30 * XD_SECOND)

/* A good depot that is far away may be preempted this often in a row.  From
 * then on it rests as after failures. */
#define OFTEN_PREEMPTED 3

/* Consecutive requests without a byte, including preempted ones, after which
 * the depot is given up.  With the rests between them they take half a
 * minute. */
#define MOST_IN_VAIN 10

/* After this many failures in a row, depots in higher tiers are asked too.  A
 * single failure may be chance. */
#define FEW_FAILURES 2

/* ---- back-offs: a heap with the first to wake at its root ---- */

static xd_usec wakes_at(const struct xd_book *b, unsigned place)
{
    return b->depots[b->backing_off[place - 1]].back_off_until;
}

static void put_at(struct xd_book *b, unsigned place, unsigned depot)
{
    b->backing_off[place - 1] = depot;
    b->depots[depot].place = place;
}

static void swap(struct xd_book *b, unsigned i, unsigned j)
{
    unsigned depot = b->backing_off[i - 1];

    put_at(b, i, b->backing_off[j - 1]);
    put_at(b, j, depot);
}

static void move_in_heap(struct xd_book *b, unsigned i)
{
    for (; i > 1 && wakes_at(b, i) < wakes_at(b, i / 2); i /= 2)
        swap(b, i, i / 2);
    for (unsigned j; (j = 2 * i) <= b->n_backing_off; i = j) {
        if (j < b->n_backing_off && wakes_at(b, j + 1) < wakes_at(b, j))
            j++;
        if (wakes_at(b, i) <= wakes_at(b, j))
            break;
        swap(b, i, j);
    }
}

static void set_rest(struct xd_sched *s, unsigned depot, xd_usec until)
{
    struct xd_book *b = &s->book;
    struct xd_holder *d = &b->depots[depot];

    d->is_backing_off = true;
    d->back_off_until = until;
    if (d->place == 0)
        put_at(b, ++b->n_backing_off, depot);
    move_in_heap(b, d->place);
    s->wake_at = wakes_at(b, 1);
    xd_core_place(s, depot);
}

static void end_rest(struct xd_sched *s, unsigned depot)
{
    struct xd_book *b = &s->book;
    struct xd_holder *d = &b->depots[depot];
    unsigned place = d->place;

    d->is_backing_off = false;
    if (place > 0) {
        swap(b, place, b->n_backing_off--);
        d->place = 0;
        if (place <= b->n_backing_off)
            move_in_heap(b, place);
    }
    s->wake_at = b->n_backing_off > 0 ? wakes_at(b, 1) : XD_NEVER;
    xd_core_place(s, depot);
}

void xd_core_wake(struct xd_sched *s, xd_usec now)
{
    const struct xd_book *b = &s->book;

    while (b->n_backing_off > 0 && wakes_at(b, 1) <= now) {
        unsigned depot = b->backing_off[0];

        s->steps++;
        end_rest(s, depot);
        XD_NOTIFY(s, readiness, depot);
    }
}

/* ---- failing, dropping and taking back ---- */

void xd_core_ban(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    xd_core_drop(s, depot);
    if (!d->is_banned)
        s->book.n_given_up--;
    d->is_banned = true;
}

void xd_core_drop(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (d->state != XD_HOLDER_DROPPED)
        s->book.n_given_up++;
    d->state = XD_HOLDER_DROPPED;
    end_rest(s, depot);
    xd_tiers_leave(s, depot);
    xd_core_forget_searches(s);
    XD_NOTIFY(s, readiness, depot);
    xd_tiers_report(s);
}

static void rest(struct xd_sched *s, unsigned depot, xd_usec until)
{
    const struct xd_holder *d = &s->book.depots[depot];

    if (d->is_backing_off && d->back_off_until >= until)
        return;
    set_rest(s, depot, until);
    XD_NOTIFY(s, readiness, depot);
}

/* Returns the rest after `n` failures in a row; 0 after none. */
static xd_usec rest_after(unsigned n)
{
    xd_usec length = FIRST_REST;

    if (n == 0 || !XD_DEFENDS("pauses"))
        return 0;
    for (unsigned i = 1; i < n && length < LONGEST_REST; i++)
        length *= 2;
    return xd_earlier(length, LONGEST_REST);
}

/* Returns when a depot may be asked again after a failure, which is counted. */
static xd_usec rest_until(const struct xd_holder *d, xd_usec now,
                          xd_usec retry_at)
{
    if (retry_at > 0 && XD_DEFENDS("pauses"))
        return retry_at;
    return now + rest_after(d->failures);
}

static bool is_used_up(const struct xd_sched *s, const struct xd_holder *d)
{
    bool fails_always = d->failures >= s->book.o.max_failures;
    bool is_in_vain =
        d->preempted > 0 && d->failures + d->preempted >= MOST_IN_VAIN;

    return (fails_always && XD_DEFENDS("retry")) ||
           (is_in_vain && XD_DEFENDS("in-vain"));
}

/* Returns when the last attempt with the only holder of a byte may be made.
 * XD_NEVER: other depots could deliver all that it holds, or its bytes would
 * not be trusted. */
static xd_usec last_attempt(const struct xd_sched *s, unsigned depot)
{
    if (s->size_is_unknown || !xd_holders_is_needed(&s->book, depot))
        return XD_NEVER;
    return s->last_byte_at + s->book.o.patience;
}

/* Lets the depot rest, or drops it, after a failure was counted.  `has_waited`:
 * for an answer, for as long as the user's patience. */
static void rest_or_drop(struct xd_sched *s, unsigned depot, xd_usec now,
                         xd_usec until, bool has_waited)
{
    const struct xd_holder *d = &s->book.depots[depot];
    xd_usec last = XD_NEVER;

    if (d->failures >= FEW_FAILURES)
        xd_tiers_set_aside(s, depot);
    if (is_used_up(s, d) || has_waited) {
        last = last_attempt(s, depot);
        if (last == XD_NEVER || last <= now) {
            xd_core_drop(s, depot);
            return;
        }
    }
    until = xd_earlier(until, last);
    if (until > now)
        rest(s, depot, until);
}

/* A request that has to connect takes two round trips, with TLS three.  A
 * longer wait means that the depot has changed. */
#define MOST_LATENCIES 3

/* Returns how many fetches receive bytes; if new fetches have their own
 * connections, how many connections do. */
static unsigned count_flowing(const struct xd_holder *d)
{
    return d->spreads ? d->flowing - d->sharing + (d->sharing > 0) : d->flowing;
}

void xd_core_spread(struct xd_holder *d, bool spreads)
{
    if (d->spreads == spreads)
        return;
    d->spreads = spreads;
    if (spreads)
        d->most_flowing = count_flowing(d);
}

void xd_core_shares(struct xd_holder *d)
{
    d->shares = true;
    if (!d->has_delivered && !d->ceiling_is_known)
        d->ceiling_spreads = true;
}

bool xd_core_is_at_ceiling(const struct xd_holder *d, bool spreads)
{
    return d->ceiling > 0 && d->ceiling_spreads == spreads &&
           d->running >= d->ceiling;
}

/* Returns whether this request was accepted beside those that were delivering
 * bytes when the depot refused one more. */
static bool is_served_too(const struct xd_holder *d,
                          const struct xd_fetch_state *f)
{
    return f->number < d->refused_to && (!d->spreads || f->owns_connection);
}

void xd_core_flows(struct xd_sched *s, const struct xd_fetch_state *f,
                   xd_usec wait)
{
    struct xd_holder *d = &s->book.depots[f->depot];
    unsigned flowing, most;

    if (d->ceiling_is_known &&
        xd_learned_is_outdated(&d->guess.learned, wait / MOST_LATENCIES))
        d->ceiling = 0;
    d->ceiling_is_known = false;
    d->flowing++;
    d->sharing += !f->owns_connection;
    flowing = count_flowing(d);
    if (flowing > d->most_flowing)
        d->most_flowing = flowing;
    d->served += is_served_too(d, f);
    most = flowing > d->served ? flowing : d->served;
    if (d->ceiling > 0 && d->ceiling < most && d->ceiling_spreads == d->spreads)
        d->ceiling = most;
}

void xd_core_has_delivered(struct xd_sched *s, unsigned depot, xd_usec now)
{
    struct xd_holder *d = &s->book.depots[depot];

    d->answered_at = now;
    if (d->is_aside) {
        xd_tiers_return(s, depot);
        xd_tiers_report(s);
    }
    if (d->has_delivered)
        return;
    d->has_delivered = true;
    xd_core_place(s, depot);
}

/* A depot that has never served two requests at a time and refuses the second
 * one may ban clients for it. */
static bool is_second_too_many(const struct xd_holder *d,
                               const struct xd_fetch_state *f,
                               const struct xd_sched_event *ev)
{
    return d->most_flowing <= 1 && f->is_beside && !ev->is_unanswered;
}

/* If a request lasted longer than another by more than 1/4, it was being served
 * until the other one came. */
#define SERVED_PARTS 4

/* Returns how many requests the depot has served at a time.  If it refused all
 * and banned the client, either the second or the third was too many: the
 * third, if the first was served until it came. */
static unsigned served_at_a_time(const struct xd_holder *d)
{
    xd_usec least = d->refused_least + d->refused_least / SERVED_PARTS;
    unsigned n = d->refused_most > least ? 2 : 1;

    return d->most_flowing > n ? d->most_flowing : n;
}

/* Notes that a request was refused `after` this time.  Requests that began
 * before the first refusal belong to the same event. */
static void note_refusal(const struct xd_sched *s, struct xd_holder *d,
                         const struct xd_fetch_state *f, xd_usec after)
{
    if (f->number >= d->refused_to) {
        d->refused_to = s->n_begun;
        d->served = count_flowing(d);
        d->refused_least = d->refused_most = after;
        d->ceiling = 0;
        d->ceiling_spreads = d->spreads;
    }
    if (after < d->refused_least)
        d->refused_least = after;
    if (after > d->refused_most)
        d->refused_most = after;
    if (d->ceiling < served_at_a_time(d))
        d->ceiling = served_at_a_time(d);
}

/* Returns whether the depot serves its other requests and only refuses more.
 * If it closed all connections, this is also a failure, but it shows how many
 * were too many. */
static bool is_ceiling(const struct xd_sched *s, const struct xd_fetch_state *f,
                       const struct xd_sched_event *ev)
{
    struct xd_holder *d = &s->book.depots[f->depot];
    bool has_company = f->has_company || (f->is_beside && d->flowing > 0);

    if (!ev->is_refusal || f->got > f->range.begin)
        return false;
    if (!has_company && !is_second_too_many(d, f, ev))
        return false;
    note_refusal(s, d, f, ev->now - f->began_at);
    return d->flowing > 0;
}

/* Returns whether the request has waited for its first byte as long as the user
 * allows. */
static bool has_waited(const struct xd_sched *s, const struct xd_fetch_state *f,
                       const struct xd_sched_event *ev)
{
    return ev->is_unanswered && f->got == f->range.begin &&
           s->book.o.patience > 0 &&
           ev->now >= f->began_at + s->book.o.patience;
}

/* Fetches that began before the last failure broke off with it.  They do not
 * count again, so that a depot with many lanes is not given up sooner. */
void xd_core_failed(struct xd_sched *s, const struct xd_fetch_state *f,
                    const struct xd_sched_event *ev)
{
    struct xd_holder *d = &s->book.depots[f->depot];

    if (d->state == XD_HOLDER_DROPPED)
        return;
    if (is_ceiling(s, f, ev)) {
        if (ev->retry_at > ev->now)
            rest(s, f->depot, ev->retry_at);
        return;
    }
    if (f->number >= d->forgiven_to) {
        d->failures++;
        d->forgiven_to = s->n_begun;
        rest_or_drop(s, f->depot, ev->now, rest_until(d, ev->now, ev->retry_at),
                     has_waited(s, f, ev));
    } else if (ev->retry_at > ev->now) {
        rest(s, f->depot, ev->retry_at);
    }
}

void xd_core_governed(struct xd_sched *s, const struct xd_sched_event *ev)
{
    struct xd_holder *d = &s->book.depots[ev->depot];

    d->governed = ev->max_lanes;
    d->is_spared = ev->is_sparing;
    if (d->state != XD_HOLDER_DROPPED && ev->retry_at > ev->now)
        rest(s, ev->depot, ev->retry_at);
    else
        XD_NOTIFY(s, readiness, ev->depot);
}

void xd_core_refused(struct xd_sched *s, unsigned depot, xd_usec now,
                     xd_usec retry_at)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (s->last_byte_at == XD_NEVER)
        s->last_byte_at = now;
    d->failures++;
    d->forgiven_to = s->n_begun;
    rest_or_drop(s, depot, now, rest_until(d, now, retry_at), false);
}

void xd_core_postponed(struct xd_sched *s, const struct xd_fetch_state *f,
                       const struct xd_sched_event *ev)
{
    if (s->book.depots[f->depot].state == XD_HOLDER_DROPPED)
        return;
    if (ev->now < s->last_byte_at + s->book.o.patience)
        rest(s, f->depot, ev->retry_at);
    else
        xd_core_failed(s, f, ev);
}

/* If other depots are faster, all requests of a depot that never answers may be
 * canceled before they fail. */
void xd_core_preempted(struct xd_sched *s, const struct xd_fetch_state *f,
                       xd_usec now)
{
    struct xd_holder *d = &s->book.depots[f->depot];
    unsigned n = 0;

    if (d->state == XD_HOLDER_DROPPED || f->number < d->excused_to)
        return;
    d->preempted++;
    d->excused_to = s->n_begun;
    if (d->preempted > OFTEN_PREEMPTED)
        n = d->preempted - OFTEN_PREEMPTED;
    rest_or_drop(s, f->depot, now, now + rest_after(n), false);
}

static bool is_given_up(const struct xd_holder *d)
{
    return d->state == XD_HOLDER_DROPPED && !d->is_banned;
}

void xd_core_take_back(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (d->is_banned)
        s->book.n_given_up++;
    d->is_banned = false;
    d->state = d->slot == XD_NO_SLOT ? XD_HOLDER_RESERVE : XD_HOLDER_OPEN;
    d->failures = d->preempted = 0;
    d->forgiven_to = d->excused_to = s->n_begun;
    s->book.n_given_up--;
    xd_core_place(s, depot);
    xd_rangeset_fini(&s->unavailable);
    xd_tiers_return(s, depot);
    xd_core_forget_searches(s);
    XD_NOTIFY(s, readiness, depot);
    xd_tiers_report(s);
}

/* Depots are given up when others have the same bytes.  If the others turn out
 * not to have them, depots that only failed are asked again: they may have been
 * silent because other depots filled the line. */
void xd_core_reconsider(struct xd_sched *s, xd_usec now)
{
    struct xd_book *b = &s->book;
    bool is_needed = false;

    if (s->size_is_unknown || b->n_given_up == 0 ||
        now >= s->last_byte_at + b->o.patience)
        return;
    for (unsigned i = 0; i < b->n_depots && !is_needed; i++)
        is_needed = is_given_up(&b->depots[i]) && xd_holders_is_needed(b, i);
    for (unsigned i = 0; is_needed && i < b->n_depots; i++)
        if (is_given_up(&b->depots[i]))
            xd_core_take_back(s, i);
}

/* Returns whether the depot delivers, or would probably deliver if it was
 * asked. */
static bool is_promising(const struct xd_holder *d, xd_usec silence,
                         xd_usec now)
{
    if (d->failures + d->preempted > 0 || d->is_backing_off)
        return false;
    return d->state == XD_HOLDER_RESERVE ||
           (d->has_delivered &&
            (d->running == 0 || now < d->answered_at + silence));
}

bool xd_sched_is_only_holder(const struct xd_sched *s, unsigned depot)
{
    return xd_holders_is_needed(&s->book, depot);
}

bool xd_sched_is_last_hope(const struct xd_sched *s, unsigned depot,
                           xd_usec silence, xd_usec now)
{
    const struct xd_book *b = &s->book;
    unsigned i = xd_depot_set_next(&b->usable, 0);

    while (i < b->n_depots &&
           (i == depot || !is_promising(&b->depots[i], silence, now)))
        i = xd_depot_set_next(&b->usable, i + 1);
    return i == b->n_depots || xd_holders_is_needed(b, depot);
}

void xd_core_no_ranges(struct xd_sched *s, unsigned depot, bool is_last_resort)
{
    struct xd_holder *d = &s->book.depots[depot];

    d->is_last_resort = is_last_resort;
    /* If the size is unknown, every depot is asked for everything anyway. */
    d->no_ranges = !s->size_is_unknown;
    d->failures = d->preempted = 0;
    end_rest(s, depot);
    d->forgiven_to = s->n_begun;
    xd_core_forget_searches(s);
    XD_NOTIFY(s, readiness, depot);
}
