/* SPDX-License-Identifier: MIT */
/*
 * The depots of a download: which holds which bytes, under which URL.
 *
 * A manifest lists replicas by extent; here they stand by depot. A source is
 * one replica. Sources of one depot may overlap: two URLs of a mirror, or two
 * objects that share bytes; the best one that is not gone serves a request.
 */
#ifndef XD_ENGINE_DEPOT_H
#define XD_ENGINE_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/download.h>

#include "base/error.h"
#include "base/ping.h"
#include "base/range.h"
#include "base/rate.h"
#include "base/choice.h"
#include "base/reach.h"
#include "sched/layout.h"
#include "transfer/registry.h"

/* What the validators of a source's answers say (trust/validators.h). */
enum xd_validators {
    XD_VALIDATORS_HOLD,      /* they agree so far */
    XD_VALIDATORS_UNCHECKED, /* they differ; samples are compared */
    XD_VALIDATORS_VARY,      /* they differ, of one file: they mean nothing */
    XD_VALIDATORS_CHANGED,   /* the file has changed */
    XD_VALIDATORS_OPEN /* they differ, and no sample could be had: the next
                              request finds out */
};

/* A server that names each answer anew has no validators. */
#define XD_ALIKE_MAX 16

struct xd_added_source;
struct xd_depot;
struct xd_depot_source;
struct xd_model_file;
struct xd_via;
struct xd_via_file;

/* Of a source of which answers had different validators (trust/validator_check.h).
 * Guarded by engine.lock. */
struct xd_source_check {
    struct xd_depot_source *source;
    struct xd_depot *depot;
    struct xd_source_check *next; /* of those that are UNCHECKED */
    uint64_t sought; /* the hash of the validator that raised the doubt, or 0 */
    unsigned n;      /* how often it was UNCHECKED */
    xd_usec open_since; /* when OPEN */
    unsigned n_alike;   /* at most XD_ALIKE_MAX: then all others are ignored */
    uint64_t
        alike[XD_ALIKE_MAX]; /* hashes of the validators under which samples
                                     were the same */
};

/* What its answers have said.  Guarded by engine.lock. */
struct xd_source_facts {
    const struct xd_kept_error *error; /* why it is gone; NULL: it is not, or
                                          with its depot */
    char *validator; /* strong, of its first answer, or NULL; constant */
    struct xd_url *stated_by; /* the URL of that answer, or NULL; constant */
    int64_t modified; /* as its last answer says, in seconds since 1970; 0: it
                         does not, or nothing asks for it */
    struct xd_source_check *check; /* NULL: it was never UNCHECKED */
    struct xd_url *final_url;      /* where its URL redirected to, or NULL */
    enum xd_reach reach;           /* of final_url: io/transport.h */
};

/* No more than is needed, as there may be 100 000: what the manifest says of it
 * is asked there. */
struct xd_depot_source {
    /* Constant, but range.end and is_sized, which are set once when a depot has
     * stated the size. */
    struct xd_range range;          /* bytes of the file */
    const struct xd_model_file *in; /* the manifest's file that has it, */
    uint32_t place;                 /* and which of its replicas it is */
    uint32_t order;    /* in the manifest; or how it came later (depot.c) */
    uint32_t furthest; /* the source up to this one that ends last; of one that
                          was appended, which of those it is */
    bool is_preferred : 1; /* by its location */
    bool is_of_node : 1;   /* of a mesh: xd_source_via() */
    bool is_sized;         /* a depot has stated the size of its object */

    /* Guarded by engine.lock. */
    bool is_gone : 1;      /* will not do in this run: xd_depot_drop_source() */
    bool is_noted : 1;     /* the journal knows its validator */
    bool has_answered : 1; /* with bytes of an object of the right size */
    bool knows_no_conditions : 1; /* it is sent no validator */
    bool varies : 1;              /* that it does so is said */
    bool was_sampled : 1;         /* while UNCHECKED: no request waits for what
                                 comes out */
    bool final_url_fails : 1;     /* so its URL itself is asked again */
    enum xd_validators validators : 8;
    struct xd_source_facts *facts; /* NULL: there are none; xd_source_facts() */
};

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
    struct xd_added_source *added; /* those that joined, the last one first; a
                                      source stays where it is in memory */
    size_t n_left;                 /* sources that are not gone */
    uint64_t bytes_held;      /* as the manifest says, or XD_SIZE_UNKNOWN */
    unsigned max_connections; /* the least of its sources'; 0: no limit */
    enum xd_depot_state state;
    struct xd_worker *worker; /* NULL: in reserve, or given up */
    bool is_banned;           /* for bytes that were wrong: never again */
    unsigned n_wrong_copies;  /* of files of a set */
    bool answers_differ;      /* it was dropped, as they are not of one file */
    unsigned n_single_answers;
    bool knows_no_ranges;
    bool sends_wrong_ranges; /* for that reason */
    bool shares;             /* one connection, among its requests */
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

    /* Guarded by engine.lock: what the sampler knows of it. */
    bool refuses_samples;   /* it did not deliver one */
    bool has_own_sample;    /* of its first bytes */
    uint64_t samples_asked; /* bit i: it was asked about sample i */
};

