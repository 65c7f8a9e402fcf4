/* SPDX-License-Identifier: MIT */
/*
 * A batch of requests that the xd_cancel of its options can end.
 *
 * Requests of a cancelled call may take long to finish, for example if a name
 * server does not answer (xd_transport_stop()).  So the batch has its own
 * memory and can outlive the call: the thread of the xd_cancel releases it.
 */
#ifndef XD_ENGINE_CANCELABLE_BATCH_H
#define XD_ENGINE_CANCELABLE_BATCH_H

#include "base/time.h"
#include "engine/options.h"
#include "os/cancel.h"
#include "transfer/batch.h"

/* How long URLs wait for their turn after the first response.  Of thousands of
 * URLs, most may be silent.  When this time is over, enough have answered, and
 * the URLs that were not requested yet are skipped. */
#define XD_LONGEST_TURN (5 * XD_SECOND)

struct xd_cancelable_batch {
    struct xd_batch *batch;
    unsigned n_slots; /* maximum number of simultaneous requests */
    xd_usec until;    /* time limit of the option max-time, counted from new();
                         XD_NEVER if there is none */

    /* private */
    struct xd_options options;
    struct xd_cancel_hook hook, cleanup;
};

/*
 * Creates a batch for runs of at most `n_requests` requests.  `o` may be NULL
 * for the defaults.
 * Errors: NOMEM; IO if a file named in the options cannot be read.
 */
int xd_cancelable_batch_new(struct xd_cancelable_batch **out,
                            const struct xd_options *o, size_t n_requests,
                            struct xd_error *err);

/* Call keep() instead of end() to keep the batch.  The options then no longer
 * cancel it, and the caller releases it with free(). */
void xd_cancelable_batch_keep(struct xd_cancelable_batch *a,
                              const struct xd_options *o);
void xd_cancelable_batch_free(void *a);

/* Releases the batch after its runs have returned `rc`.  `o` must be the
 * options passed to new().  Returns CANCELED if the runs were cancelled, else
 * `rc`. */
int xd_cancelable_batch_end(struct xd_cancelable_batch *a,
                            const struct xd_options *o, int rc,
                            struct xd_error *err);

#endif
