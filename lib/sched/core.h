/* SPDX-License-Identifier: MIT */
/*
 * Declarations shared by the source files of the scheduler.  Each file calls
 * only files listed before it here.  next.c (decisions) and sched.c (creation,
 * events) come last.
 *
 *     lane l of slot s  =  fetch s * lanes_per_depot + l
 *
 * A lane is busy until the final event of its fetch, and a slot gets another
 * depot only when nothing runs in it.  So lanes and running fetches share their
 * numbers.
 */
#ifndef XD_SCHED_CORE_H
#define XD_SCHED_CORE_H

#include "sched/policy.h"

struct xd_fetch_state {
    bool is_live;
    bool is_chosen; /* the policy chose it, and is told when it ends */
    bool is_loser;  /* other fetches have delivered the rest of its range */
    /* when a window moved last, none contained the rest of its range */
    bool is_outside;
    bool is_canceled; /* a CANCEL was issued */
    /* Its depot ignores Range, so other depots are asked for the same bytes
     * until one proves that it can deliver them. */
    bool is_stopgap;
    unsigned depot;
    bool owns_connection;
    /* other fetches of its depot were running when it began, */
    bool is_beside;
    bool has_company; /* and were delivering bytes */
    struct xd_range range;
    /* end as first requested; it may have been shortened since */
    uint64_t asked_end;
    uint64_t got;    /* everything before this offset has been received */
    uint64_t number; /* serial number over all fetches */
    xd_usec began_at;
};

/* The objects that may be requested and are not complete, where the number of
 * unfinished objects is limited (most_objects).  A depot that joins later may
 * add cuts, but the objects stay as they were. */
struct xd_horizon {
    struct xd_range *begun; /* NULL: no limit */
    unsigned n;
};

struct xd_sched {
    struct xd_book book;
    struct xd_fetch_state *fetches;
    uint64_t *cuts;
    void *policy;
    bool size_is_unknown;
    struct xd_rangeset covered[XD_TIERS]; /* see tiers.c */
    /* set where an error cannot be returned; the next event reports it */
    bool is_out_of_memory;
    unsigned windows_capacity;
    struct xd_horizon horizon;
    /* no depot can deliver these bytes, and FAIL has named them */
    struct xd_rangeset unavailable;
    /* begin of the range that EXTENDED added last; 0: none */
    uint64_t added_from;
    struct xd_rangeset asked; /* bytes that any fetch has ever requested */
    uint64_t n_begun;         /* fetches started so far */
    xd_usec wake_at;          /* when the next back-off ends, or XD_NEVER */
    /* when the last byte was received, or the first fetch began; XD_NEVER
     * before that */
    xd_usec last_byte_at;
    unsigned visits;
    uint64_t steps;     /* depots examined so far */
    unsigned n_pings;   /* in progress */
    uint64_t n_refused; /* refused pings so far */
    /* a depot should be opened, but no pinged depot has answered */
    bool needs_pings;
    unsigned n_unseen;    /* depots opened so far without a ping */
    unsigned most_unseen; /* limit of n_unseen */
    bool pings_first;     /* ping the others as soon as most_unseen are open */

    /* Results of earlier searches, valid until xd_core_forget_searches(). */
    bool all_have_holders; /* every missing byte that counts has a depot */
    /* Without readers: every missing byte before this offset has an open depot,
     * or none that can be opened.  Each PARK resets it, too, because that frees
     * a slot. */
    uint64_t covered_to;
};

/* Returns the intersection.  If it is empty, begin may exceed end. */
static inline struct xd_range xd_core_clip(struct xd_range r,
                                           struct xd_range to)
{
    r.begin = r.begin > to.begin ? r.begin : to.begin;
    r.end = r.end < to.end ? r.end : to.end;
    return r;
}

/* ---- assign.c ---- */

/* Allocates memory for all assignments of the next round of decisions.  Errors:
 * NOMEM. */
int xd_core_make_room(struct xd_sched *s);

