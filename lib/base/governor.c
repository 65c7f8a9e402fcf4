/* SPDX-License-Identifier: MIT */
#include "base/governor.h"

#define MINUTE (60 * XD_SECOND)

/* Pause after the first of several refusals in a row.  Each further refusal
 * doubles it. */
#define FIRST_PAUSE (XD_SECOND / 2)
#define LONGEST_PAUSE (32 * XD_SECOND)

/* Pause after a request that did not reach the host.  Other requests do not
 * wait for it, because the network may be down. */
#define FIRST_UNREACHED (XD_SECOND / 4)
#define LONGEST_UNREACHED (4 * XD_SECOND)

/* If a request breaks off before it has delivered FEW_BYTES, new requests to
 * the host pause: so few bytes are not worth the cost of a connection.  Each
 * further such request doubles the pause. */
#define FEW_BYTES ((uint64_t)16 << 10)
#define FIRST_BROKEN (XD_SECOND / 10)
#define LONGEST_BROKEN (4 * XD_SECOND)

/* Largest number of open requests without progress at a new host.  If the host
 * refuses all but a few of them, half of XD_GOVERNOR_FIRST is left to find out
 * how many requests it accepts. */
#define FIRST_OPEN 16u

/* Time from a refusal until the governor tries one more open request, or a
 * higher rate.  Each further refusal doubles it. */
#define FIRST_RISE XD_SECOND
#define LONGEST_RISE (2 * MINUTE)

/* Longest interval between the starts of requests, and the interval below which
 * their rate is not limited. */
#define LONGEST_INTERVAL (30 * XD_SECOND)
#define LEAST_INTERVAL (20 * XD_MS)

/* After this time without a wasted request, the host counts as new. */
#define FORGET (10 * MINUTE)

static xd_usec since(xd_usec then, xd_usec now)
{
    return now > then ? now - then : 0;
}

static xd_usec later(xd_usec a, xd_usec b)
{
    return a > b ? a : b;
}

/* Doubles `first` n - 1 times. */
static xd_usec doubled(xd_usec first, unsigned n, xd_usec longest)
{
    for (; n > 1 && first < longest; n--)
        first *= 2;
    return xd_earlier(first, longest);
}

/* Lengthens the pause by a random part, up to half of it (xorshift64). */
static xd_usec jittered(struct xd_governor *g, xd_usec pause)
{
    if (g->seed == 0)
        g->seed = UINT64_C(0x9e3779b97f4a7c15);
    g->seed ^= g->seed << 13;
    g->seed ^= g->seed >> 7;
    g->seed ^= g->seed << 17;
    return pause + (xd_usec)(g->seed % (pause / 2 + 1));
}

/* ---- changes as time passes ---- */

static void forget(struct xd_governor *g)
{
    g->is_in_trouble = false;
    g->n_wasted = g->n_refused = 0;
    g->refusals = g->repeats = g->most_open = 0;
    g->interval = g->rise_pause = 0;
}

static void begin_minute(struct xd_governor *g, xd_usec now)
{
    const xd_usec passed = since(g->minute_from, now);

    if (passed < MINUTE)
        return;
    g->minute_from += passed - passed % MINUTE;
    g->n_wasted = g->n_refused = 0;
    g->most_wasted = XD_GOVERNOR_LATER;
}

static xd_usec pause_to_rise(const struct xd_governor *g)
{
    return g->most_open < g->held_open ? FIRST_RISE : g->rise_pause;
}

/* Raises the limits after a time without a refusal. */
static void rise(struct xd_governor *g, xd_usec now)
{
    if (g->most_open > 0 && now >= g->rise_at) {
        if (++g->most_open > g->refused_open)
            g->most_open = 0;
        g->rise_at = now + pause_to_rise(g);
    }
    if (g->interval > 0 && now >= g->quicken_at) {
        g->quicken_at = now + g->rise_pause;
        g->interval -= g->interval / 4;
        if (g->interval < LEAST_INTERVAL)
            g->interval = 0;
    }
}

static void pass_time(struct xd_governor *g, xd_usec now)
{
    if (!g->is_in_trouble)
        return;
    if (since(g->wasted_at, now) >= FORGET && now >= g->not_before)
        forget(g);
    begin_minute(g, now);
    if (g->refusals == 0)
        rise(g, now);
}

/* ---- before a request ---- */

