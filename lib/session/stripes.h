/* SPDX-License-Identifier: MIT */
/*
 * Keeps track of data that arrives as parity, and when stripes can be decoded.
 *
 *     data shard      0 |==========|              the data itself
 *                     1 |~~~~~4~~~~|              parity in its place: shard 4
 *                     2 |==========|
 *                     3 |~~5~~|~4'~|              shard 5, then shard 4 from
 *     position            0     a   b              another depot
 *
 * Byte b of each shard depends only on byte b of the others.  So a byte of
 * parity can be stored in place of a missing byte of data at the same position.
 * When each position of a stripe has bytes of k different shards, the stripe is
 * decoded in place.  Until then, bytes that arrived as parity are in state
 * WRITING in the ledger.
 *
 * A byte of parity can replace only one byte of data.  So once it was requested
 * or stored in place of one data shard, depots are not asked for it in place of
 * other data shards (xd_stripes_beside()).
 *
 * Pure.
 * Threads: not thread-safe; guarded by its owner's lock.
 */
#ifndef XD_SESSION_STRIPES_H
#define XD_SESSION_STRIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"
#include "base/shards.h"
#include "base/time.h"
#include "ledger/ledger.h"

struct xd_pieces;

#define XD_NO_STRIPE SIZE_MAX

struct xd_stripe_shape {
    struct xd_range range; /* the bytes of the file in this stripe */
    uint64_t shard_bytes;
    unsigned k, n;
};

/* A range of data that is replaced by parity. */
struct xd_coded_run {
    struct xd_range range; /* bytes of the file, within one data shard */
    unsigned parity;       /* number of the parity shard */
    unsigned depot;
    unsigned fetch; /* the request that will deliver it, or XD_STORED */
};

#define XD_STORED UINT32_MAX

/* A stripe in which parity replaces data.  Stored runs do not overlap. */
struct xd_open_stripe {
    size_t number;
    struct xd_coded_run *runs;
    size_t n_runs, capacity;
};

/* A queue of stripes, ordered by time. */
struct xd_stripe_queue {
    struct xd_waiting_stripe {
        size_t number;
        xd_usec since;
    } * list;
    size_t first, n, capacity;
};

/* Iterates over the depots that have a parity shard of a stripe. */
struct xd_parity_holder {
    unsigned depot, parity;
    size_t i, k; /* position of the iteration; 0 at the start */
};

/* Functions that the caller provides. */
struct xd_stripe_ops {
    /* Returns whether a working depot has these bytes of the file. */
    bool (*holds)(const void *world, struct xd_range range);
    /* Returns whether the depot fails or is silent, so that requests to it may
     * not succeed. */
    bool (*fails)(const void *world, unsigned depot);
    /* Finds the next depot with usable parity of the stripe, once for each of
     * its shards.  Returns false at the end. */
    bool (*next_holder)(const void *world, size_t stripe,
                        struct xd_parity_holder *h);

    /* lend() reports that the depot's parity cannot replace these bytes for
     * now, give_back() that it can again.  Bytes that the depot has itself are
     * not affected. */
    void (*lend)(void *world, unsigned depot, struct xd_range range);
    void (*give_back)(void *world, unsigned depot, struct xd_range range);
    /* Makes the scheduler ask the depot for these bytes as if it had them,
     * unless the depot was given up. */
    void (*join)(void *world, unsigned depot, struct xd_range range);
    /* Reports that depots may now be able to deliver bytes that none could
     * before. */
    void (*ask_again)(void *world);
    /* Reports that bytes that were claimed are missing again. */
    void (*discard)(void *world, struct xd_range range,
                    enum xd_discard_reason why);
    /* Reports that memory has run out. */
    void (*run_out)(void *world);
};

/* State of each stripe. */
struct xd_stripe_state {
    size_t open_at; /* index + 1 among the open stripes, or 0 */
    /* has_waited: was put in the queue `waiting`, even if it has left it;
     * is_put_off, is_ready: is in the queue of that name */
    bool has_waited, is_put_off, is_ready;
    /* A request for parity was refused.  The scheduler does not ask the depot
     * for the refused positions until this is undone, as if the parity were
     * lent (stand_in.h). */
    bool has_refused;
    /* All parity that replaces one shard must come from the same depot. */
    bool is_apart;
    unsigned n_left; /* number of incomplete runs dropped because of is_apart */
};

struct xd_stripes {
    /* Set by the caller.  The stripes are sorted and do not overlap. */
    struct xd_stripe_shape *list;
    size_t n;
    const struct xd_ledger *ledger;
    const struct xd_pieces *pieces;
    const struct xd_stripe_ops *ops;
    void *world;
    /* never replace shards by parity only because they are late */
    bool ignores_late;

    /* Private. */
    struct xd_open_stripe *open;
    size_t n_open, capacity;
    struct xd_stripe_state *states; /* NULL: all zero */
    struct xd_stripe_queue waiting; /* waiting for their last shards */
    struct xd_stripe_queue put_off; /* stripes to be checked again later */
    struct xd_stripe_queue ready;   /* ready to be decoded */
};

/* Frees everything, including the list. */
void xd_stripes_fini(struct xd_stripes *s);

/* Returns the stripe that contains the byte, or XD_NO_STRIPE. */
size_t xd_stripes_find(const struct xd_stripes *s, uint64_t byte);

/* Returns the first stripe that ends after the byte, or n. */
size_t xd_stripes_from(const struct xd_stripes *s, uint64_t byte);

/* Returns the first part of the range that is within one stripe, or outside of
 * all. */
struct xd_range xd_stripes_part(const struct xd_stripes *s, struct xd_range r);

/* shard() returns the bytes of the data shard that contains `byte`, and its
 * number.  data() returns the bytes of data shard `number`. */
