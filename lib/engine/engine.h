/* SPDX-License-Identifier: MIT */
/*
 * One download in progress: it connects the scheduler, which decides, with the
 * threads that carry the decisions out.
 *
 *     worker (one per open depot)          keeper (one)
 *       take: requests from its lanes        hashes and syncs, and renames
 *       carry out: transport, sink           the complete file
 *       give: bytes received, requests ended
 *              \          |          /
 *               engine.lock: scheduler, depots, ledger, statistics
 *
 * Life of a block: the scheduler assigns a range to a lane.  The worker
 * requests it from the depot and collects the response in the buffer of the
 * lane.  To flush the buffer, the worker takes the lock and claims the bytes
 * that no other request has claimed, writes them without the lock, and reports
 * them as written.  Each byte is claimed once, so duplicate bytes never
 * overwrite anything.
 *
 * Lock order: engine.lock, then log.lock or the lock of the notifiers.  The
 * lock is never held across a transport, file I/O, the user's log function or
 * a join.  The one exception is a transport's wakeup(), which is called with
 * the lock held.
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
#include "engine/trust/junctions.h"
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

/* The destination of the bytes. */
struct xd_destination {
    /* constant after new(); path_given after xd_download_new() */
    const struct xd_output_traits *output;
    char *path;        /* path of the file, or NULL */
    size_t path_given; /* length of the part of `path` that the program chose,
                          not the manifest */
    bool is_bounded;   /* bytes are dropped when no reader needs them any
                          more */

    /* constant after start() */
    struct xd_sink *sink;

    /* guarded by lock */
    struct xd_sink *target;  /* workers write to this: `sink` or `scratch` */
    struct xd_sink *scratch; /* stores the bytes that a repair fetches again;
                                NULL before the first repair */
};

/* The scheduler's clock stops during a pause. */
struct xd_pause {
    /* atomic: set by any thread, read by fetches */
    atomic_bool is_on;

    /* guarded by lock */
    xd_usec since;  /* 0: not paused */
    xd_usec former; /* total duration of earlier pauses */
};

struct xd_times {
    /* constant after start() */
    xd_usec started;

    /* guarded by lock */
    xd_usec deadline; /* time limit for the download; XD_NEVER if there is
                         none */
    xd_usec ended;
};

/* Counters for the statistics.  Guarded by lock. */
struct xd_tally {
    uint64_t bytes_received, bytes_redundant;
    struct xd_rate rate;
};

/* A log line.  The user's log function is called after the lock is released. */
struct xd_log_line {
    enum xd_log_level level;
    char *line;
    struct xd_log_line *next;
};

/* Work for xd_engine_unlock().  Guarded by lock. */
struct xd_pending {
    bool must_decide, must_wake_readers;    /* to do before the lock is
                                               released */
    struct xd_log_line *lines, **lines_end; /* passed to the log function after
                                               the release */
    bool must_call;                         /* call the program's wakeup
                                               functions after the release */
};

/* Functions of higher layers, whose headers the engine's lower files may not
 * include. */
struct xd_engine_hooks {
    /* Asks the scheduler for decisions and carries them out, until there are
     * none. */
    void (*decide_locked)(struct xd_engine *e);
    /* Replaces the scheduler because depots were added before the first
     * request. */
    void (*renew_locked)(struct xd_engine *e);
    /* Wakes waiting readers and updates the meters of all readers. */
    void (*wake_readers_locked)(struct xd_engine *e);
    /* Wakes the threads other than workers and keeper, so that they look for
     * work. */
    void (*wake_threads_locked)(struct xd_engine *e);
    /* The function of the sampler's thread. */
    void *(*sampler_main)(void *engine);
};

/* The header of each part says what guards it. */
struct xd_engine {
    /* constant after new() */
    const struct xd_engine_hooks *hooks;
    struct xd_options options;
    struct xd_net_context *context; /* shared by all transports; belongs to
                                       `begun` if that is not NULL */
    long process; /* ID of the process that created the engine: os/exit.h */
    struct xd_begun *begun; /* the request that inspection started and passed
                               on, or NULL; a worker takes its runner */

    /* atomic: number of references, one for each reader and those of the
     * program */
    atomic_uint references;

    struct xd_budget budget; /* limit in bytes per second for all requests; used
                                by any thread */

    struct xd_cancel_hook cancel_hook, cleanup; /* used by os/cancel.h */

    struct xd_log log;
    struct xd_mutex lock;
    struct xd_cond work_ready;  /* workers wait here for a depot or the end */
    struct xd_cond bytes_ready; /* the keeper waits here for work, or for a
                                   thread to leave */
    struct xd_cond ended;       /* wait() waits here for the phase END */

    struct xd_destination dest;
    struct xd_set set; /* the files of a download of several files */
    struct xd_pause pause;
    struct xd_times times;
    struct xd_keeper keeper;
    struct xd_workers workers;
    struct xd_pings pings;

