/* SPDX-License-Identifier: MIT */
/*
 * A depot: its sources and its statistics.
 *
 * Sources of one depot may overlap, for example two URLs on one mirror, or two
 * objects with common bytes.  Then the best source that is not gone serves the
 * request.
 */
#ifndef XD_ENGINE_DEPOT_H
#define XD_ENGINE_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/download.h>

#include "base/governor.h"
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
struct xd_host;
struct xd_kept_error;
struct xd_transport_kind;
struct xd_via_file;
struct xd_worker;

struct xd_depot {
    /* constant after xd_depots_rank() */
    unsigned number; /* index in the list of depots and for the scheduler */

    /* constant after xd_depots_init() */
    const struct xd_transport_kind *kind;
    char *host;
    struct xd_url url;               /* URL of the best source */
    char *shown_url;                 /* URL for messages, without credentials */
    struct xd_depot_source *sources; /* sorted by range.begin, then by
                                        preference */
    size_t n_sources;
    const char *node_id;   /* ID if the depot is a node of a mesh, else NULL;
                              all sources of a node are in `appended` */
    unsigned node;         /* number of the node in the mesh */
    bool is_other_address; /* true if `url` is not the first address of the
                              node */

    /* constant after xd_depots_rank() */
    struct xd_guess guess;   /* estimates; what was learned in this run is
                                guarded by engine.lock */
    uint64_t learned_at;     /* when `known` was learned, in seconds since 1970,
                                or 0 */
    struct xd_learned known; /* values from the depot cache */
    bool is_known;           /* the depot cache has an entry */
    double promise;          /* expected throughput in bytes per second, reduced
                                by failures */

    /* guarded by engine.lock */
    struct xd_depot_source **appended; /* in the order of the file; addresses
                                          never change */
    size_t n_appended, appended_capacity;
    struct xd_added_source *added;   /* sources that were added, the last one
                                        first; addresses never change */
    struct xd_depot_source **parity; /* parity sources, in the order of their
                                        stripes */
    size_t n_parity, parity_capacity;
    size_t n_left; /* number of sources that are not gone */
    /* number of bytes that the depot holds according to the manifest, or
     * XD_SIZE_UNKNOWN */
    uint64_t bytes_held;
    unsigned max_connections; /* the lowest limit of its sources; 0: no limit */
    enum xd_depot_state state;
    struct xd_worker *worker; /* NULL if the depot is in reserve or given up */
    struct xd_host *at_host;  /* entry of its host in the governor; NULL before
                                 the depot is opened */
    struct xd_governor_terms terms; /* the limits last reported to the
                                       scheduler */
    bool is_banned;                 /* the depot is never used again, because it
                                       delivered wrong bytes */
    unsigned n_wrong_copies;        /* number of objects with wrong bytes */
    /* bytes that the depot delivered and that did not match the hash of their
     * piece */
    struct xd_rangeset wrong;
    bool answers_differ; /* the depot was dropped, because its responses belong
                            to different files */
    unsigned n_single_answers;
    unsigned n_excuses; /* how often another node was blamed for its wrong bytes
                           (trust/relayed.h) */
    bool knows_no_ranges;
    bool sends_wrong_ranges; /* the depot sends other ranges than those
                                requested */
    bool shares;             /* requests share one connection */
    bool has_hint; /* the last response suggested which bytes to request next */
    bool has_stated_size;
    uint64_t stated_size; /* size of the file that the depot states, or
                             XD_SIZE_UNKNOWN */
    unsigned lanes_busy;
    unsigned n_lanes; /* maximum number of lanes for the scheduler; 0: not
                         reported yet */
    bool lanes_share; /* `n_lanes` counts requests that share one connection */
    uint64_t bytes, bytes_redundant;
    uint64_t bytes_received; /* includes bytes not yet written */
    unsigned blocks, requests, failures;
    struct xd_rate rate;
    xd_usec busy_since, busy_time;  /* current busy period; sum of earlier
                                       ones */
    xd_usec first_byte;             /* shortest time to first byte; XD_NEVER
                                       before the first byte */
    xd_usec last_byte_at;           /* 0 before the first byte */
    bool is_connected;              /* a connection was established since the
                                       depot last became busy */
    struct xd_addresses *addresses; /* addresses of its host; NULL if none is
                                       known yet */
    unsigned connections;           /* connections in use */
    unsigned most_connections;      /* highest number of connections in use */
    bool is_pinged;                 /* a ping is in flight */
    /* the ping in flight only shows whether the network is up */
    bool is_pinged_for_line;
    bool was_pinged; /* `ping` is known, from a ping or a request */
    enum xd_ping_result ping;
    xd_usec round_trip;
    const struct xd_kept_error *last_error; /* NULL if the depot has not
                                               failed */
    bool needs_login;                       /* `last_error` says that the depot
                                               requires a login */
    /* why other nodes should not wait for this node (via_watch.h), or NULL */
    const struct xd_kept_error *avoided_why;

