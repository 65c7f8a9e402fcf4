/* SPDX-License-Identifier: MIT */
/*
 * The scheduler decides which depot is asked for which bytes, and when.  It
 * performs no action itself.
 *
 *     events                    +-----------+                   actions
 *     "fetch 7 has 300 kB" ---> | xd_sched  | ---> "depot 2, lane 0: fetch
 *     "depot 3 broke off"       +-----------+       bytes 4m to 5m"
 *
 * It uses no clock, lock, thread, file or socket.  The caller passes the time,
 * and the same events always produce the same actions.  So tests can simulate
 * whole downloads in milliseconds.  tests/sim checks these rules after every
 * step:
 *
 * - At the end every wanted byte is verified, or FAIL names the first one that
 *   cannot be delivered.
 * - A byte is in flight from at most R depots that support ranges, and never
 *   twice from the same depot.
 * - A lane runs one fetch at a time.
 * - Each fetch that was started ends with exactly one DONE, FAILED or CANCELED.
 * - At most max_open depots are open, and none runs more fetches than its
 *   max_lanes.
 * - With readers, nothing outside of their windows is fetched.
 *
 * The algorithm is a struct xd_policy (policy.h): the three of the paper, or
 * ours.
 *
 * Depots.  All depots start in reserve.  OPEN takes one into use, PARK returns
 * it to the reserve.  Depots that have not failed yet are opened first.
 * - After a failure a depot rests until retry_at of the event, which the
 *   governor of its host has chosen (base/governor.h).  After max_failures
 *   failures in a row it is given up.
 * - A fetch that delivers XD_PROGRESS_BYTES, or half of its range, ends the
 *   row.
 * - After the third fetch in a row that was canceled before its first byte, a
 *   depot rests for a time that doubles.  After ten such fetches and failures
 *   in a row the depot is given up.
 * - Until its first byte a depot gets one request at a time.
 * - The only depot with a missing byte of a file of known size is given up only
 *   if no depot has delivered a byte for `patience`.  Until then, depots that
 *   were given up for failures are asked again if no other depot has a missing
 *   byte.
 *
 * Pings.  If all depots hold the whole file and there are many more of them
 * than the policy opens at first, depots in reserve are pinged before they are
 * opened.  A ping makes a connection but requests nothing.  The nearest depots
 * are opened first, silent ones last; a refusal counts as a failure.  Two
 * groups are opened without a ping: depots of known speed, and the first few,
 * before anything is known.  With the policies of the paper the latter are all
 * that can be open.
 *
 * Refusals.  If a depot refuses a fetch while others deliver bytes, or did when
 * the fetch began, this is not a failure.  The depot is then asked for no more
 * at a time than it has served, and for nothing new before retry_at.
 *
 * Joining.  A depot may join a running download.  It starts in reserve, as the
 * least preferred.  One more depot may then be open, up to max_open.  The ends
 * of what it holds become cuts.
 *
 * Tiers.  A depot holds each of its bytes in a tier.  For example, caches hold
 * the bytes that they are responsible for in tier 0, and the origin holds
 * everything in tier 2.
 *
 *     cache 0   |==tier 0==|--tier 1--|--tier 1--|==tier 0==|
 *     cache 1   |--tier 1--|==tier 0==|==tier 0==|--tier 1--|
 *     origin    |..................tier 2...................|
 *
 * A depot is asked for a byte only if no depot holds the byte in a lower tier.
 * Depots that were dropped, banned or found not to have the byte do not count.
 * In this header and for policies, "holds" has this meaning, so a depot that
 * holds nothing in the lowest tier of any missing byte is not opened.
 * - When the last holder of a byte in its tier is dropped, the depots of the
 *   next tier hold it at once.
 * - When a depot is taken back they stop holding it, but their running fetches
 *   continue.
 * - The rule for the only holder of a byte applies only if no other depot has
 *   the byte in any tier.
 *
 * No ranges.  A depot without ranges is used only for bytes that no usable
 * depot with ranges holds which has delivered before.  It runs one fetch at a
 * time, from the first such missing byte to the last, or to the next cut.
 * Depots that have never delivered are asked for the same bytes meanwhile.
 * When one of them delivers, a fetch that is no longer needed is canceled.  A
 * window does not shorten such a fetch; the engine slows it down instead.
 *
 * Readers.  By DEMAND each reader says which bytes it wants next (its window)
 * and when it needs them.  The window whose first missing byte is needed first
 * is served first; lanes without work there serve the next window.  Reader 0
 * starts with window_bytes at the begin of the wanted range.  A fetch is
 * canceled if no window contains the rest of its range, unless it is nearly
 * done.
 *
 *     bytes     .....|=====window 2=====|......|=====window 1=====|.....
 *                    due in 3 s                due now
 *
 * Unknown size (layout.h).  The file is one fetch to UINT64_MAX from one depot,
 * with any policy and windows.  The range.end of DONE is the size.  If this
 * fetch fails, or a byte of it is rejected before the end, all of it is
 * discarded, even verified bytes, and the next fetch starts at the beginning.
 *
 * Not thread-safe.  The engine calls it with its lock held.
 */