/* Returns how many more requests may be wasted in this minute.  For repeats all
 * wasted requests count, for other requests only refusals. */
static unsigned left(const struct xd_governor *g, bool is_repeat)
{
    const unsigned n = is_repeat ? g->n_wasted : g->n_refused;

    if (!g->is_in_trouble)
        return XD_GOVERNOR_FIRST;
    return n < g->most_wasted ? g->most_wasted - n : 0;
}

/* Returns the earliest time of the next request.  Ignores the limit on open
 * requests. */
static xd_usec next_start(const struct xd_governor *g, bool is_repeat)
{
    xd_usec at = g->not_before;

    if (g->interval > 0)
        at = later(at, g->begun_at + g->interval);
    if (left(g, is_repeat) == 0)
        at = later(at, g->minute_from + MINUTE);
    return at;
}

struct xd_governor_terms xd_governor_terms(struct xd_governor *g, xd_usec now)
{
    struct xd_governor_terms terms;

    pass_time(g, now);
    terms.not_before = next_start(g, false);
    terms.most_open = g->most_open;
    terms.has_refused =
        g->most_open > 0 || g->interval > 0 ||
        (g->refused_open > 0 && since(g->wasted_at, now) < MINUTE);
    return terms;
}

/* Returns whether too many requests without progress are open: if all of them
 * failed, the allowance would be exceeded. */
static bool is_full(const struct xd_governor *g, bool is_repeat)
{
    const unsigned n = left(g, is_repeat);

    if (!g->is_in_trouble)
        return g->n_unproven >= FIRST_OPEN + g->n_proven;
    if (n == g->most_wasted)
        return g->n_unproven >= n + g->n_proven;
    return n > 0 && g->n_unproven >= n;
}

xd_usec xd_governor_ask(struct xd_governor *g, bool is_repeat, xd_usec now)
{
    pass_time(g, now);
    if (is_full(g, is_repeat) ||
        (g->most_open > 0 && g->n_open >= g->most_open))
        return XD_NEVER;
    return next_start(g, is_repeat);
}

void xd_governor_begin(struct xd_governor *g, struct xd_governed *r,
                       xd_usec now)
{
    *r = (struct xd_governed){.number = g->n_begun++, .is_open = true};
    g->n_open++;
    g->n_unproven++;
    g->begun_at = now;
    if (g->counted_from == 0)
        g->counted_from = now;
}

/* ---- while a request runs ---- */

void xd_governor_accepted(struct xd_governor *g, struct xd_governed *r)
{
    if (!r->is_open || r->is_accepted)
        return;
    r->is_accepted = true;
    g->n_accepted++;
    g->n_counted++;
    g->n_unreached = 0;
    if (g->n_accepted > g->proven_open)
        g->proven_open = g->n_accepted;
    if (g->most_open > 0 && g->n_accepted > g->most_open)
        g->most_open = g->n_accepted;
}

void xd_governor_progress(struct xd_governor *g, struct xd_governed *r)
{
    if (!r->is_open || r->has_progress)
        return;
    xd_governor_accepted(g, r);
    r->has_progress = true;
    g->n_unproven--;
    g->n_proven++;
    if (r->number >= g->noticed_to)
        g->refusals = g->repeats = 0;
}

/* ---- when a request ends ---- */

static void leave(struct xd_governor *g, struct xd_governed *r)
{
    g->n_open--;
    g->n_accepted -= r->is_accepted;
    g->n_unproven -= !r->has_progress;
    r->is_open = false;
}

static void count_wasted(struct xd_governor *g, xd_usec now)
{
    if (!g->is_in_trouble || g->n_proven >= XD_GOVERNOR_SOUND) {
        g->is_in_trouble = true;
        g->n_wasted = g->n_refused = 0;
        g->most_wasted = XD_GOVERNOR_FIRST;
        g->minute_from = now;
    }
    g->n_wasted++;
    g->n_proven = 0;
    g->wasted_at = now;
}

/* Lowers the limits to what the host has accepted.  `n_open` includes the
 * refused request. */
