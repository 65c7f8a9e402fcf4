/* SPDX-License-Identifier: MIT */
/*
 * A source: a range of the file that an object on a depot holds.  It is one
 * replica of the manifest, or several consecutive ones in the same object.
 * Sources can also be added later: depot_parts.h.
 *
 * Do not confuse it with struct xd_source of the public interface, which a
 * program reads from (api/source.c).
 */
#ifndef XD_ENGINE_SOURCE_H
#define XD_ENGINE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/reach.h"
#include "base/time.h"
#include "base/url.h"

/* Result of comparing the validators of a source's responses
 * (trust/validators.h). */
enum xd_validators {
    XD_VALIDATORS_HOLD,      /* no difference so far */
    XD_VALIDATORS_UNCHECKED, /* the validators differ, and samples are being
                                compared */
    XD_VALIDATORS_VARY,      /* the validators differ although the file is the
                                same, so they are ignored */
    XD_VALIDATORS_CHANGED,   /* the file has changed */
    XD_VALIDATORS_OPEN /* the validators differ, and no sample could be fetched;
                          the next request decides */
};

/* Result of comparing an object that has become longer (trust/growing.h). */
enum xd_object_growth {
    XD_GROWTH_NONE,      /* the object did not grow */
    XD_GROWTH_UNCHECKED, /* the bytes are being compared */
    XD_GROWTH_SAME,      /* the old bytes are unchanged; new ones follow */
    XD_GROWTH_OTHER      /* the old bytes have changed */
};

/* A server with this many different validators for the same bytes probably
 * creates a new one for each response, so its validators are ignored. */
#define XD_ALIKE_MAX 16

struct xd_depot;
struct xd_depot_source;
struct xd_framing;
struct xd_kept_error;
struct xd_model_file;
struct xd_model_stripe;
struct xd_via_file;

/* State of a source whose responses had different validators
 * (trust/validator_check.h).  Guarded by engine.lock. */
struct xd_source_check {
    struct xd_depot_source *source;
    struct xd_depot *depot;
    struct xd_source_check
        *next;          /* next source in the list of UNCHECKED sources */
    uint64_t sought;    /* hash of the validator that differed, or 0 */
    unsigned n;         /* number of checks */
    xd_usec open_since; /* time at which it became OPEN */
    unsigned n_alike;   /* entries of `alike`; at XD_ALIKE_MAX all validators
                           are ignored */
    uint64_t
        alike[XD_ALIKE_MAX]; /* hashes of validators whose samples were equal */
};

/* Facts from the responses of a source.  Guarded by engine.lock. */
struct xd_source_facts {
    const struct xd_kept_error *error; /* why the source is gone; NULL if it is
                                          not, or if its whole depot failed */
    char *validator; /* strong validator of the first response, or NULL;
                        constant */
    /* media type of the first response, "" if it stated none; NULL before that
     * response; constant */
    char *media_type;
    struct xd_url *stated_by; /* URL of that response, or NULL; constant */
    int64_t modified; /* modification time in the last response, in seconds
                         since 1970; 0 if unknown or not needed */
    struct xd_source_check *check; /* NULL if it was never UNCHECKED */
    struct xd_url *final_url;      /* redirect target of its URL, or NULL */
    enum xd_reach reach;           /* network scope of final_url:
                                      io/transport.h */
};

/* Kept small, as there may be 100,000.  Everything else is looked up in the
 * manifest. */
struct xd_depot_source {
    /* constant, except range.end and is_sized, which are set once when a depot
     * states the size */
    struct xd_range range;          /* bytes of the file */
    const struct xd_model_file *in; /* the file of the manifest that lists it */
    uint32_t place;                 /* index of the replica in that file */
    uint32_t order;    /* order in the manifest, or one of the values in
                          depot_parts.h */
    uint32_t furthest; /* index of the source with the highest end so far; for
                          an appended source, its own index */
    bool is_preferred : 1; /* the source is at a preferred location */
    /* the source belongs to a mesh node: xd_source_via() */
    bool is_of_node : 1;
    bool is_parity : 1; /* the source is parity (xd_source_parity()) for the
                           stripe with the data `range`, and can replace any
                           part of that data */
    bool is_sized;      /* a depot has stated the size of the object */

    /* guarded by engine.lock */
    bool is_gone : 1;      /* unusable in this run: xd_depot_drop_source() */
    bool is_noted : 1;     /* the validator of the source is in the journal */
    bool has_answered : 1; /* the source has sent bytes of an object of the
                              right size */
    bool knows_no_conditions : 1; /* the server does not support conditional
                                     requests */
    bool varies : 1;              /* the user was told that the validators of
                                     the source vary */
    bool was_sampled : 1;         /* a sample was taken while UNCHECKED, and no
                                     request waits for the result */
    bool final_url_fails : 1;     /* final_url failed, so request the original
                                     URL again */
    enum xd_validators validators : 4;
    enum xd_object_growth growth : 4;
    struct xd_source_facts *facts; /* NULL before the first call of
                                      xd_source_facts() */
};

/* A source to add: its place in the file and its object. */
struct xd_new_source {
    struct xd_range range;
    struct xd_url url;
    uint64_t object_offset, object_size;
    unsigned priority, max_connections;
};

/* Return what the manifest says, or the call that added the source: its URL,
 * the offset of its bytes in the object, the size of the object, its framing
 * (NULL: none), and the network scope allowed for its server. */
const struct xd_url *xd_source_url(const struct xd_depot_source *s);
uint64_t xd_source_offset(const struct xd_depot_source *s);
uint64_t xd_source_object_size(const struct xd_depot_source *s);
const struct xd_framing *xd_source_framing(const struct xd_depot_source *s);
enum xd_reach xd_source_reach(const struct xd_depot_source *s);

/* Returns the offset in the object of a byte of the file. */
uint64_t xd_source_at(const struct xd_depot_source *s, uint64_t byte);

/* Returns the bytes of the file in `of_object`, a range of the object.  Empty
 * if there are none, or if the object is framed. */
struct xd_range xd_source_part(const struct xd_depot_source *s,
                               struct xd_range of_object);

/* The shard of a parity source. */
struct xd_source_parity {
    const struct xd_model_stripe *stripe;
    unsigned number;
};

struct xd_source_parity xd_source_parity(const struct xd_depot_source *s);

/* Returns the mesh file of a node's source; NULL for other sources. */
const struct xd_via_file *xd_source_via(const struct xd_depot_source *s);

/* Returns the facts about the source, for reading.  Never NULL. */
const struct xd_source_facts *xd_source_known(const struct xd_depot_source *s);

/* Returns the facts about the source, for writing.  NULL when out of memory. */
struct xd_source_facts *xd_source_facts(struct xd_depot_source *s);

/* Releases the facts from responses, unless a check or a reader still needs
 * them.  Call it when nothing is requested from the source any more. */
void xd_source_forget(struct xd_depot_source *s);

/* Returns the URL to request: the redirect target as long as it works, else the
 * URL of the source.  NULL if `source` is NULL. */
const struct xd_url *xd_source_request_url(
    const struct xd_depot_source *source);

/* Returns the network scope allowed for that URL; PUBLIC if `source` is
 * NULL. */
enum xd_reach xd_source_request_reach(const struct xd_depot_source *source);

#endif
