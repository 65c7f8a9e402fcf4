/* SPDX-License-Identifier: MIT */
/*
 * The scheduler decides; it never acts.
 *
 *     events                    +-----------+                   actions
 *     "fetch 7 has 300 kB" ---> | xd_sched  | ---> "depot 2, lane 0: fetch
 *     "depot 3 broke off"       +-----------+       bytes 4m to 5m"
 *
 * It has no clock, lock, thread, file or socket: the caller says what time it
 * is, and the same events always give the same actions.  So whole downloads
 * are simulated in milliseconds, and tests/sim checks these rules after every
 * step:
 *
 *   - every wanted byte is verified at the end, or FAIL names the first that
 *     cannot be had
 *   - a byte is in flight from at most R depots that know ranges, and never
 *     twice from one
 *   - a lane runs one fetch at a time
 *   - a fetch that was started ends with exactly one DONE, FAILED or CANCELED
 *   - at most max_open depots are open, and none runs more fetches than its
 *     max_lanes
 *   - with readers, nothing is fetched outside of their windows
 *
 * The algorithms stand behind one table of functions, struct xd_policy in
 * policy.h: the paper's three, and ours.
 *
 * Depots.  All begin in reserve; OPEN takes one into use, PARK lets it rest.
 * Those that have not failed yet are opened before those that have.  A depot
 * that fails is left alone for a pause that doubles, and given up after
 * max_failures in a row; any byte that it delivers ends the row.  Fetches that
 * are canceled before their first byte count as failures do, but for three that
 * are free, and after ten in vain in a row, failures among them, the depot is
 * given up.  Until a byte comes it is asked for one thing at a time.  But a
 * depot that alone holds a missing byte of a known file is given up only when
 * no depot has delivered a byte for `patience`; until then those that were
 * given up for failures are asked again if no other is left that holds a
 * missing byte.
 *
 * Pings.  Where all depots hold the whole file, and are many more than the
 * policy opens at first, those in reserve are pinged (connected to, and asked
 * for nothing) before they are opened.  Those that answer are opened, the
 * nearest first; a refusal counts as a failure; a depot that is silent comes
 * after the others.  Depots of known speed are opened without a ping, and so
 * are the first few: those that the policy opens before anything is known,
 * which with the paper's policies are all that can be open.
 *
 * A depot that refuses a fetch while others of it deliver bytes, or did when it
 * began, has not failed: it is asked for no more at a time than it has served so
 * far.
 *
 * A depot may join while others are in use.  It begins in reserve, as the last
 * in order of preference, and there is one more in use at once as long as there
 * are fewer than max_open.  The ends of what it holds are cuts from then on.
 *
 * Tiers.  A depot holds each of its bytes in a tier; caches of an origin hold
 * what they are asked for first in tier 0, say, and the origin all in tier 2.
 *
 *     cache 0   |==tier 0==|--tier 1--|--tier 1--|==tier 0==|
 *     cache 1   |--tier 1--|==tier 0==|==tier 0==|--tier 1--|
 *     origin    |..................tier 2...................|
 *
 * A depot is asked for a byte only if no depot that was not dropped, banned or
 * found not to have it holds that byte in a lower tier: for all that is said
 * here of what depots hold, and for policies, it does not hold it otherwise.  So
 * one that holds nothing in the lowest tier of any missing byte is not opened.
 * When the last holder of a byte in its tier is dropped, the depots of the next
 * tier hold the byte at once; when one is taken back they no longer do, but
 * their fetches that run go on.  A depot is the only holder of a byte, and is
 * asked for as long as `patience` says, if no other holds it in any tier.
 *
 * A depot that knows no ranges is used only for bytes that no usable depot
 * holds which knows ranges and has delivered before: one fetch at a time, from
 * the first such byte that is missing to the last, or to the next cut.  Depots
 * that have never delivered are asked for the same bytes meanwhile; when one of
 * them delivers, a fetch that it makes needless is canceled.  A window does not
 * shorten that fetch; the engine holds it back.
 *
 * Readers.  Each says by DEMAND which bytes it wants next, its window, and when
 * it needs them.  The window whose first missing byte is needed soonest is
 * served first, and one after it only by lanes that have nothing to do there.
 * Reader 0 begins with window_bytes at the begin of what is wanted.
 * A fetch of which no window wants the rest any more is canceled, unless it is
 * nearly done.
 *
 *     bytes     .....|=====window 2=====|......|=====window 1=====|.....
 *                    due in 3 s                due now
 *
 * A file of unknown size (layout.h) comes as one fetch to UINT64_MAX from one
 * depot, whatever the policy and the windows; DONE says in range.end where the
 * file ended.  When that fetch fails, or any byte of it was rejected before its
 * end, nothing of it counts any longer, what was verified included, and the
 * next fetch begins where the first did.
 *
 * Not thread-safe.  The engine calls it with its lock held.
 */
