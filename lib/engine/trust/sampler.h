/* SPDX-License-Identifier: MIT */
/*
 * Without a hash the bytes of depots are compared with each other.
 *
 *     workers:  what is received of a sample (sample_copies.h) is one copy of
 *               it; a copy of what another depot delivered is compared with it
 *     sampler:  a thread that asks other depots for those few ranges, while
 *               the download's own request for them is in flight, until two have
 *               delivered each; when two differ, until most agree
 *
 * A depot in the minority is not used again, and what it delivered is fetched
 * from others; a reader that has some of that already is informed
 * (unverified.h).  Without a majority the download fails as CORRUPT and names
 * the depots that differed.
 *
 * In a repair (repair.h) what the suspect delivered is compared with what
 * others deliver instead: at the first difference others are asked likewise,
 * and the depot in the minority is suspected.
 *
 * Samples are asked of depots that delivered bytes, and of others only where
 * there is no second one.  Two equal copies of every sample say nothing of a
 * third depot: the first bytes of each one that has no copy among them are
 * compared, too, with what a near depot has; and the first bytes of which each node of
 * a mesh is the owner, which others may have had from it.  A depot that failed to send one is
 * not asked for another.  A complete file, and a reader that has read all of it,
 * wait for the last ones.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_SAMPLER_H
#define XD_ENGINE_SAMPLER_H

#include <stdbool.h>

#include "base/time.h"
#include "engine/trust/sample_copies.h"
#include "os/thread.h"
#include "transfer/runner.h"

struct xd_engine;
struct xd_error;

/* For a depot that answered a moment ago; no end waits longer for a sample. */
#define XD_SAMPLER_WAIT (2 * XD_SECOND)

/* The samples, then those of the first bytes of each depot, and disputes about
 * other bytes, for which there is always room. */
#define XD_OWN_SAMPLES_END (3 * XD_SAMPLES_MAX)
#define XD_COMPARED_MAX (4 * XD_SAMPLES_MAX)

/* For a validator and its NUL. */
#define XD_SAMPLER_VALIDATOR_BYTES 200

struct xd_sampler {
    /* Constant once what is wanted is known. */
    bool is_on;      /* samples are asked for */
    size_t n_places; /* the first samples: for each, two copies */

    struct xd_cond changed; /* the thread: a copy was received, or the end */

    /* Guarded by lock. */
    struct xd_sample_copies samples[XD_COMPARED_MAX];
    size_t n;
    uint64_t of_owners; /* bit i: sample i is of what a node of a mesh owns, and
                           compared, whichever depot has delivered it */
    uint64_t bytes_compared; /* came a second time, and were the same */
    xd_usec wait_until;      /* for the last ones; 0: bytes are missing */
    bool has_thread, is_busy;
    struct xd_thread thread;
    struct xd_runner_handler handler; /* the thread's own */
    struct xd_runner *runner; /* NULL before has_thread; the thread's own,
                                 wakeup() by any */

    /* Owned by the thread while it is busy. */
    unsigned char buffer[XD_SAMPLE_BYTES];
    size_t filled;
    char validator[XD_SAMPLER_VALIDATOR_BYTES]; /* of the answer, or "" */
    struct xd_url *final_url;                   /* likewise, or NULL */
    enum xd_verdict verdict;
};

/* Errors: NOMEM.  A zeroed struct needs no fini(). */
int xd_sampler_init(struct xd_sampler *s);
/* No thread may run any more. */
void xd_sampler_fini(struct xd_sampler *s);
/* Once what is wanted and what proves it are known. */
void xd_sampler_start_locked(struct xd_engine *e);

/* Every byte is in.  True: it must wait for a sample, until wait_until at
 * most. */
bool xd_sampler_holds_locked(struct xd_engine *e);

/* Whether a sample is asked for, or will be. */
bool xd_sampler_is_pending_locked(struct xd_engine *e);

/* What to ask, and of which depot; false: nothing now. */
bool xd_sampler_choose_locked(const struct xd_engine *e, size_t *out_sample,
                              unsigned *out_depot);

/* Whether the bytes of `depot` are compared. */
bool xd_sampler_compares_locked(const struct xd_engine *e, unsigned depot);

/* `depot` has `data` for `range`: it is added to the samples within that. */
void xd_sampler_note_locked(struct xd_engine *e, unsigned depot,
                            struct xd_range range, const unsigned char *data);

/* A sample of its own for bytes of which the copy of `depot` differs from the
 * stored one, which `deliverer` sent. */
void xd_sampler_dispute_locked(struct xd_engine *e, struct xd_range at,
                               unsigned depot, const unsigned char *copy,
                               unsigned deliverer, const unsigned char *kept);

/* Judges the samples that can be judged, and asks for more copies of others. */
void xd_sampler_judge_locked(struct xd_engine *e);

/* `depot` has sent all of sample `i`, or failed to: it is judged. */
void xd_sampler_received_locked(struct xd_engine *e, size_t i, unsigned depot,
                                const unsigned char *data);
void xd_sampler_refused_locked(struct xd_engine *e, unsigned depot);

#endif
