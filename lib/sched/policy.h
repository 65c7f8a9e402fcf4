/* SPDX-License-Identifier: MIT */
/*
 * A policy chooses the bytes that a lane requests next.
 *
 *     sched.c --- choose, ended, arrived, missing, opened ... ---> policy
 *     policy  --- reads ---> the book (depots, received bytes, windows)
 *
 * sched.c and holders.c handle everything that all policies need: depots,
 * lanes, fetches, duplicates and the end.  Only choose() is left to a policy.
 * A new policy is one file with one table, listed in policy.c.
 *
 * sched.c maintains the book; policies only read it.
 */
#ifndef XD_SCHED_POLICY_H
#define XD_SCHED_POLICY_H

#include <limits.h>

#include "base/array.h"
#include "ledger/ledger.h"
#include "sched/bottleneck.h"
#include "sched/depot_set.h"
#include "sched/sched.h"

#define XD_NO_SLOT UINT_MAX

enum xd_holder_state {
    XD_HOLDER_RESERVE, /* unused, without a thread */
    XD_HOLDER_OPEN,    /* in use: has a slot */
    /* Not used again unless no other depot is left (sched.c).  Keeps its slot
     * until it is parked. */
    XD_HOLDER_DROPPED
};

/* What pings have shown of the distance to a depot. */
enum xd_nearness {
    XD_NOT_PINGED,
    XD_IS_PINGED, /* a ping is in progress */
    XD_IS_NEAR,   /* it answered after round_trip */
    XD_IS_SILENT, /* it did not answer */
    XD_CANNOT_BE_PINGED
};

/* What a depot has, in a download with tiers. */
struct xd_tiers {
    /* wanted bytes that it has, in any tier */
    struct xd_rangeset has;
    /* the tier of each byte, including bytes that it does not have */
    struct xd_rangeset in[XD_TIERS];
    /* its holdings have changed and the policy was not told */
    bool is_changed;
};

/* The state of a depot. */
struct xd_holder {
    /* Wanted bytes that it may be asked for.  With tiers only those that no
     * usable depot has in a lower tier; none once it was dropped. */
    struct xd_rangeset held;
    struct xd_tiers *tiers; /* NULL: no tiers */
    /* depots in higher tiers hold its bytes as well */
    bool is_aside;
    /* when it last delivered a byte or answered a ping */
    xd_usec answered_at;
    /* when it was asked while idle, not counting requests that follow others
     * which were canceled before their first byte */
    xd_usec asked_since;
    unsigned max_lanes; /* 0: lanes_per_depot */
    struct xd_guess guess;
    enum xd_holder_state state;
    unsigned slot;  /* or XD_NO_SLOT */
    bool is_banned; /* dropped for the rest of the run */
    /* It ignores Range: sched.c gives it work, and choose() is not called for
     * it. */
    bool no_ranges;
    bool is_last_resort; /* ignores Range, and its bytes may be wrong */
    bool has_connected;  /* a connection to it has been made before */
    bool has_delivered;  /* it has delivered a byte before */
    bool shares;         /* its fetches can share a connection, */
    bool spreads;        /* but the last one got its own */
    /* it failed, and gets no work before back_off_until */
    bool is_backing_off;
    xd_usec back_off_until; /* valid while is_backing_off */
    /* fetches with serial numbers below this began before its last failure, so
     * their failures do not count again */
    uint64_t forgiven_to;
    unsigned failures; /* consecutive */
    /* consecutive fetches that were canceled before their first byte */
    unsigned preempted;
    /* fetches with serial numbers below this began before it was preempted
     * last, and do not count again */
    uint64_t excused_to;
    unsigned running; /* fetches, including those being canceled */
    unsigned flowing; /* running fetches that have received a byte, */
    /* and of these the ones that can share a connection */
    unsigned sharing;
    /* highest number so far; while it spreads, of connections */
    unsigned most_flowing;
    /* limit of fetches at a time, because it refused more; 0: it did not */
    unsigned ceiling;
    /* The fetches with serial numbers below this include the last ones that it
     * refused, at least and at most this long after they began: */
    uint64_t refused_to;
    xd_usec refused_least, refused_most;
    /* fetches at a time that it has served, as far as they deliver bytes */
    unsigned served;
    /* fetches at a time that its host allows; 0: no limit */
    unsigned governed;
    /* use few and long requests, because it may refuse any of them */
    bool is_spared;
    /* the ceiling counts fetches with their own connections */
    bool ceiling_spreads;
    bool ceiling_is_known; /* the ceiling comes from an earlier download */
    /* it holds no missing byte before this offset (holders.c), */
    uint64_t idle_to;
    uint64_t idle_search; /* as of this search of the book */
    /* 1-based position in the heap `backing_off`; 0: not in it */
    unsigned place;
    enum xd_nearness nearness;
    xd_usec round_trip; /* valid while XD_IS_NEAR */
    bool is_listed;     /* is in the book's `near` */
};