struct xd_range xd_stripes_shard(const struct xd_stripe_shape *shape,
                                 uint64_t byte, unsigned *out_number);

struct xd_range xd_stripes_data(const struct xd_stripe_shape *shape,
                                unsigned number);

/* Returns the bytes of shard `number` at the positions of `r`, which is within
 * one shard.  May be empty, because the last shards may be short. */
struct xd_range xd_stripes_beside(const struct xd_stripe_shape *shape,
                                  unsigned number, struct xd_range r);

bool xd_stripes_is_open(const struct xd_stripes *s, size_t stripe);

/* Returns whether a request for this parity may start.  Parity that lost shards
 * need is not used for late ones, and no parity is requested twice. */
bool xd_stripes_may_begin(const struct xd_stripes *s, size_t stripe,
                          const struct xd_coded_run *run);

/* Schedules another check of the stripe after XD_STRIPES_LATE, because requests
 * may then be allowed.  Errors: NOMEM. */
int xd_stripes_look_again(struct xd_stripes *s, size_t stripe, xd_usec now);

/* Returns a stripe whose check is due.  XD_NO_STRIPE: no check is due before
 * *out_at. */
size_t xd_stripes_next_again(struct xd_stripes *s, xd_usec now,
                             xd_usec *out_at);

/* Returns whether a working depot has this parity shard. */
bool xd_stripes_has_parity(const struct xd_stripes *s, size_t stripe,
                           unsigned parity);

/* Returns true if a byte of a shard is lost and all parity already replaces
 * other shards at its position. */
bool xd_stripes_is_short(const struct xd_stripes *s, size_t stripe);

/* Records a request for parity.  Errors: NOMEM. */
int xd_stripes_begin(struct xd_stripes *s, size_t stripe,
                     const struct xd_coded_run *run);

/* Records that parity from the request is stored and replaces `range`.  Errors:
 * NOMEM. */
int xd_stripes_stored(struct xd_stripes *s, unsigned fetch,
                      struct xd_range range);

/* Records the end of a request for `byte`, which will deliver nothing more.
 * Returns false if it was not for parity. */
bool xd_stripes_end(struct xd_stripes *s, unsigned fetch, uint64_t byte,
                    size_t *out_stripe, struct xd_coded_run *out);

/* Returns the first part of `r` for which this parity is unused: it does not
 * replace any shard at the same positions.  `r` must be within one shard.
 * Empty if there is none. */
struct xd_range xd_stripes_next_unused(const struct xd_stripes *s,
                                       size_t stripe, unsigned parity,
                                       struct xd_range r);

/* Returns whether a request for parity of the stripe is running. */
bool xd_stripes_is_asked(const struct xd_stripes *s, size_t stripe);

/* Removes a stored run that begins within `r` and came from this depot, or from
 * any depot (XD_STORED).  Returns false if there is none. */
bool xd_stripes_take(struct xd_stripes *s, size_t stripe, unsigned depot,
                     struct xd_range r, struct xd_coded_run *out);

/* Returns the first stored run with an index of at least *i; false if there is
 * none. */
bool xd_stripes_next_run(const struct xd_stripes *s, size_t stripe, size_t *i,
                         struct xd_coded_run *out);

/* ---- late shards ---- */

/* Time that a stripe waits for its last shards if there is enough parity to
 * replace them.  After that they are late, and depots with parity are asked,
 * too. */
#define XD_STRIPES_LATE XD_SECOND

/* Call when more bytes of the stripe, or of parity for it, are stored.  Errors:
 * NOMEM. */
int xd_stripes_look(struct xd_stripes *s, size_t stripe, xd_usec now);

/* Returns a stripe whose last shards are late, usually only once for each
 * stripe.  XD_NO_STRIPE: no stripe is late before *out_at. */
size_t xd_stripes_next_late(struct xd_stripes *s, xd_usec now, xd_usec *out_at);

/* Finds the first data shard, from `number`, that is neither stored nor
 * replaced by parity.  Returns false if there is none. */
bool xd_stripes_next_lacking(const struct xd_stripes *s, size_t stripe,
                             unsigned *number, struct xd_range *out);

/* ---- decoding ---- */

/* Returns whether the stripe can be decoded: all of it is stored as data or
 * parity, and all pieces that can be verified without decoding are verified. */
bool xd_stripes_is_ready(const struct xd_stripes *s, size_t stripe);

/* Queues the stripe for decoding if it is ready.  Errors: NOMEM. */
int xd_stripes_put_ready(struct xd_stripes *s, size_t stripe);

/* has_ready() returns whether stripes may be ready; take_ready() returns one to
 * decode now, or XD_NO_STRIPE. */
bool xd_stripes_has_ready(const struct xd_stripes *s);
size_t xd_stripes_take_ready(struct xd_stripes *s);

/* A range of positions at which the same shards are stored. */
struct xd_stripe_step {
    uint64_t begin, end;
    /* for each data shard, the shard stored in its place: itself or parity */
    unsigned present[XD_SHARDS_MAX];
    unsigned lost[XD_SHARDS_MAX]; /* data shards to compute */
    unsigned n_lost;              /* number of them */
};

/* Returns the step that begins at this position; false at the end of the
 * stripe. */
bool xd_stripes_next_step(const struct xd_stripes *s, size_t stripe,
                          uint64_t begin, struct xd_stripe_step *out);

/* Returns whether part of this data shard must be decoded. */
bool xd_stripes_is_coded(const struct xd_stripes *s, size_t stripe,
                         unsigned number);

/* Returns whether a whole parity shard from one depot is stored in place of
 * this data shard, so that its hash can be checked. */
bool xd_stripes_is_whole(const struct xd_stripes *s, size_t stripe,
                         unsigned number, struct xd_coded_run *out);

#endif
