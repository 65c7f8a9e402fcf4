/*
 * Without a hash depots are held against each other.
 *
 *     workers:  what comes of a sample (jury.h) is a voice in its case; a copy
 *               of what another depot brought is held against that
 *     sampler:  a thread that asks other depots for those few ranges, while
 *               the download's own request for them is in flight, until two have
 *               delivered each; when two differ, until most agree
 *
 * A depot in the minority is not used again, and what it delivered is fetched
 * from others; a reader that has some of that already is informed (given.h).
 * Without a majority the download fails as CORRUPT and names the depots that
 * differed.
 *
 * In a repair (repair.h) what the suspect delivered is compared with what others
 * deliver instead: at the first difference others are asked likewise, and the
 * depot in the minority is suspected.
 *
 * Samples are asked of depots that delivered bytes, and of others only where
 * there is no second one.  A depot that failed to send one is not asked for
 * another.  A complete
 * file, and a reader that was given all of it, wait for the last ones.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_SAMPLER_H
#define XD_ENGINE_SAMPLER_H

#include <stdbool.h>

#include "base/time.h"
#include "engine/trust/jury.h"
#include "transfer/runner.h"
#include "os/thread.h"

struct xd_engine;
struct xd_error;

/* For a depot that answered a moment ago; no end waits longer for a sample. */
#define XD_SAMPLER_WAIT (2 * XD_SECOND)

/* The samples, and disputes about other bytes. */
#define XD_CASES_MAX (2 * XD_SAMPLES_MAX)

/* For a validator and its NUL. */
#define XD_SAMPLER_VALIDATOR_BYTES 200

struct xd_sampler {
    /* Constant once what is wanted is known. */
    bool is_on; /* samples are asked for */

    struct xd_cond news; /* the thread: a voice was heard, or the end */

    /* Guarded by lock. */
    struct xd_case cases[XD_CASES_MAX];
    size_t n;
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
    enum xd_verdict verdict;
};

/* Errors: NOMEM.  A zeroed struct needs no fini(). */
int xd_sampler_init(struct xd_sampler *s);
/* No thread may run any more. */
void xd_sampler_fini(struct xd_sampler *s);
/* Ends and joins the thread.  Called without the lock, at the end of all. */
void xd_sampler_join(struct xd_engine *e);

/* Once what is wanted and what proves it are known. */
void xd_sampler_start_locked(struct xd_engine *e);

/* `depot` has `data` for `range`, of which nothing is claimed for it yet.  May
 * release the lock. */
void xd_sampler_saw_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range, const unsigned char *data);

/* Every byte is in.  True: it must wait for a sample, until wait_until at
 * most. */
bool xd_sampler_holds_locked(struct xd_engine *e);

/* Whether a sample is asked for, or will be. */
bool xd_sampler_is_pending_locked(struct xd_engine *e);

/* The download is over: the thread leaves. */
void xd_sampler_wake_locked(struct xd_engine *e);

#endif