#ifndef XD_SCHED_SCHED_H
#define XD_SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xdownload/download.h>

#include "base/ping.h"
#include "base/range.h"
#include "base/time.h"
#include "sched/layout.h"

struct xd_ledger;
struct xd_policy;
struct xd_sched;

#define XD_AUTO UINT64_MAX

struct xd_sched_options {
    const struct xd_policy *policy;
    unsigned redundancy;      /* R, >= 1 */
    uint64_t progress;        /* P, or XD_AUTO: twice the number of lanes */
    unsigned lanes_per_depot; /* n, >= 1 */
    unsigned first_lanes;     /* adaptive begins with so many of them, and uses
                                 more where they help; 0: it uses all */
    unsigned max_open;        /* depots in use at once, >= 1 */
    uint64_t block_bytes;     /* b, >= 1 */
    uint64_t window_bytes;    /* how long the window of a reader is; 0: there
                                 are no readers, and all is fetched */
    bool runs_on;             /* a fetch without ranges goes on to the windows
                                 before it, over what no reader wants */
    bool has_gaps;            /* bytes that no depot can deliver are reported
                                 once, if a window holds them, and the rest
                                 goes on */
    unsigned most_objects;    /* that are begun and not verified, where what is
                                 wanted lies in many between cuts and there are
                                 no readers; 0: any number */
    unsigned max_failures;    /* of one depot, in a row */
    xd_usec patience;         /* with the only holder of a byte */
    bool run_losers;          /* let a fetch run on though another has delivered
                                 its bytes */
    bool whole_blocks;  /* the paper's policies: a request for a block that
                                 another request is for as well asks for all of
                                 it, unless a depot has failed at it */
    unsigned max_pings; /* at a time; 0: depots are not pinged */

    /* Adaptive uses more lanes than these only where they share a connection and
     * objects are short; 0: all. */
    unsigned connections_per_depot;
};

enum xd_sched_event_kind {
    XD_EV_STARTED,  /* fetch: its first byte is here */
    XD_EV_BYTES,    /* fetch: all up to range.end are here */
    XD_EV_DONE,     /* fetch: reached its end, all of it is here; of a fetch
                       to UINT64_MAX, range.end says where that was */
    XD_EV_FAILED,   /* fetch: broke off at range.end; its depot may be asked
                       again, but not before retry_at (0: as the scheduler
                       sees fit) */
    XD_EV_CANCELED, /* fetch: obeyed a CANCEL, or ended for no fault of its
                       depot, at range.end; its depot is not asked again before
                       retry_at (0: it may be at once) */
    XD_EV_HELD,     /* range: here without a request of the scheduler's, and not
                       yet found good */
    XD_EV_SIZED,    /* range: an object of unknown size was that long; others
                       of which it is not known may be like it */
    XD_EV_VERIFIED, /* range: written, and good as far as can be known */
    XD_EV_REJECTED, /* range: it was discarded in the ledger, or received and
                       never stored; it is missing again */
    XD_EV_LOST,     /* depot: does not have `range` after all (no fetch of it
                       there is in flight) */
    XD_EV_HOLDS,    /* depot: has `range` after all, which it had LOST, in the
                       tier that it had then */
    XD_EV_JOINED,   /* depot: can be asked for `range` as well, which it holds
                       in one object and in `tier`, for at most max_lanes
                       fetches at a time (0: as before).  A new depot has the
                       number after the last; one that was given up or banned is
                       used again.  What it held of the range is in that tier
                       from then on */
    XD_EV_EXTENDED, /* range: is wanted as well; it begins where what was wanted
                       ends, which is a cut from then on, and no depot holds it
                       yet.  Not for a policy with blocks, nor with readers */
    XD_EV_NORANGES, /* depot: sends only whole objects; if is_last_resort, it
                       may be wrong, and is asked for what no other can
                       deliver */
    XD_EV_SHARES,   /* depot: its fetches share one connection: one more begins
                       behind the others, and of one that is cut all comes
                       that the depot has written */
    XD_EV_HINT, /* depot: says which bytes it would best be asked for next: any
                   range, which is no promise and may be a lie.  It changes
                   the order at most, and holds until the next one; an empty
                   one ends it */
    XD_EV_CONNECTED, /* depot: a connection to it is made */
    XD_EV_BANNED,    /* depot: never again in this run (no fetch there is in
                       flight) */
    XD_EV_DEMAND,    /* reader: wants `range` (empty: nothing any more), its
                       first byte at `due`, the others at bytes_per_s from
                       then on (0: all at once) */
    XD_EV_PINGED, /* depot: this came of a ping, after round_trip; also of one
                       that was not asked for here */
    XD_EV_TICK    /* nothing but time has passed */
};