/* What a reader wants.  Without readers, the only window is all that is
 * wanted. */
struct xd_window {
    unsigned reader;
    struct xd_range range;
    xd_usec due; /* when its first byte is needed; XD_NEVER: no deadline */
    /* rate at which the other bytes are needed; 0: all at once */
    uint64_t bytes_per_s;
    uint64_t jumped_to; /* where the reader started; it has advanced since */
};

struct xd_book {
    /* Constant after new(). */
    struct xd_sched_options o; /* in force */

    /* These change when a depot joins. */
    const uint64_t *cuts; /* ascending, inside `wanted` */
    size_t n_cuts;
    unsigned n_depots;
    unsigned n_slots;   /* limit of depots in use at a time */
    unsigned n_fetches; /* fetch numbers are below this */

    /* bytes per second that all depots together may deliver; 0: no limit */
    uint64_t limit_rate;
    struct xd_range wanted;
    struct xd_holder *depots;   /* by preference */
    struct xd_depot_set usable; /* not dropped */
    /* in reserve and not backing off: without a failed request, and with one */
    struct xd_depot_set fresh, tried;
    /* subsets of these that must be pinged before they are opened */
    struct xd_depot_set unseen, unseen_tried;
    /* support ranges, have delivered a byte, and are not dropped */
    struct xd_depot_set proven;
    struct xd_depot_set without_ranges; /* ignore Range, and are not dropped */
    bool has_pings;                     /* constant: some depots are pinged */
    bool has_tiers;
    unsigned *near; /* fresh depots that answered a ping, nearest first */
    unsigned n_near;
    unsigned *backing_off; /* heap with the first to wake at its root */
    unsigned n_backing_off;
    unsigned n_given_up; /* dropped, but not banned */
    /* increased when results of earlier searches become invalid */
    uint64_t search;
    uint64_t *steps; /* depots examined so far (tests) */
    unsigned *slots; /* the depot in each slot, or n_depots */
    /* the state of each byte; assign.c explains which bytes are assigned */
    struct xd_ledger *ledger;
    /* of each request; the rest of its range belongs to others or was offered
     * to them */
    struct xd_range *assigned;
    struct xd_window *windows; /* most urgent first */
    unsigned n_windows;
    const struct xd_window *window;  /* the one that choose() must serve */
    struct xd_bottleneck bottleneck; /* of what all depots delivered */
    struct xd_rangeset unsized;      /* the places of objects of unknown size */
    unsigned n_sized; /* objects of unknown size whose size is now known */
    double mean_size; /* mean size of the last of them, in bytes */
};

/* Returns the bytes that the depot could be asked for if other depots could not
 * deliver. */
static inline const struct xd_rangeset *xd_holder_has(const struct xd_holder *d)
{
    return d->tiers ? &d->tiers->has : &d->held;
}

/* Returns the part of the range before the first cut in it. */
static inline struct xd_range xd_book_cut(const struct xd_book *b,
                                          struct xd_range r)
{
    size_t next =
        xd_count_up_to(r.begin, b->cuts, b->n_cuts, sizeof *b->cuts, 0);

    if (next < b->n_cuts && b->cuts[next] < r.end)
        r.end = b->cuts[next];
    return r;
}

/* Lets other requests also ask for `r`, which begins inside the assignment of
 * this request.  The request keeps the bytes before `r`.  Each request can have
 * one such offer.  Errors: NOMEM.  In assign.c. */
int xd_book_offer(const struct xd_book *b, unsigned fetch, struct xd_range r);

/* Returns whether choose() may be called for this depot now. */
static inline bool xd_holder_is_ready(const struct xd_holder *d)
{
    return d->state == XD_HOLDER_OPEN && !d->is_backing_off && !d->no_ranges;
}

struct xd_policy {
    const char *name;

    /* Overrides options that users cannot choose for this policy. */
    void (*settle)(struct xd_sched_options *o);

    /* `book` outlives the policy.  Returns NULL when out of memory. */
    void *(*new)(const struct xd_book *book);
    void (*free)(void *p);

