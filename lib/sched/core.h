/* SPDX-License-Identifier: MIT */
/*
 * What the files of the scheduler share: each calls only those that stand before
 * it here, and after them come next.c (decisions) and sched.c (life and events).
 *
 *     lane l of slot s  =  fetch s * lanes_per_depot + l
 *
 * A lane is busy until its fetch's end event, and a slot changes hands only
 * when nothing runs there; so the number of a fetch is that of its lane.
 */
#ifndef XD_SCHED_CORE_H
#define XD_SCHED_CORE_H

#include "sched/policy.h"

struct xd_fetch_state {
    bool is_live;
    bool is_chosen;   /* by the policy, to which its end is reported */
    bool is_loser;    /* others have delivered the rest of it */
    bool is_outside;  /* no window held the rest of it when one moved last */
    bool is_canceled; /* it was canceled */
    bool is_stopgap;  /* of a depot without ranges, until another proves that it
                         can deliver the bytes: others are asked for them too */
    unsigned depot;
    bool owns_connection;
    bool is_beside;   /* others of its depot were under way when it began, */
    bool has_company; /* and delivered bytes */
    struct xd_range range;
    uint64_t asked_end; /* it may have been shortened since */
    uint64_t got;       /* all before this is here */
    uint64_t number;    /* of all that were ever begun */
    xd_usec began_at;
};

/* The objects that may be begun, and are not done with; a depot that joins may
 * cut them, and they are what they were. */
struct xd_horizon {
    struct xd_range *begun; /* NULL: all objects may be */
    unsigned n;
};

struct xd_sched {
    struct xd_book book;
    struct xd_fetch_state *fetches;
    uint64_t *cuts;
    void *policy;
    bool size_is_unknown;
    struct xd_rangeset covered[XD_TIERS]; /* tiers.c */
    bool is_out_of_memory;                /* the next event reports it */
    unsigned windows_capacity;
    struct xd_horizon horizon;
    struct xd_rangeset
        unavailable;     /* no depot can deliver it; this was reported */
    uint64_t added_from; /* where what is wanted begins that was added last;
                                 0: nothing was */
    struct xd_rangeset asked; /* for by any fetch, ever */
    uint64_t n_begun;         /* fetches, ever */
    xd_usec wake_at;          /* when the next back-off ends, or XD_NEVER */
    xd_usec last_byte_at; /* when a byte came last, or the first fetch began;
                         XD_NEVER before that */
    unsigned visits;
    uint64_t steps;       /* depots that were looked at, ever */
    unsigned n_pings;     /* on their way */
    uint64_t n_refused;   /* pings, ever */
    bool needs_pings;     /* a depot was to be opened, and none was near */
    unsigned n_unseen;    /* depots that were opened without a ping, ever */
    unsigned most_unseen; /* that may be */
    bool pings_first;     /* others are pinged at once */

    /* What need not be looked at again, until
     * xd_core_forget_searches(). */
    bool all_have_holders; /* every missing byte that counts has a depot */
    uint64_t covered_to;   /* without readers: every missing byte before this
                              has an open depot, or none to open; also
                              forgotten with each PARK, without which no slot
                              becomes free */
};

/* What of `r` lies in `to`; it may be empty with its ends the wrong way. */
static inline struct xd_range xd_core_clip(struct xd_range r,
                                           struct xd_range to)
{
    r.begin = r.begin > to.begin ? r.begin : to.begin;
    r.end = r.end < to.end ? r.end : to.end;
    return r;
}

/* ---- assign.c ---- */

/* Room for what a round of decisions assigns and offers.  0 or NOMEM. */
int xd_core_make_room(struct xd_sched *s);

/* A request for r begins; others may be asked for what a stopgap is to
 * deliver. */
void xd_core_assign(struct xd_sched *s, unsigned fetch, struct xd_range r,
                    bool is_stopgap);

/* A request is over; bytes that were here are missing again.  What is missing
 * is assigned to the requests that run, or to none.  0 or NOMEM. */
int xd_core_unassign(struct xd_sched *s, unsigned fetch);
int xd_core_release(struct xd_sched *s, struct xd_range r);

/* ---- windows.c ---- */

/* The first window; what DEMAND says of one; 0 or NOMEM. */
int xd_core_make_window(struct xd_sched *s);
int xd_core_demand(struct xd_sched *s, const struct xd_sched_event *ev);

/* Put the most urgent window first. */
void xd_core_rank_windows(struct xd_sched *s);

/* Whether a fetch is to be canceled for what readers want, or since depots that
 * have proved themselves can deliver the same.  Ask when that is decided: each
 * event may change it. */
bool xd_core_is_unwanted(const struct xd_sched *s,
                         const struct xd_fetch_state *f);

/* ---- horizon.c ---- */

/* The only window ends where no more objects may be begun: 0 or NOMEM.  It moves
 * on if that is for what has become of `r`. */
int xd_core_make_horizon(struct xd_sched *s);
void xd_core_move_horizon(struct xd_sched *s, struct xd_range r);

/* The same when more is wanted.  False: there is no horizon. */
bool xd_core_extend_horizon(struct xd_sched *s);

/* ---- places.c ---- */

/* Where a depot stands has changed: it goes into the sets and lists of depots,
 * or out of them. */
void xd_core_place(struct xd_sched *s, unsigned depot);

/* ---- searches.c ---- */

/* Something became missing, or a depot less useful: search from the start. */
void xd_core_forget_searches(struct xd_sched *s);

