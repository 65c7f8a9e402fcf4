/* SPDX-License-Identifier: MIT */
/*
 * The rules of sched.h, and the paper's, checked from outside.
 *
 * They get every event and every action before it is carried out.  What
 * is asked of bytes is asked of one byte of each run of bytes that are alike,
 * so that little is shared with the cleverness of what is checked.
 */
#ifndef XD_SIM_RULES_H
#define XD_SIM_RULES_H

#include "sched/policy.h"

/* Each rule, and the sentence that tells it. */
#define XD_RULES(X)                                                       \
    X(NUMBER, "the number of a fetch is dense and not in use")            \
    X(LANE, "a lane runs one fetch at a time")                            \
    X(LIMIT, "a depot runs no more fetches than it allows")               \
    X(USABLE, "only an open depot that does not rest is asked")           \
    X(VAIN, "at most ten requests in vain in a row, if others are left")  \
    X(WANTED, "a fetch asks for some bytes, all of them wanted")          \
    X(HELD, "a depot is asked for what it holds")                         \
    X(TIER, "no depot is asked for what another has in a lower tier")     \
    X(CUT, "no fetch crosses a cut")                                      \
    X(WINDOW, "nothing is fetched that no reader wants")                  \
    X(COPIES, "a byte is in flight from at most R depots")                \
    X(TWICE, "a byte is never in flight twice from one depot")            \
    X(NEEDED, "a fetch begins and ends with a byte that is missing")      \
    X(CHOICE, "the paper's rules choose the block")                       \
    X(COPY, "a copy of a block is whole, where it has to be")             \
    X(RANGES, "a depot without ranges delivers only what no other could") \
    X(OPEN, "at most max_open depots are open, each once")                \
    X(PARK, "an open depot is parked when nothing runs there")            \
    X(CANCEL, "a fetch is canceled once, when its rest is not wanted")    \
    X(SHORTEN, "a fetch is shortened to more than it has received")       \
    X(FINISH, "it is over when all that is wanted was accepted")          \
    X(FAIL, "it fails only when a byte has no depot and is not coming")   \
    X(IDLE, "it waits only when nothing can be begun")                    \
    X(WAKE, "it wakes when the next rest ends")                           \
    X(PING, "at most max_pings depots in reserve are pinged at a time")   \
    X(ENDS, "a fetch ends once")                                          \
    X(ASSIGNED, "what is assigned is in flight")

enum xd_rule {
    XD_RULE_NONE,
#define XD_X(name, text) XD_RULE_##name,
    XD_RULES(XD_X)
#undef XD_X
        XD_N_RULES
};

struct xd_ruled_depot {
    struct xd_rangeset holds;        /* and may be asked for */
    struct xd_rangeset has;          /* in whatever tier */
    struct xd_rangeset in[XD_TIERS]; /* but for tier 0, which is all the rest */
    bool is_aside;                   /* it excludes none of a higher tier */
    xd_usec answered_at;
    unsigned lanes;
    bool is_pinged, is_open, is_dropped, is_banned, no_ranges, is_last_resort;
    bool has_delivered;
    xd_usec back_off_until;
    unsigned failures, preempted, in_vain;
    bool shares;  /* its fetches can share a connection */
    bool spreads; /* its last fetch has a connection of its own */
    unsigned flowing, sharing, most_flowing;
    unsigned ceiling; /* 0: there is none */
    uint64_t refused_to;
    xd_usec refused_least, refused_most; /* after a fetch began */
    unsigned served; /* when it refused one, as far as they flow */
    bool ceiling_spreads;
    uint64_t forgiven_to, excused_to;
};

struct xd_ruled_fetch {
    bool is_live, is_canceled, is_beside, has_company, owns_connection;
    unsigned depot, lane;
    uint64_t block; /* or UINT64_MAX */
    uint64_t number;
    xd_usec began_at;
    struct xd_range range;
    uint64_t got;
};

struct xd_rules {
    struct xd_sched_options o; /* in force */
    struct xd_range wanted;
    struct xd_window *windows; /* most urgent first */
    size_t n_windows, windows_capacity;
    struct xd_range *begun; /* objects that are not done with, before the end of
                               the only window; NULL: any may be begun */
    unsigned n_begun_objects;
    struct xd_rangeset reported; /* no depot can deliver it, as FAIL said */
    struct xd_rangeset put_off;  /* nor this, which may come in another way */
    bool size_is_unknown;
    bool has_tiers, tiers_are_stale;
    bool failed; /* out of memory: nothing is known any longer */
    struct xd_rangeset arrived, verified;
    uint64_t *cuts;
    size_t n_cuts;
    struct xd_ruled_depot *depots;
    unsigned n_depots;
    unsigned n_pings; /* on their way */
    struct xd_ruled_fetch *fetches;
    unsigned n_fetches; /* there can be */
    uint64_t n_begun;
    xd_usec last_byte_at; /* when a byte came last, or the first fetch began */

