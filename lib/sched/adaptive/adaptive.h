/* SPDX-License-Identifier: MIT */
/*
 * What the files of the adaptive policy share:
 *
 *     told.c       what happened        stock.c    who owes what
 *     forecast.c   of one depot         growth.c   how many may be open
 *                                       connections.c  and how many connections
 *     adaptive.c   chooses: a bulk of bytes, of which only the last matters;
 *     size.c       and how many of them;
 *     hint.c       or what a depot would be asked for;
 *     small.c      round trips, where they are all that matters;
 *     urgent.c     what a reader needs next, and need.c: when
 *     first.c      before it has anything
 *     ends.c       brings the ends of requests together
 *     risen.c      and cuts one where a depot has become faster
 */
#ifndef XD_SCHED_ADAPTIVE_H
#define XD_SCHED_ADAPTIVE_H

#include "sched/adaptive/connections.h"
#include "sched/adaptive/forecast.h"
#include "sched/adaptive/growth.h"
#include "sched/adaptive/surplus.h"
#include "sched/policy.h"

/* A request asks for block_bytes, or, if that is more, for what the depot
 * brings in this time. */
#define XD_REQUEST_S 1.0

/* Seconds that are not worth a request. */
#define XD_LEAST_S 0.02

/* A new connection costs a round trip, and then TCP has to find its speed: all
 * together so many latencies. */
#define XD_NEW_LATENCIES 3

/* What a TCP sends first, before it is heard of; it doubles that each round trip. */
#define XD_FIRST_WINDOW 14480

/* Who has not answered after this is far, and its TCP slow to find its speed. */
#define XD_FAR (20 * XD_MS)

/* What came in a latency of its depot, and in the one before: TCP doubles it
 * while it looks for its speed. */
struct xd_round {
    xd_usec began;
    uint64_t from; /* what is here since then begins there */
    double bytes, before;
};

struct xd_flow {
    bool is_running;
    bool has_begun; /* a byte of it came */
    bool is_canceled;
    bool is_new;          /* it had to connect */
    bool owns_connection; /* which no other request shares */
    bool is_queued;       /* behind others on their connection */
    bool is_broken;       /* its lane has no connection any more */
    bool begins_anew;     /* it was cut so that its lane would */
    unsigned depot;
    struct xd_range range;
    uint64_t asked_end; /* before it was shortened */
    uint64_t got;       /* all before it is here */
    xd_usec asked_at, heard_at;
    struct xd_forecast forecast; /* of itself alone */
    struct xd_round round;
};

/* What is known of a depot besides its forecast. */
struct xd_stock {
    double owed;       /* bytes that it was asked for and has not brought, but
                          for what is overdue */
    bool is_overdue;   /* with some, and has said nothing for as long */
    bool is_offered;   /* some of them were offered to others */
    unsigned n_short;  /* so many requests keep it busy with the objects that
                          come next; 0: they are not short: lanes.c */
    xd_usec heard_at;  /* a byte of it came last, if any did */
    xd_usec far_at;    /* it is far if it has not answered by then */
    uint64_t taken_to; /* it holds none that nobody was asked for before, */
    uint64_t search;   /* if this is that of all */
    struct xd_range hint; /* what it would be asked for next, as far as it was
                             not; or empty */
    unsigned n_running;   /* requests, */
    unsigned n_sharing;   /* of them those that share a connection */
};

struct xd_adaptive {
    uint64_t search; /* what earlier ones passed over counts no more */
    const struct xd_book *book;
    struct xd_flow *flows;         /* one per fetch */
    struct xd_forecast *forecasts; /* one per depot */
    struct xd_stock *depots;       /* likewise */

    struct xd_growth growth;
    struct xd_connections connections;
    struct xd_surplus surplus;
    xd_usec heard_at;   /* a byte of any depot came last */
    double hedged;      /* bytes asked for twice, to be done sooner */
    double wasted;      /* that were on the wire behind a new end */
    double most_hedged; /* of each */
    double rushed;      /* asked for twice since a reader waits for them */
    double brought;     /* bytes, by all depots */
    xd_usec began_at;   /* the first request */
    bool is_far;        /* no depot has answered for long after that */

    /* A small file was asked for of one depot, by this fetch, which is late
     * without a byte, or the last one, by then. */
    unsigned trusted;
    xd_usec first_due, all_due;