struct xd_sched_event {
    enum xd_sched_event_kind kind;
    xd_usec now;
    unsigned fetch, depot, reader;
    struct xd_range range;
    xd_usec retry_at;
    bool is_refusal;     /* FAILED: the depot would not serve it, and said so,
                        hung up or said nothing, before a byte of it came */
    bool is_unanswered;  /* FAILED: and no connection was made to it at all */
    bool is_last_resort; /* NORANGES */
    bool is_lent; /* LOST: until it HOLDS it again; depots that were given up
                            are not asked for it meanwhile */
    xd_usec due;  /* XD_NEVER: when no other reader wants anything */
    uint64_t bytes_per_s;
    unsigned max_lanes;
    uint8_t tier;             /* JOINED */
    enum xd_ping_result ping; /* PINGED */
    xd_usec round_trip;       /* PINGED and ANSWERED */
};

enum xd_sched_action_kind {
    XD_DO_WAIT,    /* until the next event, or the moment `until` */
    XD_DO_OPEN,    /* take `depot` into use */
    XD_DO_PARK,    /* `depot` runs nothing: let it go */
    XD_DO_PING,    /* `depot` is in reserve: say by PINGED how near it is */
    XD_DO_FETCH,   /* `fetch`: bytes `range`, on `lane` of `depot` */
    XD_DO_CANCEL,  /* stop `fetch`; it still ends with an event */
    XD_DO_SHORTEN, /* `fetch` ends at range.end, sooner than asked: DONE when
                     it is there */
    XD_DO_FINISH,  /* every wanted byte was verified */
    XD_DO_FAIL     /* no depot is left that could deliver `range`, nor does a
                      fetch deliver it */
};

struct xd_sched_action {
    enum xd_sched_action_kind kind;
    unsigned fetch, depot, lane;
    struct xd_range range;
    bool owns_connection;        /* FETCH: no other shares its connection */
    enum xd_fetch_reason reason; /* FETCH: for people */
    xd_usec until; /* XD_NEVER: only an event can change anything */
};

/* "adaptive", "basic", "aggressive" or "progress"; NULL if there is none of
 * that name. */
const struct xd_policy *xd_policy_find(const char *name);

/*
 * `wanted` is what to fetch, within the file.  `layout` and `o` are copied.
 * `ledger`, which may know of bytes already, outlives what is made: what events
 * say of bytes is noted there, unless the caller has done so.
 * Options that do not go together with a window are lowered: see
 * xd_sched_options().  Returns NULL when out of memory; nothing else can fail.
 */
struct xd_sched *xd_sched_new(const struct xd_layout *layout,
                              const struct xd_sched_options *o,
                              struct xd_range wanted, struct xd_ledger *ledger);
void xd_sched_free(struct xd_sched *s);

