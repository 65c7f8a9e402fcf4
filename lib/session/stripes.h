/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of a file come as parity, and when their stripes are decoded.
 *
 *     shard of data   0 |==========|              what of the file is there
 *                     1 |~~~~~4~~~~|              parity in its place: shard 4,
 *                     2 |==========|
 *                     3 |~~5~~|~4'~|              shard 5, and then 4 of another
 *     position            0     a   b              depot
 *
 * Byte b of each shard depends on byte b of the others alone.  So where a byte of a
 * shard of data cannot be had, a byte of parity at the same position takes its
 * place, each in the place of one: then every position has k different shards, and
 * once the stripe has come as a whole it is decoded where it lies.  Until then the
 * ledger has what came as parity as WRITING.
 *
 * Parity that a request is to deliver, or has, in one place is of no use in
 * another at these positions: depots are not asked for it there (beside()).
 *
 * Pure.  Not thread-safe: guarded by the lock of its owner.
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
    struct xd_range range; /* of the file: its data */
    uint64_t shard_bytes;
    unsigned k, n;
};

/* Parity in the place of data. */
struct xd_coded_run {
    struct xd_range range; /* of the file, within one shard of data */
    unsigned parity;       /* the number of the shard that comes instead */
    unsigned depot;
    unsigned fetch; /* that is to deliver it, or XD_STORED */
};

#define XD_STORED UINT32_MAX

/* A stripe with such runs: those that are stored do not overlap. */
struct xd_open_stripe {
    size_t number;
    struct xd_coded_run *runs;
    size_t n_runs, capacity;
};

/* Stripes in the order of time. */
struct xd_stripe_queue {
    struct xd_waiting_stripe {
        size_t number;
        xd_usec since;
    } * list;
    size_t first, n, capacity;
};

/* A depot that has a shard of parity of a stripe, in a walk over all of them. */
struct xd_parity_holder {
    unsigned depot, parity;
    size_t i, k; /* where the walk is, for next_holder(); 0 before the first */
};

/* What its user knows, and carries out. */
struct xd_stripe_ops {
    /* Whether a depot that does not fail holds those bytes of the file. */
    bool (*holds)(const void *world, struct xd_range range);
    /* Whether that depot fails, or is silent: what it is asked for may not come. */
    bool (*fails)(const void *world, unsigned depot);
    /* The next one that has parity of the stripe which may be used, and of several
     * shards once for each; false: there is none. */
    bool (*next_holder)(const void *world, size_t stripe,
                        struct xd_parity_holder *h);

    /* Parity of the depot can, or cannot, take the place of those bytes, as far as
     * it does not hold them itself. */
    void (*lend)(void *world, unsigned depot, struct xd_range range);
    void (*give_back)(void *world, unsigned depot, struct xd_range range);
    /* It is asked for them as depots are that hold them, unless it was given up. */
    void (*join)(void *world, unsigned depot, struct xd_range range);
    /* What no depot could deliver may be possible now. */
    void (*ask_again)(void *world);
    /* What was claimed there is missing again. */
    void (*discard)(void *world, struct xd_range range,
                    enum xd_discard_reason why);
    /* There is no memory. */
    void (*run_out)(void *world);
};

/* Of each stripe. */
struct xd_stripe_state {
    size_t open_at; /* its place among those that are open plus 1, or 0 */
    bool has_waited, is_put_off, is_ready; /* it is in that queue, or was */
    bool has_refused; /* a request was not made, and its depot was lent */
    bool is_apart;   /* what takes the place of a shard comes from one depot; */
    unsigned n_left; /* so many were begun that it could not complete */
};

struct xd_stripes {
    /* Set by its user: ascending, and disjoint. */
    struct xd_stripe_shape *list;
    size_t n;
    const struct xd_ledger *ledger;
    const struct xd_pieces *pieces;
    const struct xd_stripe_ops *ops;
    void *world;
    bool ignores_late; /* shards that are late are not asked of parity */

    /* Its own. */
    struct xd_open_stripe *open;
    size_t n_open, capacity;
    struct xd_stripe_state *states; /* NULL: all are zero */
    struct xd_stripe_queue waiting; /* for their last shards */
    struct xd_stripe_queue put_off; /* to be looked at again */
    struct xd_stripe_queue ready;   /* to be decoded */
};

/* Frees the list, too. */
void xd_stripes_fini(struct xd_stripes *s);

/* The stripe that has the byte, or XD_NO_STRIPE. */
size_t xd_stripes_find(const struct xd_stripes *s, uint64_t byte);

/* The first stripe that ends behind the byte, or n. */
size_t xd_stripes_from(const struct xd_stripes *s, uint64_t byte);

/* The part of the range, from its beginning, that is in one stripe, or in none. */
struct xd_range xd_stripes_part(const struct xd_stripes *s, struct xd_range r);

/* What the shard of data has that the byte of the stripe is in, and its number; or
 * that of a number. */
struct xd_range xd_stripes_shard(const struct xd_stripe_shape *shape,
                                 uint64_t byte, unsigned *out_number);

struct xd_range xd_stripes_data(const struct xd_stripe_shape *shape,
                                unsigned number);

