/* SPDX-License-Identifier: MIT */
/*
 * One download in progress: where the scheduler's decisions meet the threads
 * that carry them out.
 *
 *     worker (one per open depot)          keeper (one)
 *       take: requests from its lanes        hashes and syncs, and gives
 *       carry out: transport, sink           the finished file its name
 *       give: what came, what ended
 *              \          |          /
 *               engine.lock: scheduler, depots, ledger, statistics
 *
 * Life of a block: FETCH puts a range on a lane; its worker asks the transport,
 * gathers what comes in the lane's buffer, and flushes that: under the lock it
 * claims the bytes that no other request has, writes them without the lock, and
 * reports them.  A byte is claimed once, so a second copy can never overwrite
 * it.
 *
 * Lock order: engine.lock, then log.lock or the lock of the notifiers.  The
 * lock is never held across a transport, file I/O, the user's log function or a
 * join; a transport's wakeup() is the one call into io/ that is made under it.
 */
#ifndef XD_ENGINE_ENGINE_H
#define XD_ENGINE_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <xdownload/download.h>

#include "base/range.h"
#include "base/rate.h"
#include "engine/coded.h"
#include "engine/decide.h"
#include "engine/depots.h"
#include "engine/keeper.h"
#include "engine/options.h"
#include "engine/outage.h"
#include "engine/outputs.h"
#include "engine/pings.h"
#include "engine/readers/pipe.h"
#include "engine/readers/readers.h"
#include "engine/records.h"
#include "engine/resume.h"
#include "engine/set.h"
#include "engine/trust/repair.h"
#include "engine/trust/sampler.h"
#include "engine/trust/verify.h"
#include "engine/worker.h"
#include "io/sinks/sink.h"
#include "ledger/ledger.h"
#include "os/cancel.h"
#include "os/log.h"
#include "os/notifier.h"
#include "os/thread.h"
#include "session/session.h"
#include "transfer/budget.h"

/* Where the bytes go. */
struct xd_destination {
    /* Constant after new(), path_given after xd_download_new_in(). */
    const struct xd_output_traits *output;
    char *path;        /* of the file, or NULL */
    size_t path_given; /* its first bytes, which no manifest chose */
    bool is_bounded;   /* what no reader wants any more is dropped */

    /* Constant after start(). */
    struct xd_sink *sink;

    /* Guarded by lock. */
    struct xd_sink *target;  /* where workers write: `sink`, or: */
    struct xd_sink *scratch; /* what a repair fetches; NULL before the first */
};

/* The scheduler's clock stands still in a pause. */
struct xd_pause {
    /* Atomic: set by any thread, read by fetches. */
    atomic_bool is_on;

    /* Guarded by lock. */
    xd_usec since;  /* 0: it is not paused */
    xd_usec former; /* all former pauses together */
};

struct xd_times {
    /* Constant after start(). */
    xd_usec started;

    /* Guarded by lock. */
    xd_usec deadline; /* for the last byte; XD_NEVER: there is none */
    xd_usec ended;
};

/* Guarded by lock: what is counted for the program. */
struct xd_tally {
    uint64_t bytes_received, bytes_redundant;
    struct xd_rate rate;
};

/* A line for the user's log function, which is called after the lock is
 * released. */
struct xd_log_line {
    enum xd_log_level level;
    char *line;
    struct xd_log_line *next;
};

/* Guarded by lock: what xd_engine_unlock() has to do. */
struct xd_pending {
    bool must_decide, must_wake_readers;    /* before the lock is released, */
    struct xd_log_line *lines, **lines_end; /* and after that */
    bool must_call;                         /* the program's wakeup functions */
};

/* What is called from below, where other files' work is not known. */
struct xd_engine_hooks {
    /* Ask for decisions, and carry them out, until there are none. */
    void (*decide_locked)(struct xd_engine *e);
    /* There are other depots, and no request was made yet: a new scheduler. */
    void (*renew_locked)(struct xd_engine *e);
    /* Readers that wait look again, and the meters of all. */
    void (*wake_readers_locked)(struct xd_engine *e);
    /* Threads that are neither workers nor the keeper look at their work
     * again. */
    void (*wake_threads_locked)(struct xd_engine *e);
    /* The thread that asks for samples. */
    void *(*sampler_main)(void *engine);
};

/* What each part holds, and what guards it, stands in that part's header. */
struct xd_engine {
    /* Constant after new(). */
    const struct xd_engine_hooks *hooks;
    struct xd_options options;
    struct xd_net_context *context; /* of all its transports: `begun`'s or its
                                       own */
    struct xd_begun *begun; /* what inspection has begun of its file; or NULL.
                               Its runner is a worker's, once there is one */

    /* Atomic: those of the program, and one of each reader. */
    atomic_uint references;

    struct xd_budget budget; /* of bytes, for all its requests; any thread's */

    struct xd_cancel_hook cancel_hook, cleanup; /* os/cancel.h's own */