    /*
     * Chooses the next range for a free lane of `depot`, which is ready, in the
     * window book->window.  Returns false if there is nothing; it is then
     * called for the next window.
     *
     * Returns true if `fetch` has begun, for the bytes *out.  They must lie
     * inside the window, between two neighboring cuts, and in what the depot
     * holds.  *visits is the number of index nodes or other things examined,
     * and may include those since look().
     */
    bool (*choose)(void *p, unsigned fetch, unsigned depot, xd_usec now,
                   struct xd_range *out, unsigned *visits);

    /* All functions below except ended() may be NULL. */

    /* Called first for each decision; nothing happens between it and the calls
     * below.  Returns how many things were examined. */
    unsigned (*look)(void *p, xd_usec now);

    /* Sets how many depots to open at first, at most n_slots, and how many of
     * them before pings have shown which are near.  NULL: as many as there are
     * slots, for both. */
    void (*opens)(void *p, unsigned *out_first, unsigned *out_unseen);

    /* Finds a chosen fetch to shorten, to an *end that it has not reached.
     * Other fetches will deliver the rest. */
    bool (*shorten)(void *p, unsigned *fetch, uint64_t *end);

    /* Finds a chosen fetch to cancel together with its connection.  What it did
     * not deliver becomes missing. */
    bool (*cancel)(void *p, unsigned *fetch);

    /* Returns whether a chosen fetch may run on although others have delivered
     * the rest of its range. */
    bool (*spares)(void *p, unsigned fetch);

    /* Returns whether to open a depot in reserve although the open ones could
     * deliver the rest. */
    bool (*wants_more)(void *p);

    /* Returns when choose() may answer differently without an event: after
     * `now`, or XD_NEVER. */
    xd_usec (*wake)(void *p, xd_usec now);

    /* Returns whether new fetches of the depot get their own connection even if
     * they could share one. */
    bool (*spreads)(void *p, unsigned depot);

    /* Returns how many lanes of a depot may be used now, and why. */
    unsigned (*lanes)(void *p, unsigned depot, enum xd_lanes_reason *out_why);

    /* Returns what was learned about the lanes of the depot, except their
     * ceiling, or NULL if nothing. */
    struct xd_learned (*learned)(void *p, unsigned depot);

    /* A chosen fetch has received everything before `to`. */
    void (*received)(void *p, unsigned fetch, uint64_t to, xd_usec now);

    /* Called before received().  is_disordered: packets arrived out of
     * order, because some were lost.  round_trip: of the connection now, 0
     * if unknown. */
    void (*path)(void *p, unsigned fetch, bool is_disordered,
                 xd_usec round_trip, xd_usec now);

    /* A chosen fetch was canceled, not shortened. */
    void (*canceled)(void *p, unsigned fetch);

    /* A chosen fetch has ended; received() was called for all its bytes.
     * Errors: NOMEM. */
    int (*ended)(void *p, unsigned fetch, bool failed);

    /* These report changes of the book.  Errors: NOMEM. */
    int (*arrived)(void *p, struct xd_range r); /* the bytes were received */
    /* the bytes are missing again */
    int (*missing)(void *p, struct xd_range r);
    void (*opened)(void *p, unsigned depot); /* it got its slot */
    /* There are now this many depots, and perhaps more slots and fetches. */
    int (*grown)(void *p, unsigned n_depots, unsigned n_fetches);
    void (*parked)(void *p, unsigned depot, unsigned slot);
    /* its holdings have shrunk, or grown again */
    void (*lost)(void *p, unsigned depot);
    /* without readers: the depot suggests these bytes for its next request; may
     * be empty */
    void (*hinted)(void *p, unsigned depot, struct xd_range r);
    /* it became ready, or stopped being ready */
    void (*readiness)(void *p, unsigned depot);
};

/* Section 3.2 of Plank, Atchley, Ding, Beck: "Algorithms for High Performance,
 * Wide-Area Distributed File Downloads" (2003). */
extern const struct xd_policy xd_policy_basic;
extern const struct xd_policy xd_policy_aggressive;
extern const struct xd_policy xd_policy_progress;

/* The default: forecasts, requests that end together, tails that are split. */
extern const struct xd_policy xd_policy_adaptive;

/* Meant to replace it, with one forecast and one plan instead of many rules.
 * Hidden from users until it is as fast everywhere (adaptive2/README.md). */
extern const struct xd_policy xd_policy_adaptive2;

/* One fetch from start to end.  Used for a file of unknown size, whatever the
 * option says. */
extern const struct xd_policy xd_policy_whole;

/* Finds a policy that users may choose.  Returns NULL for any other name. */
const struct xd_policy *xd_policy_find(const char *name);

#endif