#ifndef XD_SCHED_SCHED_H
#define XD_SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ping.h"
#include "base/range.h"
#include "base/time.h"
#include "command/records.h"
#include "sched/layout.h"

struct xd_ledger;
struct xd_policy;
struct xd_sched;

#define XD_AUTO UINT64_MAX

struct xd_sched_options {
    const struct xd_policy *policy;
    /* R of the paper: depots that may be asked for a byte at a time, >= 1 */
    unsigned redundancy;
    /* P of the paper, in blocks; XD_AUTO: twice the number of lanes */
    uint64_t progress;
    unsigned lanes_per_depot; /* >= 1 */
    /* Adaptive starts with this many lanes for each depot and adds more where
     * they help.  0: it starts with all. */
    unsigned first_lanes;
    unsigned max_open;    /* depots in use at a time, >= 1 */
    uint64_t block_bytes; /* block size of the paper, >= 1 */
    /* length of a reader's window; 0: no readers, fetch everything */
    uint64_t window_bytes;
    /* A fetch without ranges may continue through bytes that no reader wants to
     * reach a later window. */
    bool runs_on;
    /* Report bytes in a window that no depot can deliver once, and continue
     * with the rest. */
    bool has_gaps;
    /* Limit of objects that are begun but not verified, if cuts divide the
     * wanted range into many objects and there are no readers.  0: no limit. */
    unsigned most_objects;
    unsigned max_failures; /* of one depot, consecutive */
    xd_usec patience;      /* with the only holder of a byte */
    /* let a fetch run on after others have delivered its bytes */
    bool run_losers;
    /* Policies of the paper: the second request for a block asks for the whole
     * block, unless a depot has failed at it. */
    bool whole_blocks;
    unsigned max_pings; /* pings in progress at a time; 0: no pings */

    /* Adaptive exceeds this number of lanes only if they share a connection and
     * the objects are short.  0: no such limit. */
    unsigned connections_per_depot;
};

enum xd_sched_event_kind {
    XD_EV_STARTED, /* fetch: its first byte was received */
    XD_EV_BYTES,   /* fetch: all bytes before range.end were received */
    /* fetch: all of it was received.  For a fetch to UINT64_MAX, range.end is
     * the size. */
    XD_EV_DONE,
    /* fetch: broke off at range.end.  Its depot may be asked again from
     * retry_at on (0: the scheduler chooses a short rest). */
    XD_EV_FAILED,
    /* fetch: ended at range.end after a CANCEL, or through no fault of its
     * depot, which may be asked again from retry_at on (0: at once). */
    XD_EV_CANCELED,
    /* range: received without a request of the scheduler, and not verified
     * yet */
    XD_EV_HELD,
    /* range: an object of unknown size, which has at most these bytes.  Adaptive
     * asks for it in one request, because any part of it may not exist. */
    XD_EV_UNSIZED,
    /* range: an object of unknown size turned out to be this one.  Other
     * objects of unknown size are assumed to be similar. */
    XD_EV_SIZED,
    XD_EV_VERIFIED, /* range: written, and correct as far as can be known */
    /* range: discarded in the ledger, or received but never stored.  It is
     * missing again. */
    XD_EV_REJECTED,
    /* depot: does not have `range` after all.  No fetch for it may be running
     * there. */
    XD_EV_LOST,
    XD_EV_HOLDS, /* depot: has `range` again after LOST, in the same tier */
    /* depot: also has `range`, in one object and in `tier`, for at most
     * max_lanes fetches at a time (0: as before).  A new depot gets the next
     * number; one that was given up or banned is used again. Bytes of the range
     * that it had before move to this tier. */
    XD_EV_JOINED,
    /* range: is wanted too.  It begins at the end of what was wanted, which
     * becomes a cut.  No depot holds it yet.  Not allowed with readers or with
     * policies that use blocks. */
    XD_EV_EXTENDED,
    /* depot: sends only whole objects.  If is_last_resort, they may be wrong,
     * and it is asked only for what no other depot can deliver. */
    XD_EV_NORANGES,
    /* depot: its fetches share one connection.  So a new fetch queues behind
     * the others, and the client receives all that the depot has already
     * written for a fetch that is cut. */
    XD_EV_SHARES,
    /* depot: suggests the bytes of its next request.  Any range is allowed; it
     * is no promise and may be a lie.  It only affects the order, until the
     * next hint.  Empty: no suggestion any more. */
    XD_EV_HINT,
    XD_EV_CONNECTED, /* depot: a connection to it was made */
    /* depot: its host allows max_lanes fetches at a time (0: no limit), and
     * none before retry_at.  If is_sparing, use few and long fetches. */
    XD_EV_GOVERNED,
    /* depot: never use it again in this run.  It has no running fetch. */
    XD_EV_BANNED,
    /* reader: wants `range` (empty: nothing any more), its first byte at `due`
     * and the others at bytes_per_s (0: all at once) */
    XD_EV_DEMAND,
    /* depot: the result of a ping, also of one that the scheduler did not ask
     * for.  If it was refused, retry_at is as in FAILED. */
    XD_EV_PINGED,
    XD_EV_TICK /* only time has passed */
};

