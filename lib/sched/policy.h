/* SPDX-License-Identifier: MIT */
/*
 * A policy chooses which bytes a lane fetches next.
 *
 *     sched.c --- choose, ended, arrived, missing, opened ... ---> policy
 *     policy  --- reads ---> the book (depots, what arrived, the windows)
 *
 * What every policy needs (depots, lanes, fetches, losers, the end) is done by
 * sched.c and holders.c; what is left to decide is one function, choose().  A
 * new policy is one file with one table, listed in policy.c.
 *
 * The book is kept by sched.c; a policy only reads it.
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
    XD_HOLDER_RESERVE, /* rests, without a thread */
    XD_HOLDER_OPEN,    /* in use: has a slot */
    XD_HOLDER_DROPPED  /* not again, unless no other is left (sched.c); has
                          a slot until it was parked */
};

/* What is known of how near a depot is. */
enum xd_nearness {
    XD_NOT_PINGED,
    XD_IS_PINGED, /* now */
    XD_IS_NEAR,   /* it answered after round_trip */
    XD_IS_SILENT, /* it did not */
    XD_CANNOT_BE_PINGED
};

/* What a depot has, where there are tiers. */
struct xd_tiers {
    struct xd_rangeset has;          /* in any of them, of what is wanted */
    struct xd_rangeset in[XD_TIERS]; /* which bytes are in each, those that it
                                        does not have too */
    bool is_changed; /* what it holds, and that was not reported */
};

/* A depot, as the scheduler knows it. */
struct xd_holder {
    struct xd_rangeset held; /* of what is wanted; with tiers, of what it has
                                only what none that is usable has in a lower
                                one, and nothing once it was dropped */
    struct xd_tiers *tiers;  /* NULL: there are none */
    bool is_aside;           /* others hold in higher tiers what it holds */
    xd_usec answered_at;     /* when it delivered last, or answered a ping */
    unsigned max_lanes;      /* 0: lanes_per_depot */
    struct xd_guess guess;
    enum xd_holder_state state;
    unsigned slot;          /* or XD_NO_SLOT */
    bool is_banned;         /* dropped, and never again */
    bool no_ranges;         /* sched.c itself gives it work; choose() never gets
                           of it */
    bool is_last_resort;    /* without ranges, and perhaps wrong */
    bool has_connected;     /* a connection to it was made, at some time */
    bool has_delivered;     /* a byte, at some time */
    bool shares;            /* its fetches can share a connection, */
    bool spreads;           /* but the last one has its own */
    bool is_backing_off;    /* failed, and gets nothing before back_off_until */
    xd_usec back_off_until; /* while it is backing off */
    uint64_t forgiven_to;  /* the fetches that had begun when it failed last may
                             fail as well and not count */
    unsigned failures;     /* in a row */
    unsigned preempted;    /* fetches in a row that were canceled before a byte
                             of them came */
    uint64_t excused_to;   /* those that had begun when it was preempted last
                             do not count again */
    unsigned running;      /* fetches, those being canceled too */
    unsigned flowing;      /* of them, those of which a byte has come, */
    unsigned sharing;      /* of these, those that can share a connection */
    unsigned most_flowing; /* at most so far; while it spreads, connections */
    unsigned ceiling;      /* fetches at a time: it refused one more; 0: it did
                             not */
    uint64_t refused_to; /* the fetches that had begun by then are the last that
                            it refused, so long after they began: */
    xd_usec refused_least, refused_most;
    unsigned served;       /* of those at a time, as far as they flow */
    bool ceiling_spreads;  /* that was one with a connection of its own */
    bool ceiling_is_known; /* from an earlier download */
    uint64_t idle_to;      /* it holds no work before this byte: holders.c; */
    uint64_t idle_search;  /* if this is the book's search */
    unsigned place; /* in the book's heap `backing_off`, from 1; 0: none */
    enum xd_nearness nearness;
    xd_usec round_trip; /* while it is near */
    bool is_listed;     /* in the book's `near` */
};

