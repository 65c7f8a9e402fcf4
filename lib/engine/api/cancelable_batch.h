/* SPDX-License-Identifier: MIT */
/*
 * A batch as a set of options wants it, which the cancel of that set ends.
 *
 * The requests of a run that was ended early may take long to go away, as with a
 * name server that does not answer (xd_transport_stop()).  So the batch
 * is apart from what it asks for, and outlives the call that made it: the
 * cancel's thread releases it.
 */
#ifndef XD_ENGINE_CANCELABLE_BATCH_H
#define XD_ENGINE_CANCELABLE_BATCH_H

#include "base/time.h"
#include "engine/options.h"
#include "os/cancel.h"
#include "transfer/batch.h"

/* Of thousands of URLs most of which are silent, those that have not been asked
 * so long after the first answer are left out: what has answered by then is
 * enough to go on with. */
#define XD_LONGEST_TURN (5 * XD_SECOND)

struct xd_cancelable_batch {
    struct xd_batch *batch;
    unsigned n_slots; /* requests at a time */
    xd_usec until; /* as max-time has it, from new() on; XD_NEVER: for ever */

    /* Its own. */
    struct xd_options options;
    struct xd_cancel_hook hook, cleanup;
};

/* For runs of at most `n_requests`.  `o` may be NULL: the defaults.
 * Errors: NOMEM; IO, for a file that the options name. */
int xd_cancelable_batch_new(struct xd_cancelable_batch **out,
                            const struct xd_options *o, size_t n_requests,
                            struct xd_error *err);

/* Instead of end(): it lives until free(), and nothing is canceled by the
 * options any more. */
void xd_cancelable_batch_keep(struct xd_cancelable_batch *a,
                              const struct xd_options *o);
void xd_cancelable_batch_free(void *a);

/* Release it, after runs that have returned `rc`, with `o` as new() had it.
 * Returns CANCELED if they were canceled, else `rc`. */
int xd_cancelable_batch_end(struct xd_cancelable_batch *a,
                            const struct xd_options *o, int rc,
                            struct xd_error *err);

#endif