struct xd_sched_event {
    enum xd_sched_event_kind kind;
    xd_usec now;
    unsigned fetch, depot, reader;
    struct xd_range range;
    xd_usec retry_at;
    /* BYTES: the connection received packets out of order since the last
     * report, so the path loses some */
    bool is_disordered;
    /* FAILED: before the first byte, the depot refused, closed the connection
     * or stayed silent */
    bool is_refusal;
    bool is_unanswered;  /* FAILED: and no connection could be made */
    bool is_last_resort; /* NORANGES */
    bool is_sparing;     /* GOVERNED */
    /* LOST: temporarily, until HOLDS.  Meanwhile depots that were given up are
     * not asked for it. */
    bool is_lent;
    xd_usec due; /* XD_NEVER: after the demands of all other readers */
    uint64_t bytes_per_s;
    unsigned max_lanes;
    uint8_t tier;             /* JOINED */
    enum xd_ping_result ping; /* PINGED */
    /* PINGED, if it was answered.  BYTES: of its connection now, including time
     * in queues (0: unknown). */
    xd_usec round_trip;
};

enum xd_sched_action_kind {
    XD_DO_WAIT, /* wait for an event, or until the time `until` */
    XD_DO_OPEN, /* take `depot` into use */
    XD_DO_PARK, /* stop using `depot`; it runs nothing */
    XD_DO_PING, /* ping `depot`, which is in reserve, and report PINGED */
    /* start `fetch` for the bytes `range` on `lane` of `depot` */
    XD_DO_FETCH,
    XD_DO_CANCEL, /* stop `fetch`; its final event is still required */
    /* end `fetch` early, at range.end; report DONE when it gets there */
    XD_DO_SHORTEN,
    XD_DO_FINISH, /* all wanted bytes are verified */
    /* no depot is left that could deliver `range`, and no running fetch will */
    XD_DO_FAIL
};

struct xd_sched_action {
    enum xd_sched_action_kind kind;
    unsigned fetch, depot, lane;
    struct xd_range range;
    bool owns_connection;        /* FETCH: needs a connection of its own */
    enum xd_fetch_reason reason; /* FETCH: for logs and displays */
    xd_usec until; /* XD_NEVER: nothing changes without an event */
};

/* Finds "adaptive", "basic", "aggressive" or "progress".  Returns NULL for any
 * other name. */
const struct xd_policy *xd_policy_find(const char *name);

/*
 * Creates a scheduler that fetches `wanted`, a range of the file.
 *
 * Ownership: `layout` and `o` are copied.  `ledger` must outlive the scheduler.
 * It may contain received bytes already, and events update it unless the caller
 * did.
 *
 * Options that do not fit a window are lowered: see xd_sched_options().
 * Errors: returns NULL when out of memory; nothing else can fail.
 */
struct xd_sched *xd_sched_new(const struct xd_layout *layout,
                              const struct xd_sched_options *o,
                              struct xd_range wanted, struct xd_ledger *ledger);
void xd_sched_free(struct xd_sched *s);

/* Returns the options in force.  XD_AUTO is replaced by a number.  With a
 * window, block_bytes is at most a quarter of it, and progress at most its
 * number of blocks minus two. */
const struct xd_sched_options *xd_sched_options(const struct xd_sched *s);

