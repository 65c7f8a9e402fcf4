/* SPDX-License-Identifier: MIT */
/*
 * The standing of depots: which is paused after a failure, which is given up,
 * and which is taken back.
 */
#include "base/defence.h"
#include "sched/core.h"
#include "sched/holders.h"

/* After a depot's first failure in a row it rests this long; each further one
 * doubles it, up to the longest. */
#define FIRST_REST (250 * XD_MS)
#define LONGEST_REST (30 * XD_SECOND)

/* Being preempted so often in a row happens to a good depot that is far away;
 * from then on it rests as after failures. */
#define OFTEN_PREEMPTED 3

/* Requests in a row without a byte, some of them preempted, after which others
 * have to do: with the rests between them they take half a minute. */
#define MOST_IN_VAIN 10

/* ---- those that rest: a heap, the first to wake on top ---- */

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

/* ---- those that are dropped, fail, and are taken back ---- */

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
    s->is_out_of_memory |= xd_tiers_leave(s, depot) < 0;
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

static xd_usec pause_of(const struct xd_holder *d)
{
    unsigned n = d->failures;
    xd_usec pause = FIRST_REST;

    if (d->preempted > OFTEN_PREEMPTED)
        n += d->preempted - OFTEN_PREEMPTED;
    if (n == 0 || !XD_DEFENDS("pauses"))
        return 0;
    for (unsigned i = 1; i < n && pause < LONGEST_REST; i++)
        pause *= 2;
    return pause < LONGEST_REST ? pause : LONGEST_REST;
}

static bool is_used_up(const struct xd_sched *s, const struct xd_holder *d)
{
    bool fails_always = d->failures >= s->book.o.max_failures;
    bool is_in_vain =
        d->preempted > 0 && d->failures + d->preempted >= MOST_IN_VAIN;

    return (fails_always && XD_DEFENDS("retry")) ||
           (is_in_vain && XD_DEFENDS("in-vain"));
}

/* The last attempt with the only holder of a byte; XD_NEVER if there are others
 * that could deliver all it holds, or its bytes would not be trusted. */
static xd_usec last_attempt(const struct xd_sched *s, unsigned depot)
{
    if (s->size_is_unknown || !xd_holders_is_needed(&s->book, depot))
        return XD_NEVER;
    return s->last_byte_at + s->book.o.patience;
}

/* One more request in vain was counted: drop the depot or let it rest. */
static void pause_or_drop(struct xd_sched *s, unsigned depot, xd_usec now,
                          xd_usec retry_at)
{
    const struct xd_holder *d = &s->book.depots[depot];
    xd_usec until = now + pause_of(d), last = XD_NEVER;

    if (is_used_up(s, d)) {
        last = last_attempt(s, depot);
        if (last == XD_NEVER || last <= now) {
            xd_core_drop(s, depot);
            return;
        }
    }
    if (until < retry_at)
        until = retry_at;
    if (until > last)
        until = last;
    if (until > now)
        rest(s, depot, until);
}

/* A request that had to connect waits for two latencies, and for three with
 * TLS; a wait that is too long for them tells that the depot is another than it
 * was. */
#define MOST_LATENCIES 3

/* How many fetches receive bytes, or where each new one has its own connection
 * how many connections do. */
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

/* When it refused one more it served this request, which was not answered yet,
 * beside those that flowed then. */
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

void xd_core_has_delivered(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (d->has_delivered)
        return;
    d->has_delivered = true;
    xd_core_place(s, depot);
}

/* A depot that has never served two requests at a time, and refuses the second,
 * may ban a client for it. */
static bool is_second_too_many(const struct xd_holder *d,
                               const struct xd_fetch_state *f,
                               const struct xd_sched_event *ev)
{
    return d->most_flowing <= 1 && f->is_beside && !ev->is_unanswered;
}

/* A request that lasted longer than another by more than this part of that was
 * served until the other came. */
#define SERVED_PARTS 4

/* As many requests at a time as it has served.  Of those that it refused all, and
 * bans its client for, the third was one too many if the first was served until
 * then; else the second was. */
static unsigned served_at_a_time(const struct xd_holder *d)
{
    xd_usec least = d->refused_least + d->refused_least / SERVED_PARTS;
    unsigned n = d->refused_most > least ? 2 : 1;

    return d->most_flowing > n ? d->most_flowing : n;
}

/* After so long a request was refused that had begun before the first of them
 * was. */
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

/* A depot that serves others, and not one more.  When it hung up on all of them
 * for that, it has failed as well; their first tells how many were too many. */
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

/* Fetches that had begun before the last failure broke off with it, so that a
 * depot with many lanes is not given up sooner than one with few. */
void xd_core_failed(struct xd_sched *s, const struct xd_fetch_state *f,
                    const struct xd_sched_event *ev)
{
    struct xd_holder *d = &s->book.depots[f->depot];

    if (d->state == XD_HOLDER_DROPPED || is_ceiling(s, f, ev))
        return;
    if (f->number >= d->forgiven_to) {
        d->failures++;
        d->forgiven_to = s->n_begun;
        pause_or_drop(s, f->depot, ev->now, ev->retry_at);
    } else if (ev->retry_at > ev->now) {
        rest(s, f->depot, ev->retry_at);
    }
}

void xd_core_refused(struct xd_sched *s, unsigned depot, xd_usec now)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (s->last_byte_at == XD_NEVER)
        s->last_byte_at = now;
    d->failures++;
    d->forgiven_to = s->n_begun;
    pause_or_drop(s, depot, now, 0);
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

/* The requests of a depot that never answers may all be canceled, as others are
 * faster, before that is a failure. */
void xd_core_preempted(struct xd_sched *s, const struct xd_fetch_state *f,
                       xd_usec now)
{
    struct xd_holder *d = &s->book.depots[f->depot];

    if (d->state == XD_HOLDER_DROPPED || f->number < d->excused_to)
        return;
    d->preempted++;
    d->excused_to = s->n_begun;
    pause_or_drop(s, f->depot, now, 0);
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
    s->is_out_of_memory |= xd_tiers_enter(s, depot) < 0;
    xd_core_forget_searches(s);
    XD_NOTIFY(s, readiness, depot);
    xd_tiers_report(s);
}

/* Depots were given up since others held the same.  If these do not, or were
 * proved wrong, those that only failed are asked again: they may have been
 * silent since others filled their line. */
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

void xd_core_no_ranges(struct xd_sched *s, unsigned depot, bool is_last_resort)
{
    struct xd_holder *d = &s->book.depots[depot];

    d->is_last_resort = is_last_resort;
    /* Without a known size every depot is asked for all of it anyway. */
    d->no_ranges = !s->size_is_unknown;
    d->failures = d->preempted = 0;
    end_rest(s, depot);
    d->forgiven_to = s->n_begun;
    xd_core_forget_searches(s);
    XD_NOTIFY(s, readiness, depot);
}