/* What a reader wants; without readers, all that is wanted. */
struct xd_window {
    unsigned reader;
    struct xd_range range;
    xd_usec due; /* when its first byte is needed; XD_NEVER: some day */
    uint64_t bytes_per_s; /* of the others; 0: all are needed then */
    uint64_t jumped_to;   /* where the reader began; it has read on since */
};

struct xd_book {
    /* Constant after new(). */
    struct xd_sched_options o; /* in force */

    /* These grow when a depot joins. */
    const uint64_t *cuts; /* within wanted, ascending */
    size_t n_cuts;
    unsigned n_depots;
    unsigned n_slots;   /* depots in use at once, at most */
    unsigned n_fetches; /* numbers of fetches are below this */

    uint64_t limit_rate; /* bytes per second that are taken from all depots
                            together; 0: all that come */
    struct xd_range wanted;
    struct xd_holder *depots;         /* in order of preference */
    struct xd_depot_set usable;       /* not dropped */
    struct xd_depot_set fresh, tried; /* in reserve and awake: with no request
                                         in vain, and with some */
    struct xd_depot_set unseen, unseen_tried; /* likewise: part of them, to
                                                 be pinged before they are
                                                 opened */
    struct xd_depot_set proven; /* not dropped, know ranges, have delivered */
    struct xd_depot_set without_ranges; /* know none, and are not dropped */
    bool has_pings;                     /* constant: some are to be pinged */
    bool has_tiers;
    unsigned *near; /* part of the fresh: those that are near, nearest first */
    unsigned n_near;
    unsigned *backing_off; /* a heap: the first to wake on top */
    unsigned n_backing_off;
    unsigned n_given_up;       /* dropped, and not banned */
    uint64_t search;           /* what earlier ones found holds no more */
    uint64_t *steps;           /* depots that were looked at, ever (tests) */
    unsigned *slots;           /* the depot in each, or n_depots */
    struct xd_ledger *ledger;  /* the state of every byte; assign.c says which
                                  are assigned */
    struct xd_range *assigned; /* of each request; the rest of what it asked for
                                  is another's, or was offered to others */
    struct xd_window *windows; /* most urgent first */
    unsigned n_windows;
    const struct xd_window *window;  /* that which choose() is asked for */
    struct xd_bottleneck bottleneck; /* of what all depots delivered */
    unsigned n_sized; /* 0: no object has been of unknown size; else */
    double mean_size; /* how long those that came last were in the mean */
};

/* What a depot could be asked for, if others could not. */
static inline const struct xd_rangeset *xd_holder_has(const struct xd_holder *d)
{
    return d->tiers ? &d->tiers->has : &d->held;
}

/* The part of a range before the first cut in it. */
static inline struct xd_range xd_book_cut(const struct xd_book *b,
                                          struct xd_range r)
{
    size_t next =
        xd_count_up_to(r.begin, b->cuts, b->n_cuts, sizeof *b->cuts, 0);

    if (next < b->n_cuts && b->cuts[next] < r.end)
        r.end = b->cuts[next];
    return r;
}

/* assign.c: other requests may ask for `r` as well, which begins in what is
 * assigned to this one; it keeps what is in front of that.  There is room for
 * one such offer of each request.  0 or NOMEM. */
int xd_book_offer(const struct xd_book *b, unsigned fetch, struct xd_range r);

/* Whether choose() may be asked for this depot now. */
static inline bool xd_holder_is_ready(const struct xd_holder *d)
{
    return d->state == XD_HOLDER_OPEN && !d->is_backing_off && !d->no_ranges;
}

struct xd_policy {
    const char *name;

    /* Set what the policy does not take from its user to what it does. */
    void (*settle)(struct xd_sched_options *o);

    /* `book` outlives what is made; NULL when out of memory. */
    void *(*new)(const struct xd_book *book);
    void (*free)(void *p);