/* The options in force: XD_AUTO resolved, and with a window block_bytes at
 * most a quarter of it and progress at most its blocks less two. */
const struct xd_sched_options *xd_sched_options(const struct xd_sched *s);

/*
 * 0, or NOMEM, after which the scheduler may only be freed.  Events of a fetch
 * come in order, and `now` never runs back.
 */
int xd_sched_event(struct xd_sched *s, const struct xd_sched_event *ev);

/* Call again until it says WAIT, FINISH or FAIL.  Each other action must be
 * carried out: the scheduler takes it as begun. */
struct xd_sched_action xd_sched_next(struct xd_sched *s, xd_usec now);

/* So many bytes per second are taken from all depots together from now on; 0:
 * all that come. */
void xd_sched_set_limit(struct xd_sched *s, uint64_t bytes_per_s);

/* Why a depot may use as many lanes as it may. */
enum xd_lanes_reason {
    XD_LANES_USUAL,  /* as many as every depot begins with, or the user wants */
    XD_LANES_FAR,    /* it is far: more of them find their speed sooner */
    XD_LANES_SHORT,  /* its objects are short: each of them waits for the
                        next one for much of its time */
    XD_LANES_PROBE,  /* all lanes deliver the same rate: one more is tried */
    XD_LANES_SPREAD, /* more of them on one connection did not increase the
                        rate: another connection is tried */
    XD_LANES_TRIAL,  /* that one was answered at once: all are tried */
    XD_LANES_USEFUL, /* so many of those that were tried increased the rate */
    XD_LANES_USELESS, /* those that were tried did not increase the rate */
    XD_LANES_NO_WORK, /* there was nothing to ask for over another one */
    XD_LANES_REFUSED, /* the depot refused more */
    XD_LANES_KNOWN,   /* so many were of use in an earlier download */
    XD_LANES_OUTDATED /* those deliver no longer what they did then */
};

/* Whether the depot fails, or is silent, so that others are asked for what it has in
 * a lower tier; only where there are tiers. */
bool xd_sched_is_aside(const struct xd_sched *s, unsigned depot);

/* FAIL named bytes that may yet come in another way: they are not reported again, nor
 * are depots asked for them, and all else goes on, until ask_again(), or until a
 * depot holds more than before.  Errors: NOMEM. */
int xd_sched_put_off(struct xd_sched *s, struct xd_range range);

/* What no depot could deliver may have become possible: if not, it is reported once
 * more. */
void xd_sched_ask_again(struct xd_sched *s);

/* Whether it heeds PINGED. */
bool xd_sched_has_pings(const struct xd_sched *s);

/* How many lanes of a depot the policy uses now, at most, and why: *out_why. */
unsigned xd_sched_lanes(const struct xd_sched *s, unsigned depot,
                        enum xd_lanes_reason *out_why);

/* Whether those lanes share one connection. */
bool xd_sched_shares(const struct xd_sched *s, unsigned depot);

/* What is known of the depot's lanes now, which the next download may begin
 * with; all 0 for a depot that it does not know. */
struct xd_learned xd_sched_learned(const struct xd_sched *s, unsigned depot);

/* Whether what was learned when a depot had another latency has to be tested
 * again: it has doubled since, by more than the time of a busy machine. */
bool xd_learned_is_outdated(const struct xd_learned *learned, xd_usec latency);

/* Whether more than one depot may still be asked. */
bool xd_sched_has_choice(const struct xd_sched *s);

/* Whether there is a depot in reserve that has not been asked. */
bool xd_sched_has_untried(const struct xd_sched *s);

/* For how long a fetch may say nothing since its bytes stand in the queue of
 * the client's line behind those of others; 0: as far as is known they do
 * not. */
xd_usec xd_sched_queue_time(const struct xd_sched *s, xd_usec now);

/* How many nodes of its index were looked at to find the last action, for the
 * lane that took most; with "adaptive" those of all lanes, and whatever else
 * was (tests). */
unsigned xd_sched_visits(const struct xd_sched *s);

/* How many depots were looked at since the beginning (tests). */
uint64_t xd_sched_steps(const struct xd_sched *s);

#endif