/* Whether the depot holds a missing byte; the first in the set that does, or
 * n_depots. */
bool xd_core_has_work(struct xd_sched *s, unsigned depot);
unsigned xd_core_find_worker(struct xd_sched *s,
                             const struct xd_depot_set *set);

/* ---- tiers.c ---- */

/* Those that return an int give 0 or NOMEM; what depots hold has changed when
 * report() says so to the policy. */

/* A depot of the layout has `r` in that tier; fill() makes depots hold what was
 * noted. */
int xd_tiers_note(struct xd_sched *s, unsigned depot, struct xd_range r,
                  unsigned tier);
int xd_tiers_fill(struct xd_sched *s, struct xd_range r);

/* The depot has `r` in that tier; it does not have it; it has it again. */
int xd_tiers_hold(struct xd_sched *s, unsigned depot, struct xd_range r,
                  unsigned tier);
int xd_tiers_lose(struct xd_sched *s, unsigned depot, struct xd_range r);
int xd_tiers_regain(struct xd_sched *s, unsigned depot, struct xd_range r);

/* A depot was dropped; it was taken back, or has delivered something.  Want of
 * memory is noted in the scheduler. */
void xd_tiers_leave(struct xd_sched *s, unsigned depot);
void xd_tiers_return(struct xd_sched *s, unsigned depot);

/* The depot fails, or is silent: others hold what it holds as well, which is
 * reported. */
void xd_tiers_set_aside(struct xd_sched *s, unsigned depot);

/* Set aside depots that are silent; when the next one may be. */
xd_usec xd_tiers_watch(struct xd_sched *s, xd_usec now);

void xd_tiers_report(struct xd_sched *s);

/* A depot that joins where there are tiers. */
int xd_tiers_know(struct xd_sched *s, unsigned depot);
void xd_tiers_fini(struct xd_tiers *t);

/* ---- standing.c ---- */

/* A request has failed, or others had delivered all that it was to before its
 * first byte came: its depot backs off, or is given up.  One that failed on this
 * machine is asked again for as long as patience lasts. */
void xd_core_failed(struct xd_sched *s, const struct xd_fetch_state *f,
                    const struct xd_sched_event *ev);
void xd_core_postponed(struct xd_sched *s, const struct xd_fetch_state *f,
                       const struct xd_sched_event *ev);
void xd_core_preempted(struct xd_sched *s, const struct xd_fetch_state *f,
                       xd_usec now);

/* A ping was refused. */
void xd_core_refused(struct xd_sched *s, unsigned depot, xd_usec now);

/* The first byte of a request has come after this wait. */
void xd_core_flows(struct xd_sched *s, const struct xd_fetch_state *f,
                   xd_usec wait);

/* The depot has delivered a byte: a stopgap gives way to it, and others that
 * hold the same in higher tiers. */
void xd_core_has_delivered(struct xd_sched *s, unsigned depot, xd_usec now);

/* Whether each fetch of the depot that begins from now on has a connection of
 * its own. */
void xd_core_spread(struct xd_holder *d, bool spreads);

/* Fetches of the depot can share a connection: what it refused before it
 * delivered anything was a connection. */
void xd_core_shares(struct xd_holder *d);

/* Whether the depot has refused one more such fetch. */
bool xd_core_is_at_ceiling(const struct xd_holder *d, bool spreads);

/* It is asked for nothing any more. */
void xd_core_drop(struct xd_sched *s, unsigned depot);
void xd_core_ban(struct xd_sched *s, unsigned depot); /* never again */

/* One that was dropped, or even banned, is used again. */
void xd_core_take_back(struct xd_sched *s, unsigned depot);

/* It is asked only for what no other depot that has proved itself holds; as a
 * last resort, for what no other holds that could deliver. */
void xd_core_no_ranges(struct xd_sched *s, unsigned depot, bool is_last_resort);

/* Others can deliver less than was thought: take back those that are needed. */
void xd_core_reconsider(struct xd_sched *s, xd_usec now);

/* End the back-offs that are over, and set wake_at. */
void xd_core_wake(struct xd_sched *s, xd_usec now);

/* ---- pings.c ---- */

/* Whether depots are pinged; what PINGED says of one; whether one is to be
 * pinged now. */
int xd_core_settle_pings(struct xd_sched *s);
void xd_core_pinged(struct xd_sched *s, const struct xd_sched_event *ev);
bool xd_core_try_ping(struct xd_sched *s, struct xd_sched_action *a);

/* Of the depots in reserve that have work the one to be opened now, where
 * `preferred` is the first by order of preference; n_depots: wait for pings. */
unsigned xd_core_choose_reserve(struct xd_sched *s, unsigned preferred);

/* ---- join.c ---- */

/* A depot joins, or holds more.  0 or NOMEM. */
int xd_core_join(struct xd_sched *s, const struct xd_sched_event *ev);

/* More is wanted, behind all else.  0 or NOMEM. */
int xd_core_extend(struct xd_sched *s, struct xd_range more);

/* Without a known size a depot holds all or nothing, also of what lies behind
 * the end that one of them stated. */
struct xd_range xd_core_held_range(const struct xd_sched *s, struct xd_range r);

/* Call a hook of the policy, if it has that. */
#define XD_NOTIFY(s, hook, ...)                                 \
    do {                                                        \
        if ((s)->book.o.policy->hook)                           \
            (s)->book.o.policy->hook((s)->policy, __VA_ARGS__); \
    } while (0)

#endif
