/* SPDX-License-Identifier: MIT */
/*
 * One source of a depot: bytes of the file, which an object there has.  It is
 * one replica of the manifest, or several that follow each other in one object;
 * others come later: depot_parts.h.
 *
 * The source that a program reads, struct xd_source, is another thing:
 * api/source.c.
 */
#ifndef XD_ENGINE_SOURCE_H
#define XD_ENGINE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/reach.h"
#include "base/time.h"
#include "base/url.h"

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

struct xd_depot;
struct xd_depot_source;
struct xd_framing;
struct xd_kept_error;
struct xd_model_file;
struct xd_model_stripe;
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
    uint32_t order; /* in the manifest; or how it came later: depot_parts.h */
    uint32_t furthest; /* the source up to this one that ends last; of one that
                          was appended, which of those it is */
    bool is_preferred : 1; /* by its location */
    bool is_of_node : 1;   /* of a mesh: xd_source_via() */
    bool is_parity : 1; /* of a stripe: xd_source_parity(); the range is all of
                              the stripe's data, of which it can take the place */
    bool is_sized;      /* a depot has stated the size of its object */

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

/* One that is to be added: the bytes of the file, and the object. */
struct xd_new_source {
    struct xd_range range;
    struct xd_url url;
    uint64_t object_offset, object_size;
    unsigned priority, max_connections;
};

/* What the manifest, or the call that added it, says of a source: its URL; where
 * its bytes begin in the object there, and how long that is; how it holds them, or
 * NULL; and how near its server may be. */
const struct xd_url *xd_source_url(const struct xd_depot_source *s);
uint64_t xd_source_offset(const struct xd_depot_source *s);
uint64_t xd_source_object_size(const struct xd_depot_source *s);
const struct xd_framing *xd_source_framing(const struct xd_depot_source *s);
enum xd_reach xd_source_reach(const struct xd_depot_source *s);

/* Where the byte lies in the object. */
uint64_t xd_source_at(const struct xd_depot_source *s, uint64_t byte);

/* Which bytes of the file these of its object are, as far as it has them; empty if
 * none, or if bytes of the object are not bytes of the file. */
struct xd_range xd_source_part(const struct xd_depot_source *s,
                               struct xd_range of_object);

/* Of parity: which shard it is, and of which stripe. */
struct xd_source_parity {
    const struct xd_model_stripe *stripe;
    unsigned number;
};

struct xd_source_parity xd_source_parity(const struct xd_depot_source *s);

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
const struct xd_url *xd_source_request_url(
    const struct xd_depot_source *source);

/* How near that URL may lead; PUBLIC for no source. */
enum xd_reach xd_source_request_reach(const struct xd_depot_source *source);

#endif