    /* Set by xd_take_stock(). */
    xd_usec now;
    double unasked, overdue; /* bytes */
    double rate;             /* of all depots together */
    double time_left;        /* seconds until all is here, if all goes well */
    unsigned n_open, n_well; /* depots; of them those that are not overdue */
    unsigned soonest;        /* of them that are known and keep what they owe,
                                the first to be done; or n_depots */
    xd_usec wake_at;         /* when a request becomes overdue, or its depot is
                                seen to be far */

    double best_rate; /* of one of them, and of another: */
    xd_usec best_latency;

    bool late_is_known;
    unsigned *late; /* requests that others may hasten */
    unsigned n_late;

    unsigned risen; /* the depot that has become faster just now; or n_depots */

    unsigned visits; /* what was looked at since look() */
};

/* Whether its requests share one connection. */
static inline bool xd_shares(const struct xd_adaptive *p, unsigned depot)
{
    return p->book->depots[depot].shares &&
           !xd_connections_spread(&p->connections, depot);
}

/* Whether the request shares its connection with others: one that has its own goes
 * on beside those that do. */
static inline bool xd_flow_shares(const struct xd_adaptive *p,
                                  const struct xd_flow *f)
{
    return xd_shares(p, f->depot) && !f->owns_connection;
}

/* A lane that was cut has lost its connection, unless that is shared. */
static inline bool xd_has_to_connect(const struct xd_adaptive *p,
                                     unsigned fetch, unsigned depot)
{
    return p->flows[fetch].is_broken && !xd_shares(p, depot);
}

/* Whether the client's line is so slow that what others are asked for besides
 * only stands in its queue. */
static inline bool xd_line_is_slow(const struct xd_adaptive *p)
{
    return p->surplus.stage != XD_SURPLUS_NEEDED &&
           xd_bottleneck_is_slow(&p->book->bottleneck, p->now);
}

/* Leaves no single byte behind the new end. */
static inline void xd_shorten(struct xd_range *r, double size)
{
    if ((double)xd_range_length(*r) > size + 1)
        r->end = r->begin + (uint64_t)size;
}

static inline double xd_flow_left(const struct xd_flow *f)
{
    return f->got < f->range.end ? (double)(f->range.end - f->got) : 0;
}

/* What of that is likely to come: an object of unknown size is as long as those before
 * it, and not as its place. */
double xd_flow_owes(const struct xd_adaptive *p, const struct xd_flow *f);

/* Of these, what is assigned to it; the rest others may have been asked for. */
static inline struct xd_range xd_flow_assigned(const struct xd_adaptive *p,
                                               const struct xd_flow *f)
{
    return (struct xd_range){f->got, p->book->assigned[f - p->flows].end};
}

static inline double xd_flow_kept(const struct xd_adaptive *p,
                                  const struct xd_flow *f)
{
    struct xd_range r = xd_flow_assigned(p, f);

    return r.begin < r.end ? (double)(r.end - r.begin) : 0;
}

static inline bool xd_flow_is_offered(const struct xd_adaptive *p,
                                      const struct xd_flow *f)
{
    return p->book->assigned[f - p->flows].end < f->range.end;
}

/* told.c: the policy's, and: */

void xd_adaptive_heard(void *policy, unsigned fetch, uint64_t to, xd_usec now);
void xd_adaptive_canceled(void *policy, unsigned fetch);
int xd_adaptive_ended(void *policy, unsigned fetch, bool failed);
int xd_adaptive_missing(void *policy, struct xd_range r);
void xd_adaptive_lost(void *policy, unsigned depot);

/* lanes.c */

/* Decide how many connections each depot may use. */
void xd_decide_connections(struct xd_adaptive *p);

/* Whether a lane of the depot may be asked for something, as far as the number
 * of its connections goes. */
bool xd_lane_is_allowed(const struct xd_adaptive *p, unsigned fetch,
                        unsigned depot);

/* Whether the next request of the depot is made to see how it answers. */
bool xd_lane_is_probe(const struct xd_adaptive *p, unsigned depot);

/* Whether its connections are what bounds a depot: then each brings the same,
 * however many there are, and has to be kept busy for itself. */
bool xd_connections_bound(const struct xd_adaptive *p, unsigned depot);

/* Likewise, and one more than it has can be opened. */
bool xd_has_free_connection(const struct xd_adaptive *p, unsigned depot);

/* How many connections of the depot have requests under way; where all share one,
 * how many requests there are. */
unsigned xd_lanes_in_use(const struct xd_adaptive *p, unsigned depot);

/* What one connection of the depot brings, by the depot's forecast; where they
 * do not bound it, all that the depot brings. */