    struct xd_log log;
    struct xd_mutex lock;
    struct xd_cond work_ready;  /* workers: a depot to serve, or the end */
    struct xd_cond bytes_ready; /* keeper: work for it, or a thread left */
    struct xd_cond ended;       /* wait(): the phase is END */

    struct xd_destination dest;
    struct xd_set set; /* of the files, if they are many */
    struct xd_pause pause;
    struct xd_times times;
    struct xd_keeper keeper;
    struct xd_workers workers;
    struct xd_pings pings;

    /* Guarded by lock. */
    struct xd_session session;
    struct xd_error error; /* why it fails; code XD_OK: it does not */
    struct xd_depots depots;
    struct xd_range wanted; /* bytes of the file; empty until size is known */
    struct xd_decisions decisions;
    struct xd_outage outage;
    struct xd_ledger ledger;   /* what is true of every byte of the file */
    struct xd_coded coded;     /* which of them come as parity */
    struct xd_verify verify;   /* proves them */
    struct xd_resume resume;   /* what the journal says of them */
    struct xd_sampler sampler; /* what is compared when nothing is proved */
    struct xd_source_check
        *unchecked;            /* whose validators differ: validator_check.h */
    struct xd_repair repair;   /* when the whole file is wrong */
    struct xd_readers readers; /* of the file while it arrives */
    struct xd_pipe pipe;       /* what one of them writes to */
    struct xd_tally tally;
    struct xd_records records;
    struct xd_pending pending;
    struct xd_notifier notifier; /* of the download */

    struct xd_notifiers notifiers; /* with a lock of its own */
};

void xd_engine_lock(struct xd_engine *e);

/* First takes the decisions that are due, and wakes readers.  Then hands the
 * lines that were logged meanwhile to the program's log function, and calls its
 * wakeup functions. */
void xd_engine_unlock(struct xd_engine *e);

/* Something has happened that the scheduler may want to answer.  It is asked
 * once, for all that happens until the lock is released. */
static inline void xd_engine_decide_later_locked(struct xd_engine *e)
{
    e->pending.must_decide = true;
}

/* Likewise: there may be something new for readers. */
static inline void xd_engine_wake_readers_locked(struct xd_engine *e)
{
    e->pending.must_wake_readers = true;
}

/* Do now what is due before the lock is released. */
void xd_engine_settle_locked(struct xd_engine *e);

/* As xd_cond_wait_until(), after what is due and what is to be logged:
 * the caller looks again at what it waits for. */
bool xd_engine_wait_locked(struct xd_engine *e, struct xd_cond *c,
                           xd_usec until);

/* There is something new to look at. */
void xd_engine_raise_locked(struct xd_engine *e, struct xd_notifier *n);

/* Without the lock. */
void xd_engine_set_wakeup(struct xd_engine *e, struct xd_notifier *n,
                          xd_wakeup_fn *function, void *user);

/* The scheduler's clock: it stands still in pauses. */
static inline xd_usec xd_engine_clock_locked(const struct xd_engine *e)
{
    return (e->pause.since ? e->pause.since : xd_now()) - e->pause.former;
}

/* Log a line when the lock is released. */
void xd_engine_log_locked(struct xd_engine *e, enum xd_log_level level,
                          const char *format, ...) XD_PRINTF(3, 4);

/* Something has happened to the download as a whole. */
void xd_engine_step_locked(struct xd_engine *e, struct xd_session_event event);

/* End it with `error`, unless it has ended or nothing can go wrong any more. */
void xd_engine_fail_locked(struct xd_engine *e, const struct xd_error *error);
void xd_engine_fail_nomem_locked(struct xd_engine *e);

/* End it on request of the program.  Without the lock. */
void xd_engine_cancel(struct xd_engine *e);

/* It is complete or has failed, and no worker will serve it any more; one that
 * a disk or a name server holds up may still be about to leave. */
void xd_engine_end_locked(struct xd_engine *e);

/* Every worker and the keeper look at their work again. */
void xd_engine_wake_all_locked(struct xd_engine *e);

static inline bool xd_engine_is_over_locked(const struct xd_engine *e)
{
    return xd_session_is_over(&e->session);
}

/* Whether bytes are dropped that no reader wants any more. */
static inline bool xd_engine_is_bounded(const struct xd_engine *e)
{
    return e->dest.is_bounded;
}

/* The byte of the file at a position of a reader. */
static inline uint64_t xd_engine_byte_at(const struct xd_engine *e,
                                         uint64_t position)
{
    uint64_t begin = e->wanted.begin;

    return position < UINT64_MAX - begin ? begin + position : UINT64_MAX;
}

/* The end of the bytes from `from` on that may be read. */
static inline uint64_t xd_engine_readable_to_locked(const struct xd_engine *e,
                                                    uint64_t from)
{
    return xd_ledger_first_gap(&e->ledger, XD_BYTES_READABLE,
                               (struct xd_range){from, e->wanted.end});
}

#endif
