/*
 * A batch as a set of options wants it, which the cancel of that set ends.
 *
 * The requests of a run that was ended early may take long to go away, as with a
 * name server that does not answer (xd_transport_stop()).  So the asker
 * is apart from what it asks for, and outlives the call that made it: the
 * cancel's thread releases it.
 */
#ifndef XD_ENGINE_ASKER_H
#define XD_ENGINE_ASKER_H

#include "base/time.h"
#include "engine/options.h"
#include "os/cancel.h"
#include "transfer/batch.h"

/* Of thousands of URLs most of which are silent, those that have not been asked
 * so long after the first answer are left out: what has answered by then is
 * enough to go on with. */
#define XD_LONGEST_TURN (5 * XD_SECOND)

struct xd_asker {
    struct xd_batch *batch;
    xd_usec until; /* as max-time has it, from new() on; XD_NEVER: for ever */

    /* Its own. */
    struct xd_options options;
    struct xd_cancel_hook hook, chore;
};

/* For runs of at most `n_requests`.  `o` may be NULL: the defaults.
 * Errors: NOMEM; IO, for a file that the options name. */
int xd_asker_new(struct xd_asker **out, const struct xd_options *o,
                 size_t n_requests, struct xd_error *err);

/* Release it, after runs that have returned `rc`, with `o` as new() had it.
 * Returns CANCELED if they were canceled, else `rc`. */
int xd_asker_end(struct xd_asker *a, const struct xd_options *o, int rc,
                 struct xd_error *err);

#endif