struct xd_depots {
    struct xd_manifest *manifest; /* holds the strings */
    size_t file;
    struct xd_depot **list; /* best first; those that joined later are last.
                               A depot stays where it is in memory */
    size_t n, capacity;
    uint64_t size;                 /* of the file, or XD_SIZE_UNKNOWN */
    size_t n_failed, n_in_reserve; /* of `list`; guarded by engine.lock */
    unsigned max_connections;      /* to all together; 0: no limit */
    size_t n_files_refused;        /* sources: for want of allow_file */
    struct xd_via *via; /* NULL: no mesh is used.  The caller's: via.h */
};

/* Those that `choice` refuses are left out, and files of this machine unless it
 * allows them; those at a location that it prefers come first.
 * Errors: INVAL, NOMEM, NOREPLICA (nothing but such files holds the file).  On
 * failure nothing is held. */
int xd_depots_init(struct xd_depots *d, struct xd_manifest *m, size_t file,
                   const struct xd_choice *choice, struct xd_error *err);
void xd_depots_fini(struct xd_depots *d);

/* Give every depot that is not known its promise, by what is known of others,
 * and let those of equal
 * priority stand in the order of their promises. */
void xd_depots_rank(struct xd_depots *d);

/* A depot's state changes; all that make it one that has failed or is in
 * reserve, or is so no longer, do it by this. */
void xd_depots_set_state(struct xd_depots *d, struct xd_depot *depot,
                         enum xd_depot_state state);

/* The size that depots stated, of a file of which no manifest said it. */
void xd_depots_set_size(struct xd_depots *d, uint64_t size);

/* The source after `s`, or the first one for NULL; NULL after the last. */
struct xd_depot_source *xd_depot_next_source(const struct xd_depot *depot,
                                             const struct xd_depot_source *s);

/* The depot that `url` lies on, which is no node; NULL if it is none of these. */
struct xd_depot *xd_depots_find(const struct xd_depots *d,
                                const struct xd_url *url);

/* One that is to be added: the bytes of the file, and the object. */
struct xd_new_source {
    struct xd_range range;
    struct xd_url url;
    uint64_t object_offset, object_size;
    unsigned priority, max_connections;
};

/*
 * Add a source to the depot of its URL, which may be a new one, the last of the
 * list.  The URL is copied.
 * Errors: NOMEM; then all is as before.
 */
int xd_depots_add(struct xd_depots *d, const struct xd_new_source *what,
                  struct xd_depot **out);

/* The best source of `depot` that holds all of `range` and is not gone, or
 * NULL. */
struct xd_depot_source *xd_depot_source(struct xd_depot *depot,
                                        struct xd_range range);

/* The same, also of those that are gone. */
const struct xd_depot_source *xd_depot_any_source(struct xd_depot *depot,
                                                  struct xd_range range);

/* A source, or none of them, will do in this run; or it will do after all. */
void xd_depot_drop_source(struct xd_depot *depot,
                          struct xd_depot_source *source);
void xd_depot_drop_sources(struct xd_depot *depot);
void xd_depot_restore_source(struct xd_depot *depot,
                             struct xd_depot_source *source);

/*
 * Add a source for bytes behind all others of the file: replica number `place` of
 * the file `in`, which outlives the depots.  Of its depot, which may be a new one,
 * *out_is_new.
 * Errors: NOMEM; then all is as before.
 */
int xd_depots_append(struct xd_depots *d, struct xd_range range,
                     const struct xd_model_file *in, uint32_t place,
                     struct xd_depot **out, bool *out_is_new);

/*
 * The depot that is a node of a mesh, at the address of `url`, as the last of the
 * list; it holds nothing yet.  NULL when out of memory.
 */
struct xd_depot *xd_depots_add_node(struct xd_depots *d,
                                    const struct xd_url *url, const char *id,
                                    unsigned node, bool is_other_address);

/*
 * Add a source of a file that goes through a mesh, which lies behind all others of
 * its node.  The URL is copied, `via` outlives the depots.
 * Errors: NOMEM; then all is as before.
 */
int xd_depot_add_via(struct xd_depot *depot, const struct xd_via_file *via,
                     struct xd_range range, const struct xd_url *url);

/* What the manifest, or the call that added it, says of a source: its URL; where its bytes
 * begin in the object there, and how long that is; how it holds them, or NULL; and
 * how near its server may be. */
const struct xd_url *xd_source_url(const struct xd_depot_source *s);
uint64_t xd_source_offset(const struct xd_depot_source *s);
uint64_t xd_source_object_size(const struct xd_depot_source *s);
const struct xd_framing *xd_source_framing(const struct xd_depot_source *s);

/* Of a node of a mesh: of which file that goes through it; else NULL. */
const struct xd_via_file *xd_source_via(const struct xd_depot_source *s);

/* What is known of it; never NULL. */
const struct xd_source_facts *xd_source_known(const struct xd_depot_source *s);

/* The same, to be written.  NULL when out of memory. */
struct xd_source_facts *xd_source_facts(struct xd_depot_source *s);

/* Nothing of it is asked for any more, and no request has it: it need not be known
 * what its answers said, unless a check or a reader waits for that. */
void xd_source_forget(struct xd_depot_source *s);

/* What to ask for it: where its URL led to, as long as that is good.  NULL for
 * no source. */
const struct xd_url *xd_depot_source_url(const struct xd_depot_source *source);

/* How near that URL may lead; PUBLIC for no source. */
enum xd_reach xd_depot_source_reach(const struct xd_depot_source *source);

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