    /* For the paper's policies; else there are none. */
    bool is_papers;
    uint64_t *blocks; /* where each begins, and the end */
    size_t n_blocks;
    bool *tried; /* n_blocks for each depot: it failed there */
};

/* `in_force`: xd_sched_options().  NULL: out of memory. */
struct xd_rules *xd_rules_new(const struct xd_layout *l,
                              const struct xd_sched_options *in_force,
                              struct xd_range wanted);
void xd_rules_free(struct xd_rules *r);

/* The rule that is broken, or XD_RULE_NONE; then the action counts as done. */
enum xd_rule xd_rules_action(struct xd_rules *r,
                             const struct xd_sched_action *a, xd_usec now);
enum xd_rule xd_rules_event(struct xd_rules *r,
                            const struct xd_sched_event *ev);

/* What xd_sched_put_off() and xd_sched_ask_again() were called for. */
void xd_rules_put_off(struct xd_rules *r, struct xd_range range);
void xd_rules_ask_again(struct xd_rules *r);

/* Whether the ledger has bytes assigned that no fetch is to deliver. */
enum xd_rule xd_rules_assigned(const struct xd_rules *r,
                               const struct xd_ledger *ledger);

const char *xd_rule_text(enum xd_rule rule);

/* What rules.c, fetch_rules.c, tier_rules.c, ruled.c and paper.c ask of each
 * other. */

/* The depot has these bytes in that tier; it has them or not in the tier that
 * was said last.  Those that may be asked for what are known when
 * settle_tiers() is called after all changes. */
void xd_rules_put_tier(struct xd_rules *r, unsigned depot,
                       struct xd_range range, unsigned tier);
void xd_rules_put(struct xd_rules *r, unsigned depot, struct xd_range range,
                  bool has);
void xd_rules_settle_tiers(struct xd_rules *r);

/* Depots of higher tiers may be asked for what it has as well, or no longer;
 * likewise of those that have said nothing for long. */
void xd_rules_set_aside(struct xd_rules *r, unsigned depot, bool is_aside);
void xd_rules_watch(struct xd_rules *r, xd_usec now);

/* When a fetch of the depot has said nothing for long, if nothing comes. */
xd_usec xd_rules_mute_at(const struct xd_rules *r,
                         const struct xd_ruled_fetch *f);

/* The nearest edge of a set behind `at`, if it is before *end. */
void xd_rules_nearer(const struct xd_rangeset *s, uint64_t at, uint64_t *end);

enum xd_rule xd_rules_fetch(struct xd_rules *r, const struct xd_sched_action *a,
                            xd_usec now);

bool xd_rules_has(const struct xd_rangeset *s, uint64_t byte);

/* Where the run of bytes like `at` ends, or `end`. */
uint64_t xd_rules_run(const struct xd_rules *r, uint64_t at, uint64_t end);

/* Whether windows hold all of `range` together. */
bool xd_rules_is_wanted(const struct xd_rules *r, struct xd_range range);
bool xd_rules_is_awake(const struct xd_rules *r, unsigned depot, xd_usec now);
bool xd_rules_is_ready(const struct xd_rules *r, unsigned depot, xd_usec now);
bool xd_rules_in_flight(const struct xd_rules *r, uint64_t byte);

/* How many fetches it may run now: one, after a request in vain. */
/* Whether the fetches of the depot from now on have connections of their
 * own. */
void xd_rules_spread(struct xd_rules *r, unsigned depot, bool spreads);
unsigned xd_rules_lanes(const struct xd_rules *r, unsigned depot, bool spreads);
unsigned xd_rules_running(const struct xd_rules *r, unsigned depot);

/* A depot that was not dropped holds the byte, and may be asked for it. */
bool xd_rules_could_deliver(const struct xd_rules *r, unsigned depot,
                            uint64_t byte);

/* The first byte of `within` that has not arrived and is not coming, nor was
 * given up; within.end. */
uint64_t xd_rules_head(const struct xd_rules *r, struct xd_range within);

/* What was verified, or given up, lets more objects be begun. */
void xd_rules_bound_objects(struct xd_rules *r);

bool xd_rules_crosses_cut(const struct xd_rules *r, struct xd_range range);

/* 0 or NOMEM. */
int xd_paper_init(struct xd_rules *r);

/* The block that a free thread of a ready depot selects, or the part of it that
 * counts; empty if there is none. */
struct xd_range xd_paper_choice(const struct xd_rules *r, unsigned depot,
                                xd_usec now);
enum xd_rule xd_paper_check(const struct xd_rules *r,
                            const struct xd_sched_action *a, xd_usec now);
uint64_t xd_paper_begin(struct xd_rules *r, const struct xd_sched_action *a);
void xd_paper_failed(struct xd_rules *r, const struct xd_ruled_fetch *f);
void xd_paper_arrived(struct xd_rules *r, struct xd_range range);

#endif