/* Notes that a request for `r` begins.  The bytes of a stopgap stay available
 * to other depots. */
void xd_core_assign(struct xd_sched *s, unsigned fetch, struct xd_range r,
                    bool is_stopgap);

/* unassign() frees the bytes of a request that has ended.  release() does so
 * for bytes that were received and are missing again; they are assigned to
 * running requests for them, if any.  Errors: NOMEM. */
int xd_core_unassign(struct xd_sched *s, unsigned fetch);
int xd_core_release(struct xd_sched *s, struct xd_range r);

/* ---- windows.c ---- */

/* make_window() creates the first window, and demand() handles DEMAND. Errors:
 * NOMEM. */
int xd_core_make_window(struct xd_sched *s);
int xd_core_demand(struct xd_sched *s, const struct xd_sched_event *ev);

/* Sorts the windows by urgency, most urgent first. */
void xd_core_rank_windows(struct xd_sched *s);

/* Returns whether to cancel a fetch, because no reader wants its bytes any
 * more or because proven depots can deliver them.  Each event may change the
 * answer. */
bool xd_core_is_unwanted(const struct xd_sched *s,
                         const struct xd_fetch_state *f);

/* ---- horizon.c ---- */

/* Limits the only window to the objects that may be requested now.
 * move_horizon() advances the limit if the change of `r` has completed an
 * object.  Errors: NOMEM. */
int xd_core_make_horizon(struct xd_sched *s);
void xd_core_move_horizon(struct xd_sched *s, struct xd_range r);

/* Adjusts the limit when more is wanted.  Returns false if there is none. */
bool xd_core_extend_horizon(struct xd_sched *s);

/* ---- places.c ---- */

/* Updates the sets and lists of depots after the state of this depot
 * changed. */
void xd_core_place(struct xd_sched *s, unsigned depot);

/* ---- searches.c ---- */

/* Call this when bytes became missing or a depot became less useful. */
void xd_core_forget_searches(struct xd_sched *s);

/* has_work() returns whether the depot holds a missing byte. find_worker()
 * returns the first depot of the set that does, or n_depots. */
bool xd_core_has_work(struct xd_sched *s, unsigned depot);
unsigned xd_core_find_worker(struct xd_sched *s,
                             const struct xd_depot_set *set);

/* ---- tiers.c ---- */

/* Functions that return int return 0 or NOMEM.  The policy learns of changed
 * holdings by xd_tiers_report(). */

/* note() records that a depot of the layout has `r` in this tier; fill() then
 * computes what each depot holds within `r`. */
int xd_tiers_note(struct xd_sched *s, unsigned depot, struct xd_range r,
                  unsigned tier);
int xd_tiers_fill(struct xd_sched *s, struct xd_range r);

/* The depot has `r` in that tier; does not have it; has it again. */
int xd_tiers_hold(struct xd_sched *s, unsigned depot, struct xd_range r,
                  unsigned tier);
int xd_tiers_lose(struct xd_sched *s, unsigned depot, struct xd_range r);
int xd_tiers_regain(struct xd_sched *s, unsigned depot, struct xd_range r);

/* leave() is for a depot that was dropped, return() for one that is used again
 * or has delivered a byte.  If memory runs out, is_out_of_memory is set. */
void xd_tiers_leave(struct xd_sched *s, unsigned depot);
void xd_tiers_return(struct xd_sched *s, unsigned depot);

/* Lets depots in higher tiers hold the bytes of a failing or silent depot as
 * well, and reports it. */
void xd_tiers_set_aside(struct xd_sched *s, unsigned depot);

/* Sets aside the depots that are silent.  Returns when the next depot may
 * be. */
xd_usec xd_tiers_watch(struct xd_sched *s, xd_usec now);

void xd_tiers_report(struct xd_sched *s);

/* Prepares a depot that joins a download with tiers. */
int xd_tiers_know(struct xd_sched *s, unsigned depot);
void xd_tiers_fini(struct xd_tiers *t);

/* ---- standing.c ---- */

