/* SPDX-License-Identifier: MIT */
/*
 * Compares the bytes of depots with each other if there is no hash.
 *
 *     workers:  the bytes that they receive of a sample (sample_copies.h) are
 *               one copy of it; duplicate bytes are compared with stored ones
 *     sampler:  a thread that asks other depots for these few ranges while the
 *               download's own request for them is running, until two depots
 *               have delivered each; if two differ, until most agree
 *
 * A depot in the minority is not used again, and its bytes are fetched from
 * others.  Readers that already got some of them are informed (unverified.h).
 * If there is no majority, the download fails as CORRUPT and names the depots
 * that differed.
 *
 * In a repair (repair.h), the bytes of the suspect are compared with those that
 * other depots deliver instead.  At the first difference more depots are asked,
 * and the depot in the minority is suspected.
 *
 * Which depots are compared:
 * - Samples are requested from depots that delivered bytes, and from others
 *   only if there is no second one.
 * - If a depot has no copy among the samples, its first bytes are compared with
 *   the same bytes of a near depot.
 * - In a mesh, the first bytes that each node owns are compared, too, because
 *   other nodes may have got them from it.
 * - A depot that failed to send a sample is not asked for another.
 *
 * A complete file, and a reader that has read all of it, wait for the last
 * samples.  Every function is called with engine.lock held.
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

/* Timeout for a sample from a depot that answered recently.  The end of a
 * download never waits longer for a sample. */
#define XD_SAMPLER_WAIT (2 * XD_SECOND)

/* Limits of the array of samples.  Regular samples and samples of the first
 * bytes of a depot take at most XD_OWN_SAMPLES_END, so that there is always
 * room for samples of disputed bytes. */
#define XD_OWN_SAMPLES_END (3 * XD_SAMPLES_MAX)
#define XD_COMPARED_MAX (4 * XD_SAMPLES_MAX)

/* Size of a buffer for a validator, including the NUL. */
#define XD_SAMPLER_VALIDATOR_BYTES 200

struct xd_sampler {
    /* constant once e->wanted is known */
    bool is_on;      /* samples are requested */
    size_t n_places; /* number of regular samples; they come first in the array,
                        and each needs two copies */

    struct xd_cond changed; /* the thread waits here for a copy or the end */

    /* guarded by lock */
    struct xd_sample_copies samples[XD_COMPARED_MAX];
    size_t n;
    uint64_t of_owners; /* bit i: a node owns the bytes of sample i, so they are
                           compared no matter which depot delivered them */
    uint64_t bytes_compared; /* number of duplicate bytes that were equal */
    xd_usec wait_until;      /* time limit for the last samples; 0 while bytes
                                of the file are missing */
    struct xd_range reading; /* bytes that are being read back and must not
                                change */
    bool has_thread, is_busy;
    struct xd_thread thread;
    struct xd_runner_handler handler; /* used by the thread only */
    /* NULL until the thread starts; other threads may only wake it up */
    struct xd_runner *runner;

    /* owned by the thread while it is busy */
    unsigned char buffer[XD_SAMPLE_BYTES];
    size_t filled;
    /* validator in the response, or "" */
    char validator[XD_SAMPLER_VALIDATOR_BYTES];
    struct xd_url *final_url; /* redirect target in the response, or NULL */
    uint64_t object_size;     /* size in the response, or XD_SIZE_UNKNOWN */
    enum xd_verdict verdict;
};

/* Errors: NOMEM.  A zeroed struct needs no fini(). */
int xd_sampler_init(struct xd_sampler *s);
/* Call it after the thread has ended. */
void xd_sampler_fini(struct xd_sampler *s);
/* Chooses the samples.  Call it when e->wanted and the hashes are known. */
void xd_sampler_start_locked(struct xd_engine *e);

/* Call it when all bytes have been received.  Returns true if the download must
 * wait for a sample, at most until wait_until. */
bool xd_sampler_holds_locked(struct xd_engine *e);

/* Returns true if a reader should wait for bytes of `depot`: only the hash of
 * the whole file will prove them, and no other depot has confirmed any of its
 * bytes yet.  Sets *out_until to when the reader stops waiting. */
bool xd_sampler_delays_locked(struct xd_engine *e, unsigned depot,
                              xd_usec *out_until);

/* Returns true if a sample is being requested or will be. */
bool xd_sampler_is_pending_locked(struct xd_engine *e);

/* Chooses the next sample to request, and the depot.  Returns false if there is
 * nothing to do now. */
bool xd_sampler_choose_locked(const struct xd_engine *e, size_t *out_sample,
                              unsigned *out_depot);

/* Returns true if the bytes of `depot` are compared. */
bool xd_sampler_compares_locked(const struct xd_engine *e, unsigned depot);

/* Adds `data`, which `depot` delivered for `range`, to the samples within the
 * range. */
void xd_sampler_note_locked(struct xd_engine *e, unsigned depot,
                            struct xd_range range, const unsigned char *data);

/* Adds a sample for bytes in dispute: `depot` sent `copy`, but the stored bytes
 * `kept` from `deliverer` differ. */
void xd_sampler_dispute_locked(struct xd_engine *e, struct xd_range at,
                               unsigned depot, const unsigned char *copy,
                               unsigned deliverer, const unsigned char *kept);

/* Judges the samples that have enough copies, and requests more copies of the
 * others. */
void xd_sampler_judge_locked(struct xd_engine *e);

/* received() reports that `depot` has sent all of sample `i`, refused() that it
 * failed to send a sample. */
void xd_sampler_received_locked(struct xd_engine *e, size_t i, unsigned depot,
                                const unsigned char *data);
void xd_sampler_refused_locked(struct xd_engine *e, unsigned depot);

#endif