/* The bytes of shard `number` at the positions of `r`, which lies in one shard;
 * they may be none, as the last shards may be short. */
struct xd_range xd_stripes_beside(const struct xd_stripe_shape *shape,
                                  unsigned number, struct xd_range r);

bool xd_stripes_is_open(const struct xd_stripes *s, size_t stripe);

/* Whether it may: parity that other shards, which no depot holds, cannot do without
 * is not for one that is only late, nor for a second request. */
bool xd_stripes_may_begin(const struct xd_stripes *s, size_t stripe,
                          const struct xd_coded_run *run);

/* The stripe is to be looked at again, as what may begin may have changed, when
 * XD_STRIPES_LATE has passed.  Errors: NOMEM. */
int xd_stripes_look_again(struct xd_stripes *s, size_t stripe, xd_usec now);

/* A stripe for which that time has come; XD_NO_STRIPE: for none before *out_at. */
size_t xd_stripes_next_again(struct xd_stripes *s, xd_usec now,
                             xd_usec *out_at);

/* Whether a depot that does not fail has that shard of parity. */
bool xd_stripes_has_parity(const struct xd_stripes *s, size_t stripe,
                           unsigned parity);

/* Whether a shard is lost, and all parity takes the place of others. */
bool xd_stripes_is_short(const struct xd_stripes *s, size_t stripe);

/* A request for parity begins.  Errors: NOMEM. */
int xd_stripes_begin(struct xd_stripes *s, size_t stripe,
                     const struct xd_coded_run *run);

/* Parity that it delivers is in its place at `range`.  Errors: NOMEM. */
int xd_stripes_stored(struct xd_stripes *s, unsigned fetch,
                      struct xd_range range);

/* It has ended, and delivers nothing more; `byte` is one that it was for.  False: it
 * was not for parity. */
bool xd_stripes_end(struct xd_stripes *s, unsigned fetch, uint64_t byte,
                    size_t *out_stripe, struct xd_coded_run *out);

/* The first part of `r`, which lies in one shard, at whose positions no run has that
 * parity; empty: there is none. */
struct xd_range xd_stripes_next_unused(const struct xd_stripes *s,
                                       size_t stripe, unsigned parity,
                                       struct xd_range r);

/* Whether a request for parity of the stripe runs. */
bool xd_stripes_is_asked(const struct xd_stripes *s, size_t stripe);

/* Takes out a run that is stored, and begins within `r`; of that depot, or of any
 * (XD_STORED).  False: there is none. */
bool xd_stripes_take(struct xd_stripes *s, size_t stripe, unsigned depot,
                     struct xd_range r, struct xd_coded_run *out);

/* Run number *i of those that are stored, or one behind it; false: there is none. */
bool xd_stripes_next_run(const struct xd_stripes *s, size_t stripe, size_t *i,
                         struct xd_coded_run *out);

/* ---- late shards ---- */

/* So long a stripe waits for its last shards, where it has parity for all of them:
 * then they are late, and depots with parity count as theirs. */
#define XD_STRIPES_LATE XD_SECOND

/* More of the stripe is there, or parity in its place.  Errors: NOMEM. */
int xd_stripes_look(struct xd_stripes *s, size_t stripe, xd_usec now);

/* A stripe whose last shards are late, each once as a rule; XD_NO_STRIPE: none is
 * before *out_at. */
size_t xd_stripes_next_late(struct xd_stripes *s, xd_usec now, xd_usec *out_at);

/* From `number` on, the first shard of data that is not there, nor parity in its
 * place; false: there is none. */
bool xd_stripes_next_lacking(const struct xd_stripes *s, size_t stripe,
                             unsigned *number, struct xd_range *out);

/* ---- decoding ---- */

/* Whether the stripe can be decoded: what of it is not stored as data is as parity,
 * and what pieces of it can be proved without that is. */
bool xd_stripes_is_ready(const struct xd_stripes *s, size_t stripe);

/* If it can it is to be.  Errors: NOMEM. */
int xd_stripes_put_ready(struct xd_stripes *s, size_t stripe);

/* Whether some may be, and one that is to be decoded now; XD_NO_STRIPE: none is. */
bool xd_stripes_has_ready(const struct xd_stripes *s);
size_t xd_stripes_take_ready(struct xd_stripes *s);

/* Positions from `begin` on where the same shards are there. */
struct xd_stripe_step {
    uint64_t begin, end;
    unsigned present[XD_SHARDS_MAX]; /* what lies in the place of each shard of
                                        data: it, or parity */
    unsigned lost[XD_SHARDS_MAX];    /* those that are to be made, */
    unsigned n_lost;                 /* so many */
};

/* The step that begins at that position of a stripe; false: it ends there. */
bool xd_stripes_next_step(const struct xd_stripes *s, size_t stripe,
                          uint64_t begin, struct xd_stripe_step *out);

/* Whether some of that shard of data is to be decoded. */
bool xd_stripes_is_coded(const struct xd_stripes *s, size_t stripe,
                         unsigned number);

/* Whether all of a shard of parity lies in the place of that shard of data, from
 * one depot: then it can be proved by its hash. */
bool xd_stripes_is_whole(const struct xd_stripes *s, size_t stripe,
                         unsigned number, struct xd_coded_run *out);

#endif