    /* guarded by engine.lock; used by the sampler */
    bool refuses_samples; /* the depot failed to deliver a sample */
    bool has_own_sample;  /* a sample of the first bytes from this depot was
                             taken */
    xd_usec
        delays_until; /* time until which readers wait for a comparison of this
                         depot's bytes; 0: no reader has waited */
    uint64_t samples_asked; /* bit i: the depot was asked for sample i */
};

/* Returns the source after `s`, the first one for NULL, and NULL after the
 * last. */
struct xd_depot_source *xd_depot_next_source(const struct xd_depot *depot,
                                             const struct xd_depot_source *s);

/* Returns the source to name in messages: a parity source only if there is no
 * other.  NULL if the depot has none. */
const struct xd_depot_source *xd_depot_best_source(const struct xd_depot *d);

/* Returns the best source that holds all of `range` and is not gone, or
 * NULL. */
struct xd_depot_source *xd_depot_source(struct xd_depot *depot,
                                        struct xd_range range);

/* Returns the best source that holds all of `range`, even if it is gone, or
 * NULL. */
const struct xd_depot_source *xd_depot_any_source(struct xd_depot *depot,
                                                  struct xd_range range);

/* Returns parity source number `i` of the stripe with `byte`, counting only
 * those that are not gone.  NULL if there are fewer. */
struct xd_depot_source *xd_depot_parity(const struct xd_depot *depot,
                                        uint64_t byte, size_t i);

/* Marks one source, or all of them, as gone for this run; restore() makes a
 * source usable again. */
void xd_depot_drop_source(struct xd_depot *depot,
                          struct xd_depot_source *source);
void xd_depot_drop_sources(struct xd_depot *depot);
void xd_depot_restore_source(struct xd_depot *depot,
                             struct xd_depot_source *source);

/*
 * Adds a source for a file that is fetched through a mesh.  Its bytes lie after
 * those of all other sources of the node.  The URL is copied; `via` must
 * outlive the depots.
 * Errors: NOMEM; then nothing has changed.
 */
int xd_depot_add_via(struct xd_depot *depot, const struct xd_via_file *via,
                     struct xd_range range, const struct xd_url *url);

/* Returns the widest network scope that one of its sources allows. */
enum xd_reach xd_depot_reach(const struct xd_depot *depot);

/* Stores a copy of `why` as the last error, with the URL of the depot unless
 * `why` names another. */
void xd_depot_set_error(struct xd_depot *depot, const struct xd_error *why);

/* Counts a failure and stores `why` as the last error. */
void xd_depot_note_failure(struct xd_depot *depot, const struct xd_error *why);

/* Marks the source as gone and stores `why` with it; other sources may still be
 * used. */
void xd_depot_lose_source(struct xd_depot *depot,
                          struct xd_depot_source *source,
                          const struct xd_error *why);

/* Returns why the depot does not deliver the byte: the error of its source if
 * that is gone, else the error of the depot.  NULL if nothing failed or it has
 * no source for the byte. */
const struct xd_kept_error *xd_depot_why_not(const struct xd_depot *depot,
                                             uint64_t byte);

/* Initialises `out` with the bytes of `within` that the depot holds.  Sources
 * that are gone and bytes that were wrong do not count.  The cost is linear in
 * the number of sources near `within`. */
int xd_depot_holds(const struct xd_depot *depot, struct xd_range within,
                   struct xd_rangeset *out);

#endif