/* Handles an event.  Events of a fetch must be reported in order, and `now`
 * must not decrease.  Returns 0, or NOMEM; then the scheduler may only be
 * freed. */
int xd_sched_event(struct xd_sched *s, const struct xd_sched_event *ev);

/* Returns the next action.  Call it again until it returns WAIT, FINISH or
 * FAIL. Carry out every other action: the scheduler assumes that it has
 * begun. */
struct xd_sched_action xd_sched_next(struct xd_sched *s, xd_usec now);

/* Limits the bytes per second of all depots together from now on; 0: no
 * limit. */
void xd_sched_set_limit(struct xd_sched *s, uint64_t bytes_per_s);

/* Explains the number of lanes that a depot may use. */
enum xd_lanes_reason {
    XD_LANES_USUAL, /* the initial number, or the one that the user wants */
    /* the depot is far: several connections reach full speed sooner */
    XD_LANES_FAR,
    /* its objects are short, so a lane often waits for its next response */
    XD_LANES_SHORT,
    XD_LANES_PROBE, /* all lanes are equally fast: one more is being tried */
    /* more lanes on one connection did not help: another connection is being
     * tried */
    XD_LANES_SPREAD,
    /* the extra lane was answered at once: all are being tried */
    XD_LANES_TRIAL,
    XD_LANES_USEFUL,  /* tried, and the rate increased up to this number */
    XD_LANES_USELESS, /* tried, and the rate did not increase */
    XD_LANES_NO_WORK, /* another lane would have had nothing to request */
    XD_LANES_REFUSED, /* the depot refused more */
    XD_LANES_KNOWN,   /* this number was useful in an earlier download */
    /* those lanes are now slower than in the earlier download */
    XD_LANES_OUTDATED
};

/* Returns whether the depot fails or is silent, so that depots in higher tiers
 * are asked for its bytes.  Always false without tiers. */
bool xd_sched_is_aside(const struct xd_sched *s, unsigned depot);

/* Call this after FAIL if `range` may become available in another way.  FAIL
 * does not name it again and depots are not asked for it until ask_again(), or
 * until a depot holds more than before.  The rest continues.  Errors: NOMEM. */
int xd_sched_put_off(struct xd_sched *s, struct xd_range range);

/* Call this when bytes that no depot could deliver may have become available.
 * Bytes that are still unavailable are reported once more. */
void xd_sched_ask_again(struct xd_sched *s);

/* Returns whether the scheduler uses PINGED. */
bool xd_sched_has_pings(const struct xd_sched *s);

/* Returns whether the policy uses what BYTES says about the path. */
bool xd_sched_heeds_path(const struct xd_sched *s);

/* Returns how many lanes of a depot the policy may use now, and sets
 * *out_why. */
unsigned xd_sched_lanes(const struct xd_sched *s, unsigned depot,
                        enum xd_lanes_reason *out_why);

/* Returns whether those lanes share one connection. */
bool xd_sched_shares(const struct xd_sched *s, unsigned depot);

/* Returns what is known about the lanes of the depot, for the next download;
 * all 0 if nothing is known. */
struct xd_learned xd_sched_learned(const struct xd_sched *s, unsigned depot);

/* Returns whether to test `learned` again, because the latency has more than
 * doubled since and the increase is more than a busy machine explains. */
bool xd_learned_is_outdated(const struct xd_learned *learned, xd_usec latency);

/* Returns whether some missing byte is on no other usable depot. */
bool xd_sched_is_only_holder(const struct xd_sched *s, unsigned depot);

/* Returns whether no other depot can replace a request to this one that gets no
 * answer: some missing byte is only here, or every other depot fails, was given
 * up or has been silent for `silence` as well. */
bool xd_sched_is_last_hope(const struct xd_sched *s, unsigned depot,
                           xd_usec silence, xd_usec now);

/* Returns whether more than one depot may still be asked. */
bool xd_sched_has_choice(const struct xd_sched *s);

/* Returns whether a depot in reserve has not been asked yet. */
bool xd_sched_has_untried(const struct xd_sched *s);

/* Returns how long a fetch may be silent because its bytes are behind others in
 * the queue of the client's line; 0 if that is not known to happen. */
xd_usec xd_sched_queue_time(const struct xd_sched *s, xd_usec now);

/* Returns how many index nodes were visited to find the last action, for the
 * lane that needed most.  For "adaptive": of all lanes, with other things
 * examined (tests). */
unsigned xd_sched_visits(const struct xd_sched *s);

/* Returns how many depots were examined so far (tests). */
uint64_t xd_sched_steps(const struct xd_sched *s);

#endif