    /*
     * What a free lane of `depot`, which is ready, does next for the window
     * book->window; if nothing, it is asked for the next window.  True: `fetch`
     * has begun, for bytes *out of the window, within one pair of cuts, held
     * by the depot.  *visits: how many nodes of an index were seen, or
     * other things looked at; a policy may count them from look() on.
     */
    bool (*choose)(void *p, unsigned fetch, unsigned depot, xd_usec now,
                   struct xd_range *out, unsigned *visits);

    /* The rest, but for ended(), may be NULL: it does not care. */

    /* An action is to be found: the others are asked at this moment, and
     * nothing happens in between.  Returns how many things were looked at. */
    unsigned (*look)(void *p, xd_usec now);

    /* How many depots are opened at first, at most n_slots, and how many of
     * those before a ping has shown which are near.  NULL: all there are slots
     * for, both. */
    void (*opens)(void *p, unsigned *out_first, unsigned *out_unseen);

    /* The depot to be asked for book->window, the most urgent, before all
     * others; n_depots if it does not matter. */
    unsigned (*preferred_depot)(void *p);

    /* A chosen fetch that is to end sooner, at *end, which it has not
     * reached: others shall deliver the rest. */
    bool (*shorten)(void *p, unsigned *fetch, uint64_t *end);

    /* Whether a chosen fetch of which others have delivered the rest may end by
     * itself all the same. */
    bool (*spares)(void *p, unsigned fetch);

    /* Whether a depot in reserve is worth opening, though what is left could
     * be delivered by those that are open. */
    bool (*wants_more)(void *p);

    /* When choose() may answer otherwise though nothing was reported; later
     * than `now`, or XD_NEVER. */
    xd_usec (*wake)(void *p, xd_usec now);

    /* Whether each fetch of the depot that begins now has a connection of its
     * own, even if they could share one. */
    bool (*spreads)(void *p, unsigned depot);

    /* How many lanes of a depot may be used now, and why. */
    unsigned (*lanes)(void *p, unsigned depot, enum xd_lanes_reason *out_why);

    /* What it has learned of the depot's lanes, but for their ceiling, or NULL:
     * nothing. */
    struct xd_learned (*learned)(void *p, unsigned depot);

    /* A chosen fetch has received all before `to`. */
    void (*received)(void *p, unsigned fetch, uint64_t to, xd_usec now);

    /* A chosen fetch was canceled, and is not to be shortened. */
    void (*canceled)(void *p, unsigned fetch);

    /* A chosen fetch is over; all that it received was reported before.
     * 0 or NOMEM. */
    int (*ended)(void *p, unsigned fetch, bool failed);

    /* The book has changed; 0 or NOMEM: */
    int (*arrived)(void *p, struct xd_range r); /* these are here now */
    int (*missing)(void *p, struct xd_range r); /* these no longer are */
    void (*opened)(void *p, unsigned depot);    /* it has its slot */
    /* There are more depots than these, and perhaps slots and fetches. */
    int (*grown)(void *p, unsigned n_depots, unsigned n_fetches);
    void (*parked)(void *p, unsigned depot, unsigned slot);
    void (*lost)(void *p, unsigned depot); /* it holds less, or more again */
    void (*hinted)(void *p, unsigned depot, struct xd_range r); /* without
                                                   readers: it would be asked
                                                   for these next; they may be
                                                   none */
    void (*readiness)(void *p, unsigned depot); /* it became ready, or is no
                                                   longer */
};

/* Section 3.2 of Plank, Atchley, Ding, Beck: "Algorithms for High Performance,
 * Wide-Area Distributed File Downloads" (2003). */
extern const struct xd_policy xd_policy_basic;
extern const struct xd_policy xd_policy_aggressive;
extern const struct xd_policy xd_policy_progress;

/* Ours: forecasts, requests that end together, tails split. */
extern const struct xd_policy xd_policy_adaptive;

/* One stream from start to end: what sched.c takes, whatever was asked for,
 * while the file's size is unknown. */
extern const struct xd_policy xd_policy_whole;

/* Among those that a user may choose; NULL if there is none of that name. */
const struct xd_policy *xd_policy_find(const char *name);

#endif