/* Handle a request that failed (failed), that failed on this machine
 * (postponed: retried while patience lasts), or whose bytes others delivered
 * before its first byte (preempted).  The depot rests or is given up. */
void xd_core_failed(struct xd_sched *s, const struct xd_fetch_state *f,
                    const struct xd_sched_event *ev);
void xd_core_postponed(struct xd_sched *s, const struct xd_fetch_state *f,
                       const struct xd_sched_event *ev);
void xd_core_preempted(struct xd_sched *s, const struct xd_fetch_state *f,
                       xd_usec now);

/* Handles GOVERNED. */
void xd_core_governed(struct xd_sched *s, const struct xd_sched_event *ev);

/* Handles a refused ping. */
void xd_core_refused(struct xd_sched *s, unsigned depot, xd_usec now,
                     xd_usec retry_at);

/* Handles the first byte of a request, which came after `wait`. */
void xd_core_flows(struct xd_sched *s, const struct xd_fetch_state *f,
                   xd_usec wait);

/* Handles a byte from the depot: a stopgap and depots in higher tiers are no
 * longer needed for what this depot holds. */
void xd_core_has_delivered(struct xd_sched *s, unsigned depot, xd_usec now);

/* Sets whether fetches of the depot that begin from now on get their own
 * connection. */
void xd_core_spread(struct xd_holder *d, bool spreads);

/* Fetches of the depot can share a connection.  So whatever it refused before
 * its first byte was a connection, not a request. */
void xd_core_shares(struct xd_holder *d);

/* Returns whether the depot has refused one more such fetch. */
bool xd_core_is_at_ceiling(const struct xd_holder *d, bool spreads);

/* drop() stops using a depot.  It may be taken back later unless it is
 * banned. */
void xd_core_drop(struct xd_sched *s, unsigned depot);
void xd_core_ban(struct xd_sched *s, unsigned depot);

/* Uses a dropped or banned depot again. */
void xd_core_take_back(struct xd_sched *s, unsigned depot);

/* The depot ignores Range.  It is only asked for bytes that no other proven
 * depot holds; as a last resort, for bytes that no other depot could
 * deliver. */
void xd_core_no_ranges(struct xd_sched *s, unsigned depot, bool is_last_resort);

/* Call this when other depots can deliver less than expected.  Takes back
 * dropped depots that are needed. */
void xd_core_reconsider(struct xd_sched *s, xd_usec now);

/* Ends expired back-offs and sets wake_at. */
void xd_core_wake(struct xd_sched *s, xd_usec now);

/* ---- pings.c ---- */

/* settle_pings() decides whether depots are pinged at all.  pinged() handles
 * PINGED.  try_ping() returns true if a depot should be pinged now. */
int xd_core_settle_pings(struct xd_sched *s);
void xd_core_pinged(struct xd_sched *s, const struct xd_sched_event *ev);
bool xd_core_try_ping(struct xd_sched *s, struct xd_sched_action *a);

/* Returns which of the depots in reserve with work to open now; `preferred` is
 * the first by preference.  n_depots: wait for pings. */
unsigned xd_core_choose_reserve(struct xd_sched *s, unsigned preferred);

/* ---- join.c ---- */

/* Handles JOINED.  Errors: NOMEM. */
int xd_core_join(struct xd_sched *s, const struct xd_sched_event *ev);

/* Handles EXTENDED.  Errors: NOMEM. */
int xd_core_extend(struct xd_sched *s, struct xd_range more);

/* While the size is unknown, a depot holds everything or nothing, including
 * bytes beyond the size that one depot stated. */
struct xd_range xd_core_held_range(const struct xd_sched *s, struct xd_range r);

/* Calls a hook of the policy if it is not NULL. */
#define XD_NOTIFY(s, hook, ...)                                 \
    do {                                                        \
        if ((s)->book.o.policy->hook)                           \
            (s)->book.o.policy->hook((s)->policy, __VA_ARGS__); \
    } while (0)

#endif
