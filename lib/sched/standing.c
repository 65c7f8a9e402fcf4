/*
 * How depots stand: who rests after a failure, who is given up, and who is
 * taken back.
 */
#include "base/defence.h"
#include "sched/core.h"
#include "sched/holders.h"

/* After a depot's first failure in a row it rests this long; each further one
 * doubles it, up to the longest. */
#define FIRST_REST (250 * XD_MS)
#define LONGEST_REST (30 * XD_SECOND)

/* Being overtaken so often in a row happens to a good depot that is far away;
 * from then on it rests as after failures. */
#define OFTEN_OVERTAKEN 3

/* Requests in a row without a byte, some of them overtaken, after which others
 * have to do: with the rests between them they take half a minute. */
#define MOST_IN_VAIN 10

void xd_core_wake(struct xd_sched *s, xd_usec now)
{
    s->wake_at = XD_NEVER;
    for (unsigned i = 0; i < s->book.n_depots; i++) {
        struct xd_holder *d = &s->book.depots[i];

        if (d->resting && d->rest_until <= now) {
            d->resting = false;
            XD_TELL(s, readiness, i);
        }
        if (d->resting && d->rest_until < s->wake_at)
            s->wake_at = d->rest_until;
    }
}

void xd_core_drop(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    d->state = XD_HOLDER_DROPPED;
    d->resting = false;
    xd_core_forget_searches(s);
    XD_TELL(s, readiness, depot);
}

static void rest(struct xd_sched *s, unsigned depot, xd_usec until)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (d->resting && d->rest_until >= until)
        return;
    d->resting = true;
    d->rest_until = until;
    s->wake_at = until < s->wake_at ? until : s->wake_at;
    XD_TELL(s, readiness, depot);
}

static xd_usec pause_of(const struct xd_holder *d)
{
    unsigned n = d->failures;
    xd_usec pause = FIRST_REST;

    if (d->overtaken > OFTEN_OVERTAKEN)
        n += d->overtaken - OFTEN_OVERTAKEN;
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
        d->overtaken > 0 && d->failures + d->overtaken >= MOST_IN_VAIN;

    return (fails_always && XD_DEFENDS("retry")) ||
           (is_in_vain && XD_DEFENDS("in-vain"));
}

/* The last attempt with the only holder of a byte; XD_NEVER if there are others
 * that could bring all it holds, or its bytes would not be believed. */
static xd_usec last_attempt(const struct xd_sched *s, unsigned depot)
{
    if (s->size_is_unknown || !xd_holders_is_needed(&s->book, depot))
        return XD_NEVER;
    return s->heard_at + s->book.o.patience;
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

void xd_core_flows(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (++d->flowing > d->most_flowing)
        d->most_flowing = d->flowing;
    if (d->ceiling > 0 && d->ceiling < d->flowing)
        d->ceiling = d->flowing; /* it served one that was not answered yet */
}

/* A depot that serves others, and not one more.  When it hung up on all of them
 * for that, it has failed as well. */
static bool is_ceiling(struct xd_holder *d, const struct xd_fetch_state *f,
                       const struct xd_sched_event *ev)
{
    if (!ev->is_refusal || !f->has_company || f->got > f->range.begin)
        return false;
    d->ceiling = d->most_flowing;
    return d->flowing > 0;
}

/* Fetches that had begun before the last failure broke off with it, so that a
 * depot with many lanes is not given up sooner than one with few. */
void xd_core_failed(struct xd_sched *s, const struct xd_fetch_state *f,
                    const struct xd_sched_event *ev)
{
    struct xd_holder *d = &s->book.depots[f->depot];

    if (d->state == XD_HOLDER_DROPPED || is_ceiling(d, f, ev))
        return;
    if (f->number >= d->forgiven_to) {
        d->failures++;
        d->forgiven_to = s->n_begun;
        pause_or_drop(s, f->depot, ev->now, ev->retry_at);
    } else if (ev->retry_at > ev->now) {
        rest(s, f->depot, ev->retry_at);
    }
}

void xd_core_hindered(struct xd_sched *s, const struct xd_fetch_state *f,
                      const struct xd_sched_event *ev)
{
    if (s->book.depots[f->depot].state == XD_HOLDER_DROPPED)
        return;
    if (ev->now < s->heard_at + s->book.o.patience)
        rest(s, f->depot, ev->retry_at);
    else
        xd_core_failed(s, f, ev);
}

/* Who never answers may always be overtaken before that is a failure. */
void xd_core_overtaken(struct xd_sched *s, const struct xd_fetch_state *f,
                       xd_usec now)
{
    struct xd_holder *d = &s->book.depots[f->depot];

    if (d->state == XD_HOLDER_DROPPED || f->number < d->excused_to)
        return;
    d->overtaken++;
    d->excused_to = s->n_begun;
    pause_or_drop(s, f->depot, now, 0);
}

static bool is_given_up(const struct xd_holder *d)
{
    return d->state == XD_HOLDER_DROPPED && !d->is_banned;
}

static void take_back(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    d->state = d->slot == XD_NO_SLOT ? XD_HOLDER_RESERVE : XD_HOLDER_OPEN;
    d->failures = d->overtaken = 0;
    d->forgiven_to = d->excused_to = s->n_begun;
    xd_rangeset_fini(&s->hopeless);
    xd_core_forget_searches(s);
    XD_TELL(s, readiness, depot);
}

/* Depots were given up since others held the same.  If these do not, or were
 * proved wrong, those who only failed are asked again: they may have been
 * silent since others filled their line. */
void xd_core_reconsider(struct xd_sched *s, xd_usec now)
{
    struct xd_book *b = &s->book;
    bool is_needed = false;

    if (s->size_is_unknown || now >= s->heard_at + b->o.patience)
        return;
    for (unsigned i = 0; i < b->n_depots && !is_needed; i++)
        is_needed = is_given_up(&b->depots[i]) && xd_holders_is_needed(b, i);
    for (unsigned i = 0; is_needed && i < b->n_depots; i++)
        if (is_given_up(&b->depots[i]))
            take_back(s, i);
}

void xd_core_no_ranges(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    /* Without a known size everybody is asked for all of it anyway. */
    d->no_ranges = !s->size_is_unknown;
    d->resting = false;
    d->failures = d->overtaken = 0;
    d->forgiven_to = s->n_begun;
    xd_core_forget_searches(s);
    XD_TELL(s, readiness, depot);
}
