/* SPDX-License-Identifier: MIT */
/*
 * One depot: its sources, and what is known of it.
 *
 * Sources of one depot may overlap: two URLs of a mirror, or two objects that
 * share bytes; the best one that is not gone serves a request.
 */
#ifndef XD_ENGINE_DEPOT_H
#define XD_ENGINE_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/download.h>

#include "base/ping.h"
#include "base/range.h"
#include "base/rate.h"
#include "base/reach.h"
#include "base/time.h"
#include "base/url.h"
#include "sched/layout.h"

struct xd_added_source;
struct xd_addresses;
struct xd_depot_source;
struct xd_kept_error;
struct xd_transport_kind;
struct xd_via_file;
struct xd_worker;

struct xd_depot {
    /* Constant after xd_depots_rank(). */
    unsigned number; /* in the list of depots, and for the scheduler */

    /* Constant after xd_depots_init(). */
    const struct xd_transport_kind *kind;
    char *host;
    struct xd_url url;               /* of its best source */
    char *shown_url;                 /* the same, as people may see it */
    struct xd_depot_source *sources; /* by range.begin, then best first */
    size_t n_sources;
    const char *node_id; /* of a node of a mesh, whose it is; NULL: it is none.
                              All sources of a node are appended */
    unsigned node;       /* its number there */
    bool is_other_address; /* than its first */

    /* Constant after xd_depots_rank(). */
    struct xd_guess guess;   /* what was learned: guarded by engine.lock */
    uint64_t learned_at;     /* seconds since 1970; 0: nothing was */
    struct xd_learned known; /* as it was read */
    bool is_known;           /* from earlier runs */
    double promise;          /* bytes per second, less where it fails */

    /* Guarded by engine.lock. */
    struct xd_depot_source **appended; /* each behind those before it in the
                                          file; it stays where it is */
    size_t n_appended, appended_capacity;
    struct xd_added_source *added;   /* those that joined, the last one first; a
                                      source stays where it is in memory */
    struct xd_depot_source **parity; /* of stripes in the order of the file */
    size_t n_parity, parity_capacity;
    size_t n_left;            /* sources that are not gone */
    uint64_t bytes_held;      /* as the manifest says, or XD_SIZE_UNKNOWN */
    unsigned max_connections; /* the least of its sources'; 0: no limit */
    enum xd_depot_state state;
    struct xd_worker *worker; /* NULL: in reserve, or given up */
    bool is_banned;           /* for bytes that were wrong: never again */
    unsigned n_wrong_copies;  /* of files of a set */
    bool answers_differ;      /* it was dropped, as they are not of one file */
    unsigned n_single_answers;
    unsigned n_excuses; /* for what another node sent it (trust/relayed.h) */
    bool knows_no_ranges;
    bool sends_wrong_ranges; /* for that reason */
    bool shares;             /* one connection, among its requests */
    bool has_hint; /* it would be asked for some bytes before others */
    bool has_stated_size;
    uint64_t stated_size; /* or XD_SIZE_UNKNOWN: it does not say */
    unsigned lanes_busy;
    unsigned n_lanes; /* that the scheduler uses at most; 0: not said yet */
    bool lanes_share; /* these are requests that share one connection */
    uint64_t bytes, bytes_redundant;
    uint64_t bytes_received; /* also what is not written yet */
    unsigned blocks, requests, failures;
    struct xd_rate rate;
    xd_usec busy_since, busy_time;  /* while lanes_busy > 0; before that */
    xd_usec first_byte;             /* least; XD_NEVER: none came yet */
    xd_usec last_byte_at;           /* 0: none came yet */
    bool is_connected;              /* since it became busy */
    struct xd_addresses *addresses; /* of its host; NULL: none is known yet */
    unsigned connections;           /* that its requests use now, */
    unsigned most_connections;      /* and the most at a time */
    bool is_pinged;                 /* a ping is on its way, */
    bool is_pinged_for_line;        /* whose answer says that the line is up */
    bool was_pinged;                /* what came of it, or of a request: */
    enum xd_ping_result ping;
    xd_usec round_trip;
    const struct xd_kept_error *last_error; /* NULL: it has not failed */
    bool needs_login;                       /* says last_error */
    /* Why other nodes are not to wait for this one (via_watch.h); or NULL. */
    const struct xd_kept_error *avoided_why;

    /* Guarded by engine.lock: what the sampler knows of it. */
    bool refuses_samples;   /* it did not deliver one */
    bool has_own_sample;    /* of its first bytes */
    uint64_t samples_asked; /* bit i: it was asked about sample i */
};

/* The source after `s`, or the first one for NULL; NULL after the last. */
struct xd_depot_source *xd_depot_next_source(const struct xd_depot *depot,
                                             const struct xd_depot_source *s);

/* The source that people would name first: of parity, if it has nothing else; NULL:
 * it has none. */
const struct xd_depot_source *xd_depot_best_source(const struct xd_depot *d);

/* The best source of `depot` that holds all of `range` and is not gone, or
 * NULL. */
struct xd_depot_source *xd_depot_source(struct xd_depot *depot,
                                        struct xd_range range);

/* The same, also of those that are gone. */
const struct xd_depot_source *xd_depot_any_source(struct xd_depot *depot,
                                                  struct xd_range range);

/* Of its sources of parity of the stripe that has the byte, those that are not gone,
 * number i from 0 on; or NULL. */
struct xd_depot_source *xd_depot_parity(const struct xd_depot *depot,
                                        uint64_t byte, size_t i);

/* A source, or none of them, will do in this run; or it will do after all. */
void xd_depot_drop_source(struct xd_depot *depot,
                          struct xd_depot_source *source);
void xd_depot_drop_sources(struct xd_depot *depot);
void xd_depot_restore_source(struct xd_depot *depot,
                             struct xd_depot_source *source);

/*
 * Add a source of a file that goes through a mesh, which lies behind all others of
 * its node.  The URL is copied, `via` outlives the depots.
 * Errors: NOMEM; then all is as before.
 */
int xd_depot_add_via(struct xd_depot *depot, const struct xd_via_file *via,
                     struct xd_range range, const struct xd_url *url);

/* How near its server may be, by the source that allows most. */
enum xd_reach xd_depot_reach(const struct xd_depot *depot);

/* Keep `why` as its last error, located at the depot unless it says another. */
void xd_depot_set_error(struct xd_depot *depot, const struct xd_error *why);

/* The same of one more failure. */
void xd_depot_note_failure(struct xd_depot *depot, const struct xd_error *why);

/* The source of a depot is gone for that reason, which others may not share. */
void xd_depot_lose_source(struct xd_depot *depot,
                          struct xd_depot_source *source,
                          const struct xd_error *why);

/* Why the depot does not deliver the byte: its source is gone, or else the depot
 * has failed.  NULL: it has not, or has no source of it. */
const struct xd_kept_error *xd_depot_why_not(const struct xd_depot *depot,
                                             uint64_t byte);

/* What a depot holds of `within`, without what is gone; `out` is initialised
 * here.  Costs as much as there are sources near `within`. */
int xd_depot_holds(const struct xd_depot *depot, struct xd_range within,
                   struct xd_rangeset *out);

#endif
