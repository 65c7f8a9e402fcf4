/* SPDX-License-Identifier: MIT */
#include "base/line.h"

#include "base/alloc.h"
#include "base/check.h"

/* If all depots are silent for this long, it is not by chance.  A shorter
 * request timeout replaces this value. */
#define MOST_QUIET XD_SECOND

/* If all depots were silent for this long when a new route appears, the
 * connection had broken, so all requests are repeated. */
#define BRIEF_QUIET (300 * XD_MS)

/* When the connection breaks, data on the way still arrives for up to this
 * time, so the requests may fall silent at different times.  If the request
 * timeout is short, at most a quarter of the timeout is allowed, so that depots
 * that fail at different times are still distinguished. */
#define MOST_SLACK (300 * XD_MS)
#define SLACK_PART 4

/* Limits of the pause between attempts during an outage.  Between them, the
 * pause is three times the shortest time to first byte: once each for
 * connecting, TLS and the response.  The end of an outage is noticed at most
 * one pause late. */
#define LEAST_ROUND (1500 * XD_MS)
#define MOST_ROUND (6 * XD_SECOND)

/* Requests of one attempt may start within this time.  If it were longer,
 * requests that fail at once would be repeated at every depot in reserve. */
#define ASKING (300 * XD_MS)

/* Pause before a depot is tried again: long enough that each attempt tries it
 * only once. */
#define RETRY ASKING

/* How long all depots may be unreachable at the start.  This is shorter than
 * for depots that have answered before, because depots that never answered may
 * not exist. */
#define FIRST_PATIENCE (30 * XD_SECOND)

/* How many times to check for doubt in each quiet period (MOST_QUIET).  Once
 * would not be enough, because depots do not all fall silent at the same
 * moment. */
#define DOUBTS 4

struct request {
    bool is_live;
    bool is_to_stop;
    bool has_bytes;
    unsigned depot;
    xd_usec began;
    xd_usec last; /* when it started, or last received bytes */
};

struct xd_line {
    struct request *requests;
    unsigned n;
    xd_usec quiet, slack, patience;
    xd_usec began_at; /* start of the first request; XD_NEVER: none yet */
    /* time of the last answer of any depot; XD_NEVER: none yet */
    xd_usec last_byte_at;
    xd_usec looked_at;     /* time of the last check for an outage */
    xd_usec fastest;       /* shortest time to first byte; XD_NEVER: none yet */
    unsigned failed_depot; /* the last depot that failed without an answer */
    xd_usec failed_at;     /* time of that failure; 0: never */
    bool has_flowed;       /* true once bytes were received */
    bool is_down;
    /* during an outage: time of the last and of the next attempt */
    xd_usec asked_at, ask_at;
    unsigned n_outages;
};

static xd_usec at_most(xd_usec t, xd_usec most)
{
    return t < most ? t : most;
}

struct xd_line *xd_line_new(unsigned n_fetches, xd_usec silence,
                            xd_usec patience)
{
    struct xd_line *l = xd_alloc(1, sizeof *l);

    if (l == NULL)
        return NULL;
    l->requests = xd_alloc(n_fetches, sizeof *l->requests);
    if (l->requests == NULL) {
        xd_free(l);
        return NULL;
    }
    l->n = n_fetches;
    l->slack = at_most(silence / SLACK_PART, MOST_SLACK);
    l->quiet = at_most(silence - l->slack, MOST_QUIET);
    l->patience = patience;
    l->began_at = l->last_byte_at = l->fastest = XD_NEVER;
    return l;
}

void xd_line_free(struct xd_line *l)
{
    if (l == NULL)
        return;
    xd_free(l->requests);
    xd_free(l);
}

static struct request *request_of(struct xd_line *l, unsigned fetch)
{
    XD_ASSERT(fetch < l->n);
    return &l->requests[fetch];
}

void xd_line_begun(struct xd_line *l, unsigned fetch, unsigned depot,
                   xd_usec now)
{
    *request_of(l, fetch) = (struct request){
        .is_live = true, .depot = depot, .began = now, .last = now};
    if (l->began_at == XD_NEVER)
        l->began_at = now;
}

static void note_answer(struct xd_line *l, xd_usec now)
{
    l->last_byte_at = now;
    l->is_down = false;
}

void xd_line_answered(struct xd_line *l, xd_usec now)
{
    note_answer(l, now);
}

void xd_line_received(struct xd_line *l, unsigned fetch, xd_usec now)
{
    struct request *r = request_of(l, fetch);

    if (!r->has_bytes && now - r->began < l->fastest)
        l->fastest = now - r->began;
    r->has_bytes = l->has_flowed = true;
    r->last = now;
    note_answer(l, now);
}

void xd_line_held(struct xd_line *l, unsigned fetch, xd_usec now)
{
    request_of(l, fetch)->is_live = false;
    note_answer(l, now);
}

void xd_line_released(struct xd_line *l, unsigned fetch, xd_usec now)
{
    struct request *r = request_of(l, fetch);

    r->is_live = true;
    r->last = now;
}

void xd_line_ended(struct xd_line *l, unsigned fetch)
{
    request_of(l, fetch)->is_live = false;
}

static xd_usec round_time(const struct xd_line *l)
{
    xd_usec t = l->has_flowed ? 3 * at_most(l->fastest, MOST_ROUND) : 0;

    return t < LEAST_ROUND ? LEAST_ROUND : at_most(t, MOST_ROUND);
}

/* Starts an attempt: new requests may start for a short time. */
static void ask(struct xd_line *l, xd_usec now)
{
    l->asked_at = now;
    l->ask_at = now + round_time(l);
}