static void fall(struct xd_governor *g, unsigned n_open, xd_usec now)
{
    const bool was_within = n_open <= 1 || n_open <= g->proven_open;
    xd_usec measured;

    if (was_within && g->n_counted > 0) {
        measured = since(g->counted_from, g->not_before) / g->n_counted;
        measured = later(measured, g->interval + g->interval / 4);
        g->interval = xd_earlier(measured, LONGEST_INTERVAL);
    }
    g->most_open = g->n_accepted > 0 ? g->n_accepted : 1;
    g->proven_open = g->n_accepted;
    g->refused_open = n_open > g->held_open ? n_open : g->held_open + 1;
    if (g->refused_open < 2)
        g->refused_open = 2;
    g->rise_pause = g->rise_pause == 0
                        ? FIRST_RISE
                        : xd_earlier(2 * g->rise_pause, LONGEST_RISE);
    g->rise_at = later(now, g->not_before) + pause_to_rise(g);
    g->quicken_at = later(now, g->not_before) + g->rise_pause;
    g->counted_from = g->not_before;
    g->n_counted = 0;
}

/* Returns whether the request began after the last failure of its kind was
 * noticed.  If so, updates `*to`, so that requests that are running now do not
 * count again. */
static bool is_new(const struct xd_governor *g, uint64_t number, uint64_t *to)
{
    if (number < *to)
        return false;
    *to = g->n_begun;
    return true;
}

static void pause(struct xd_governor *g, xd_usec length, xd_usec now)
{
    g->not_before = later(g->not_before, now + length);
}

/* Counts a failed repeat.  Returns the pause before the next repeat. */
static xd_usec repeat(struct xd_governor *g, xd_usec now)
{
    count_wasted(g, now);
    if (now >= g->repeat_not_before)
        g->repeat_not_before =
            now +
            jittered(g, doubled(FIRST_PAUSE, ++g->repeats, LONGEST_PAUSE));
    return since(now, g->repeat_not_before);
}

static void refuse(struct xd_governor *g, const struct xd_governed *r,
                   xd_usec retry_after, xd_usec now)
{
    count_wasted(g, now);
    g->n_refused++;
    if (retry_after > 0) {
        g->asked_until = later(g->asked_until, now + retry_after);
        pause(g, retry_after, now);
    }
    if (!is_new(g, r->number, &g->noticed_to))
        return;
    /* an upload counts as accepted before its response, and this one was not */
    if (r->is_accepted && g->n_counted > 0)
        g->n_counted--;
    if (g->refusals++ == 0)
        g->held_open = g->proven_open;
    pause(g, jittered(g, doubled(FIRST_PAUSE, g->refusals, LONGEST_PAUSE)),
          now);
    fall(g, g->n_open + 1, now);
}

static void break_off(struct xd_governor *g, const struct xd_governed *r,
                      uint64_t bytes, xd_usec now)
{
    if (bytes >= FEW_BYTES) {
        g->n_broken = 0;
        return;
    }
    if (!is_new(g, r->number, &g->broken_to))
        return;
    g->n_broken++;
    pause(g, jittered(g, doubled(FIRST_BROKEN, g->n_broken, LONGEST_BROKEN)),
          now);
}

static xd_usec note_unreached(struct xd_governor *g,
                              const struct xd_governed *r, xd_usec now)
{
    if (since(g->unreached_at, now) >= FORGET)
        g->n_unreached = 0;
    g->unreached_at = now;
    if (is_new(g, r->number, &g->unreached_to))
        g->n_unreached++;
    return doubled(FIRST_UNREACHED, g->n_unreached, LONGEST_UNREACHED);
}

xd_usec xd_governor_end(struct xd_governor *g, struct xd_governed *r,
                        enum xd_governed_end end, uint64_t bytes,
                        xd_usec retry_after, xd_usec now)
{
    if (!r->is_open)
        return 0;
    pass_time(g, now);
    if (end == XD_GOVERNED_SERVED)
        xd_governor_progress(g, r);
    leave(g, r);
    switch (end) {
    case XD_GOVERNED_SERVED:
        g->n_broken = 0;
        return 0;
    case XD_GOVERNED_NEUTRAL:
        return 0;
    case XD_GOVERNED_UNREACHED:
        return note_unreached(g, r, now);
    case XD_GOVERNED_BROKEN:
        break_off(g, r, bytes, now);
        break;
    case XD_GOVERNED_FAILED_AGAIN:
        return repeat(g, now);
    case XD_GOVERNED_REFUSED:
        refuse(g, r, retry_after, now);
        break;
    }
    return since(now, g->not_before);
}

bool xd_governor_is_idle(struct xd_governor *g, xd_usec now)
{
    pass_time(g, now);
    return g->n_open == 0 && !g->is_in_trouble && now >= g->not_before;
}