double xd_rate_of_lane(const struct xd_adaptive *p, unsigned depot);

/* stock.c */

/*
 * Look at all requests, and say when everything will be here if everybody
 * brings as much as he can.  What is overdue counts as if nobody had it.
 * Once for each decision: it takes as long as there are requests and depots.
 */
void xd_take_stock(struct xd_adaptive *p, xd_usec now);

/* Whether short objects are to be begun, but not yet: soon there is something to
 * ask for that nobody was asked for. */
bool xd_waits_for_objects(const struct xd_adaptive *p);

/* When a request said something last, or was made; on a connection that is
 * shared, any other of its depot. */
xd_usec xd_flow_heard_at(const struct xd_adaptive *p, const struct xd_flow *f);

/* Whether no byte of any depot has come for so long that none can stand in the
 * queue of the client's line. */
bool xd_line_is_silent(const struct xd_adaptive *p);

/* For how long a depot that is well may say nothing: where others bring bytes
 * over a slow line it may wait behind them. */
xd_usec xd_patience(const struct xd_adaptive *p, unsigned depot);

/* When a request that goes on saying nothing has owed us too long. */
xd_usec xd_flow_overdue_at(const struct xd_adaptive *p,
                           const struct xd_flow *f);

/* The least that is worth a request: below its latency, a depot would idle more
 * than it brings. */
double xd_least_worth(const struct xd_adaptive *p, double rate, double latency);

/* How long a depot of known rate needs for what it owes and so many bytes. */
double xd_time_to_bring(const struct xd_adaptive *p, unsigned depot,
                        double bytes);

/* Whether another depot that is known and well, and has not let others be asked
 * for what it owes, would bring these bytes within so many seconds. */
bool xd_others_bring(struct xd_adaptive *p, unsigned depot, struct xd_range r,
                     double within);

/* Others may be asked for what has not arrived of these bytes, from `r.begin` on
 * all that is assigned to the request.  0 or NOMEM. */
int xd_offer(struct xd_adaptive *p, const struct xd_flow *f, struct xd_range r);

/* Search from the start for what nobody was asked for. */
void xd_search_anew(struct xd_adaptive *p);

/* adaptive.c */

/* The first bytes of the window, from `from` on, that the depot holds and
 * nobody was asked for. */
bool xd_find_unasked(struct xd_adaptive *p, unsigned depot, uint64_t from,
                     struct xd_range *out);

/* size.c */

/* What the first request to a depot that is not known asks for. */
double xd_first_size(const struct xd_adaptive *p);

/* Whether so much is wanted that the first requests to each depot are made over
 * more than one connection. */
bool xd_opens_both(const struct xd_adaptive *p);

/* The most that one request asks a depot for. */
double xd_most_of(const struct xd_adaptive *p, unsigned depot);

/* For book->window: the most that a request asks a depot for, and that it owes
 * when the next is made, where what was asked for cannot be taken back; or
 * HUGE_VAL. */
double xd_supply(const struct xd_adaptive *p, unsigned depot);

/* How much to ask a depot for of these bytes; 0: it owes as much as it can
 * bring. */
double xd_request_size(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                       struct xd_range r);

/* need.c */

/* Whether a reader needs it, sooner or later. */
bool xd_window_is_urgent(const struct xd_book *b, const struct xd_window *w);

/* Whether there is a player that tells where its picture is. */
bool xd_is_played(const struct xd_window *w);

/* How many seconds late the last byte of the file is going to be shown if all
 * depots bring as much as they can, or go on as they did so far if that is
 * more; 0 where nothing is played. */
double xd_lateness(const struct xd_adaptive *p, const struct xd_window *w);

/* As far as the bytes of the window are good. */
uint64_t xd_good_to(const struct xd_adaptive *p, const struct xd_window *w);

/* Whether the picture has yet to begin, here or where its viewer jumped to: there
 * may be pieces, of which none is good before all of it is here. */
bool xd_has_yet_to_begin(const struct xd_adaptive *p,
                         const struct xd_window *w);

/* Seconds until a byte of the window is needed; below 0 it is late.  If the
 * picture has to stand still anyway it may do so now, unless it has yet to
 * begin. */
double xd_needed_in(const struct xd_adaptive *p, const struct xd_window *w,
                    uint64_t byte);

/* Whether its player has enough ahead of it. */
bool xd_has_time(const struct xd_adaptive *p, const struct xd_window *w);