    /* guarded by lock */
    struct xd_session session;
    struct xd_error error; /* why the download fails; code XD_OK if it does
                              not */
    struct xd_depots depots;
    struct xd_range wanted; /* bytes of the file to fetch; empty until the size
                               is known */
    struct xd_decisions decisions;
    struct xd_outage outage;
    struct xd_ledger ledger;       /* state of each byte of the file */
    struct xd_coded coded;         /* stripes that are fetched as parity */
    struct xd_verify verify;       /* hashes of pieces and of the whole file */
    struct xd_resume resume;       /* the journal, for later runs */
    struct xd_sampler sampler;     /* compares samples of several depots if
                                      there is no hash */
    struct xd_junctions junctions; /* compares adjacent responses of one
                                      depot */
    struct xd_source_check *unchecked; /* sources whose responses had different
                                          validators: validator_check.h */
    struct xd_repair repair;   /* used if the hash of the whole file is wrong */
    struct xd_readers readers; /* readers of the file while it arrives */
    struct xd_pipe pipe;       /* a reader that writes to a descriptor */
    struct xd_tally tally;
    struct xd_records records;
    struct xd_pending pending;
    struct xd_notifier notifier; /* for changes of the download as a whole */

    struct xd_notifiers notifiers; /* has its own lock */
};

void xd_engine_lock(struct xd_engine *e);

/* Carries out the decisions that are due, wakes readers and releases the lock.
 * Then calls the program's log function for the lines logged meanwhile, and its
 * wakeup functions. */
void xd_engine_unlock(struct xd_engine *e);

/* Requests a call of decide_locked() before the lock is released.  One call
 * serves all requests until then. */
static inline void xd_engine_decide_later_locked(struct xd_engine *e)
{
    e->pending.must_decide = true;
}

/* Requests that waiting readers are woken before the lock is released. */
static inline void xd_engine_wake_readers_locked(struct xd_engine *e)
{
    e->pending.must_wake_readers = true;
}

/* Carries out due decisions and wakes readers now, as xd_engine_unlock() would
 * before it releases the lock. */
void xd_engine_settle_locked(struct xd_engine *e);

/* Works like xd_cond_wait_until(), but first carries out pending work and
 * writes pending log lines.  If there was any such work, returns without
 * waiting, so that the caller checks its condition again. */
bool xd_engine_wait_locked(struct xd_engine *e, struct xd_cond *c,
                           xd_usec until);

/* Raises the notifier, and calls its wakeup function after the lock is
 * released. */
void xd_engine_raise_locked(struct xd_engine *e, struct xd_notifier *n);

/* Sets the program's wakeup function of a notifier.  Call it without the
 * lock. */
void xd_engine_set_wakeup(struct xd_engine *e, struct xd_notifier *n,
                          xd_wakeup_fn *function, void *user);

/* Fails with STATE if called by a wakeup function of the engine.  That function
 * runs on a thread of the engine, so waiting there would never end. */
int xd_engine_may_wait(struct xd_engine *e, struct xd_error *err);

/* Returns the time of the scheduler's clock, which stops during pauses. */
static inline xd_usec xd_engine_clock_locked(const struct xd_engine *e)
{
    return (e->pause.since ? e->pause.since : xd_now()) - e->pause.former;
}

/* Logs a line when the lock is released.  If memory runs out, the line is
 * lost. */
void xd_engine_log_locked(struct xd_engine *e, enum xd_log_level level,
                          const char *format, ...) XD_PRINTF(3, 4);

/* Passes an event to the state machine of the session and carries out its
 * action. */
void xd_engine_step_locked(struct xd_engine *e, struct xd_session_event event);

/* Fails the download with `error`.  Does nothing if it has ended, or if `error`
 * is a cancel and the file is complete. */
void xd_engine_fail_locked(struct xd_engine *e, const struct xd_error *error);
void xd_engine_fail_nomem_locked(struct xd_engine *e);

/* Cancels the download.  Call it without the lock. */
void xd_engine_cancel(struct xd_engine *e);

/* Ends the download.  It is complete or has failed, and no worker starts a
 * request any more.  A worker that is blocked by a disk or a name server may
 * still be running. */
void xd_engine_end_locked(struct xd_engine *e);

/* Wakes all threads, so that they look for work. */
void xd_engine_wake_all_locked(struct xd_engine *e);

static inline bool xd_engine_is_over_locked(const struct xd_engine *e)
{
    return xd_session_is_over(&e->session);
}

/* Returns true if bytes that no reader needs any more are dropped. */
static inline bool xd_engine_is_bounded(const struct xd_engine *e)
{
    return e->dest.is_bounded;
}

/* Returns the byte of the file at `position` of a reader. */
static inline uint64_t xd_engine_byte_at(const struct xd_engine *e,
                                         uint64_t position)
{
    uint64_t begin = e->wanted.begin;

    return position < UINT64_MAX - begin ? begin + position : UINT64_MAX;
}

/* Returns the end of the readable bytes that start at `from`. */
static inline uint64_t xd_engine_readable_to_locked(const struct xd_engine *e,
                                                    uint64_t from)
{
    return xd_ledger_first_gap(&e->ledger, XD_BYTES_READABLE,
                               (struct xd_range){from, e->wanted.end});
}

#endif
