/* SPDX-License-Identifier: MIT */
/*
 * Checks a scheduler from outside against the rules of sched.h and of the
 * paper.
 *
 * The checker sees every event, and every action before it is carried out.  It
 * examines one byte of each run of bytes in the same state.  On purpose, it
 * shares little code with the scheduler.
 */
#ifndef XD_SIM_RULES_H
#define XD_SIM_RULES_H

#include "sched/policy.h"

/* The rules, each with its text for messages. */
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
    struct xd_rangeset holds; /* bytes that the depot may be asked for */
    struct xd_rangeset has;   /* bytes that the depot has in any tier */
    /* Bytes that the depot has in each tier.  Tier 0 is not stored here; it has
     * all other bytes of the depot. */
    struct xd_rangeset in[XD_TIERS];
    unsigned lanes;
    bool is_pinged, is_open, no_ranges, is_last_resort;
    bool has_delivered;
    bool shares;             /* requests to the depot can share one
                                connection */
    unsigned n_without_byte; /* requests in a row without a byte */

    /* Copied from the scheduler by xd_rules_look(). */
    bool is_dropped;
    /* depots of a higher tier may be asked although this one is not dropped */
    bool is_aside;
    bool is_tested; /* the depot is being tested, with one request at a time */
    bool spreads;   /* the last request had a connection of its own */
    bool ceiling_spreads;
    unsigned ceiling, governed; /* requests at a time; 0: unlimited */
    xd_usec back_off_until;
};

struct xd_ruled_fetch {
    bool is_live, is_canceled;
    unsigned depot, lane;
    uint64_t block; /* block of the request, or UINT64_MAX */
    struct xd_range range;
    uint64_t got;
};

struct xd_rules {
    /* set by the user; NULL: every depot may be asked */
    const struct xd_sched *sched;
    struct xd_sched_options o; /* the options in force */
    struct xd_range wanted;
    struct xd_window *windows; /* most urgent first */
    size_t n_windows, windows_capacity;
    /* Ranges of the objects that may be in progress.  There is only one window
     * then, which ends after the last of these objects.  NULL: any object may
     * be started. */
    struct xd_range *begun;
    unsigned n_begun_objects;
    /* bytes that the scheduler reported as unavailable (FAIL) */
    struct xd_rangeset reported;
    /* bytes that no depot can deliver but that may arrive in another way */
    struct xd_rangeset put_off;
    bool size_is_unknown;
    bool has_tiers, tiers_are_stale;
    bool failed; /* out of memory: no further checks */
    struct xd_rangeset arrived, verified;
    uint64_t *cuts;
    size_t n_cuts;
    struct xd_ruled_depot *depots;
    unsigned n_depots;
    unsigned n_pings; /* number of pings in flight */
    struct xd_ruled_fetch *fetches;
    unsigned n_fetches; /* size of `fetches` */

    /* For the paper's policies only. */
    bool is_papers;
    uint64_t *blocks; /* beginning of each block, then the end of the file */
    size_t n_blocks;
    /* n_blocks flags for each depot: it failed to deliver the block */
    bool *tried;
};

/* Creates a checker.  `in_force` is the result of xd_sched_options().  Returns
 * NULL if out of memory. */
struct xd_rules *xd_rules_new(const struct xd_layout *l,
                              const struct xd_sched_options *in_force,
                              struct xd_range wanted);
void xd_rules_free(struct xd_rules *r);

/* Return the rule that the action or event breaks.  If it breaks none, record
 * it and return XD_RULE_NONE. */
enum xd_rule xd_rules_action(struct xd_rules *r,
                             const struct xd_sched_action *a, xd_usec now);
enum xd_rule xd_rules_event(struct xd_rules *r,
                            const struct xd_sched_event *ev);

/* Call together with xd_sched_put_off() and xd_sched_ask_again(). */
void xd_rules_put_off(struct xd_rules *r, struct xd_range range);
void xd_rules_ask_again(struct xd_rules *r);

/* Checks that every assigned byte in the ledger belongs to a running
 * request. */
enum xd_rule xd_rules_assigned(const struct xd_rules *r,
                               const struct xd_ledger *ledger);

const char *xd_rule_text(enum xd_rule rule);

/* Shared by rules.c, fetch_rules.c, tier_rules.c, ruled.c and paper.c. */

/* put_tier() records that a depot has bytes in a tier.  put() records that it
 * has, or does not have, bytes in the tier that was given last.  Call
 * settle_tiers() after all changes; it finds out which depots may be asked. */
void xd_rules_put_tier(struct xd_rules *r, unsigned depot,
                       struct xd_range range, unsigned tier);
void xd_rules_put(struct xd_rules *r, unsigned depot, struct xd_range range,
                  bool has);
void xd_rules_settle_tiers(struct xd_rules *r);

/* Copies from the scheduler whether and when each depot may be asked for
 * bytes. */
void xd_rules_look(struct xd_rules *r);

/* Moves *end to the nearest edge of the set after `at`, if that is before
 * *end. */
void xd_rules_nearer(const struct xd_rangeset *s, uint64_t at, uint64_t *end);

enum xd_rule xd_rules_fetch(struct xd_rules *r, const struct xd_sched_action *a,
                            xd_usec now);

bool xd_rules_has(const struct xd_rangeset *s, uint64_t byte);

/* Returns the end of the run of bytes in the same state as `at`; at most
 * `end`. */
uint64_t xd_rules_run(const struct xd_rules *r, uint64_t at, uint64_t end);

/* Returns whether the windows together contain `range`. */
bool xd_rules_is_wanted(const struct xd_rules *r, struct xd_range range);
bool xd_rules_is_awake(const struct xd_rules *r, unsigned depot, xd_usec now);
bool xd_rules_is_ready(const struct xd_rules *r, unsigned depot, xd_usec now);
bool xd_rules_in_flight(const struct xd_rules *r, uint64_t byte);

/* Returns how many requests the depot may run now; after a failure only one. */
unsigned xd_rules_lanes(const struct xd_rules *r, unsigned depot, bool spreads);
unsigned xd_rules_running(const struct xd_rules *r, unsigned depot);

/* Returns whether an available depot holds the byte and may be asked for it. */
bool xd_rules_could_deliver(const struct xd_rules *r, unsigned depot,
                            uint64_t byte);

/* Returns the first byte within `within` that has not arrived, is not being
 * fetched and was not given up; within.end if there is none. */
uint64_t xd_rules_head(const struct xd_rules *r, struct xd_range within);

/* Updates the objects that may be started, after bytes were verified or given
 * up. */
void xd_rules_bound_objects(struct xd_rules *r);

bool xd_rules_crosses_cut(const struct xd_rules *r, struct xd_range range);

/* Returns 0 or NOMEM. */
int xd_paper_init(struct xd_rules *r);

/* Returns the block that the paper's rules choose for a free slot of a ready
 * depot.  If a window begins within that block, this may be only the part in
 * the window.  Empty if they choose no block. */
struct xd_range xd_paper_choice(const struct xd_rules *r, unsigned depot,
                                xd_usec now);
enum xd_rule xd_paper_check(const struct xd_rules *r,
                            const struct xd_sched_action *a, xd_usec now);
uint64_t xd_paper_begin(struct xd_rules *r, const struct xd_sched_action *a);
void xd_paper_failed(struct xd_rules *r, const struct xd_ruled_fetch *f);
void xd_paper_arrived(struct xd_rules *r, struct xd_range range);

#endif