/* Whether there is a player that has enough ahead of it: then the end of a window
 * is not the end of the file, and nobody waits for it. */
bool xd_player_has_time(const struct xd_adaptive *p);

/* Whether there is one that has nothing to spare, and bytes are on their way, or
 * the depot can be asked for some: nothing else is begun then that it does not
 * need. */
bool xd_player_waits(const struct xd_adaptive *p, unsigned depot);

/* Of book->window: whether it matters that bytes before this one come before it;
 * if not, the picture has to stand still whatever is done, and only the end
 * counts. */
bool xd_order_matters(const struct xd_adaptive *p, uint64_t byte);

/* first.c: of book->window */

/* The first block, while some of it has not arrived, if it is worth a hurry; else
 * nothing. */
struct xd_range xd_first_block(const struct xd_adaptive *p);

/* Cut a request so that the first block comes as soon as it can; false: it is
 * not to be made now. */
bool xd_leave_to_first(const struct xd_adaptive *p, unsigned depot,
                       struct xd_range *out);

/* How long until all before `to` is here, of a depot that has never said a word:
 * it is taken to wait as long again as it has, in which its connection and its
 * request each took a round trip. */
double xd_time_for_silent(const struct xd_adaptive *p, const struct xd_flow *f,
                          uint64_t to);

/* urgent.c: of book->window */

/* Whether no other depot can be asked. */
bool xd_is_alone(const struct xd_adaptive *p, unsigned depot);

/* Ask a depot that is alone for what the window lacks, in order and by one
 * connection; false: it was. */
bool xd_choose_alone(struct xd_adaptive *p, unsigned depot,
                     struct xd_range *out);

/* Whether the depot has been asked for the first byte that the window lacks. */
bool xd_brings_head(const struct xd_adaptive *p, unsigned depot);

/* Make a request of at most so many of these bytes, or of later ones; false:
 * none are for this depot. */
bool xd_fit_urgent(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                   double most, struct xd_range *out);

/* A second request of a depot that has never answered: the first bytes, which
 * another was asked for. */
bool xd_race(const struct xd_adaptive *p, unsigned fetch, unsigned depot,
             struct xd_range *out);

/* What a depot that has enough to do should bring all the same, beside that, for
 * another is late with it and the picture stands still. */
bool xd_rescue(struct xd_adaptive *p, unsigned fetch, unsigned depot,
               struct xd_range *out);

/* Offer what others will be late with to `depot`.  0 or NOMEM. */
int xd_offer_urgent(struct xd_adaptive *p, unsigned depot);

/* How long a depot of known rate needs, with a new connection if its lane has
 * none. */
double xd_time_for_new(const struct xd_adaptive *p, unsigned fetch,
                       unsigned depot, double bytes);

/* hint.c */

/* Make a request that begins where the depot would be asked next; false: it does
 * not say, or the end is near. */
bool xd_choose_hinted(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                      struct xd_range *out);

/* The policy's hinted(). */
void xd_adaptive_hinted(void *policy, unsigned depot, struct xd_range r);

/* small.c */

/* Whether what is wanted is so little that all of it may come twice. */
bool xd_is_small(const struct xd_book *b);

/* Whether a depot may be asked for a part of a small file: it owes nothing, and
 * no other is to be asked before. */
bool xd_may_ask_small(struct xd_adaptive *p, unsigned depot);

/* Make a request for a part of a small file, or for more than is missing of it;
 * false: none is worth it. */
bool xd_choose_small(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                     struct xd_range *out);

/* risen.c */

/* Cut a request of the depot that has become faster just now, if it is worth a
 * new connection: as the policy's shorten(). */
bool xd_begin_anew(struct xd_adaptive *p, unsigned *fetch, uint64_t *end);

/* Likewise one of those that still share a connection, where each is to have
 * its own. */
bool xd_separate(struct xd_adaptive *p, unsigned *fetch, uint64_t *end);

/* ends.c */

/* How long until a request has brought all before `to`.  What has not begun when it should
 * is taken to wait as long again. */
double xd_time_for_flow(const struct xd_adaptive *p, const struct xd_flow *f,
                        uint64_t to);

/* The policy's shorten(). */
bool xd_adaptive_shorten(void *policy, unsigned *fetch, uint64_t *end);

/* Likewise. */
bool xd_adaptive_spares(void *policy, unsigned fetch);

/* Offer all that others are late with, when there is nothing else for `depot`
 * to do.  0 or NOMEM. */
int xd_offer_late(struct xd_adaptive *p, unsigned depot);

#endif