/* Starts an attempt and stops the requests of the previous one. */
static void ask_again(struct xd_line *l, xd_usec now)
{
    for (unsigned i = 0; i < l->n; i++)
        l->requests[i].is_to_stop =
            l->requests[i].is_live && l->requests[i].last < now;
    ask(l, now);
}

bool xd_line_was_up(const struct xd_line *l)
{
    return l->last_byte_at != XD_NEVER;
}

static void go_down(struct xd_line *l, xd_usec now)
{
    l->is_down = true;
    l->n_outages++;
    if (xd_line_was_up(l))
        ask_again(l, now);
    else
        ask(l, now);
}

/* Returns whether no other depot has answered since this request fell
 * silent. */
static bool all_are_silent(const struct xd_line *l, const struct request *r,
                           xd_usec now)
{
    return now - l->last_byte_at >= l->quiet &&
           l->last_byte_at <= r->last + l->slack;
}

/* Returns whether another depot was silent as well.  A single silent depot may
 * have failed by itself, so others must be tried first. */
static bool another_is_silent(const struct xd_line *l, unsigned depot,
                              xd_usec now)
{
    if (l->failed_at > l->last_byte_at && l->failed_depot != depot)
        return true;
    for (unsigned i = 0; i < l->n; i++) {
        const struct request *r = &l->requests[i];

        if (r->is_live && r->depot != depot && now - r->last >= l->quiet)
            return true;
    }
    return false;
}

static bool is_the_line(const struct xd_line *l, const struct request *r,
                        const struct xd_line_failure *failure, xd_usec now)
{
    if (!xd_line_was_up(l))
        return !failure->is_only && !failure->is_depots_own;
    if (!l->has_flowed)
        return false;
    return l->is_down ||
           (all_are_silent(l, r, now) &&
            (failure->is_only || another_is_silent(l, r->depot, now)));
}

bool xd_line_failed(struct xd_line *l, unsigned fetch,
                    const struct xd_line_failure *failure, xd_usec now,
                    xd_usec *retry_at)
{
    struct request *r = request_of(l, fetch);
    bool is_line;

    r->is_live = false;
    if (!failure->is_unanswered) {
        note_answer(l, now);
        return false;
    }
    is_line = is_the_line(l, r, failure, now);
    if (is_line && !l->is_down)
        go_down(l, now);
    l->failed_depot = r->depot;
    l->failed_at = now;
    *retry_at = now + RETRY;
    return is_line;
}

static bool is_asking(const struct xd_line *l)
{
    for (unsigned i = 0; i < l->n; i++)
        if (l->requests[i].is_live)
            return true;
    return false;
}

void xd_line_changed(struct xd_line *l, xd_usec now)
{
    if (l->is_down)
        ask_again(l, now);
    else if (xd_line_was_up(l) && now - l->last_byte_at >= BRIEF_QUIET &&
             is_asking(l))
        go_down(l, now);
}

bool xd_line_next_stop(struct xd_line *l, xd_usec now, unsigned *fetch)
{
    if (!l->is_down)
        return false;
    if (now >= l->ask_at && !xd_line_was_up(l))
        ask(l, now);
    else if (now >= l->ask_at)
        ask_again(l, now);
    for (unsigned i = 0; i < l->n; i++) {
        struct request *r = &l->requests[i];

        if (!r->is_live || !r->is_to_stop)
            continue;
        r->is_to_stop = false;
        *fetch = i;
        return true;
    }
    return false;
}

xd_usec xd_line_pause(const struct xd_line *l, xd_usec now)
{
    return l->is_down && now >= l->asked_at + ASKING ? l->ask_at : 0;
}

static xd_usec silent_since(const struct xd_line *l)
{
    return xd_line_was_up(l) ? l->last_byte_at : l->began_at;
}

static xd_usec patience(const struct xd_line *l)
{
    return xd_line_was_up(l) ? l->patience
                             : at_most(l->patience, FIRST_PATIENCE);
}

xd_usec xd_line_wake(const struct xd_line *l)
{
    xd_usec since = silent_since(l);

    if (!l->is_down)
        return XD_NEVER;
    return patience(l) < XD_NEVER - since
               ? at_most(l->ask_at, since + patience(l))
               : l->ask_at;
}

bool xd_line_is_down(const struct xd_line *l)
{
    return l->is_down;
}

bool xd_line_is_lost(const struct xd_line *l, xd_usec now, xd_usec *silent)
{
    if (!l->is_down || now - silent_since(l) < patience(l))
        return false;
    *silent = now - silent_since(l);
    return true;
}

static bool some_are_silent(const struct xd_line *l, xd_usec now)
{
    if (l->is_down)
        return true;
    for (unsigned i = 0; i < l->n; i++) {
        const struct request *r = &l->requests[i];

        if (r->is_live && now - r->last >= l->quiet &&
            another_is_silent(l, r->depot, now))
            return true;
    }
    return false;
}

xd_usec xd_line_doubt_at(const struct xd_line *l)
{
    xd_usec quiet_at = l->last_byte_at + l->quiet;
    xd_usec look_at = l->looked_at + l->quiet / DOUBTS;

    if (!l->has_flowed || !(l->is_down || is_asking(l)))
        return XD_NEVER;
    return quiet_at > look_at ? quiet_at : look_at;
}

bool xd_line_is_in_doubt(struct xd_line *l, xd_usec now)
{
    if (now < xd_line_doubt_at(l))
        return false;
    l->looked_at = now;
    return some_are_silent(l, now);
}

unsigned xd_line_outages(const struct xd_line *l)
{
    return l->n_outages;
}
