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
#include "base/text.h"
#include "engine/depot.h"
#include "engine/options.h"
#include "engine/readers/pipe.h"
#include "engine/readers/readers.h"
#include "engine/records.h"
#include "engine/resume.h"
#include "engine/trust/piece_hash.h"
#include "engine/trust/repair.h"
#include "engine/trust/sampler.h"
#include "engine/trust/verify.h"
#include "io/pinger.h"
#include "io/sinks/sink.h"
#include "io/transport.h"
#include "ledger/ledger.h"
#include "os/cancel.h"
#include "os/log.h"
#include "os/notifier.h"
#include "os/routes.h"
#include "os/thread.h"
#include "session/intake.h"
#include "session/session.h"
#include "transfer/budget.h"
#include "transfer/runner.h"

enum xd_output_kind {
    XD_OUTPUT_FILE,
    XD_OUTPUT_PIPE,  /* one reader writes it to a descriptor: readers/pipe.h */
    XD_OUTPUT_SOURCE /* the program's readers have it: readers/ */
};

/* One request at a time, on one depot. */
struct xd_lane {
    /* Guarded by lock. */
    enum { LANE_FREE, LANE_ASKED, LANE_RUNNING } state;
    unsigned fetch;        /* the scheduler's name for it */
    struct xd_range range; /* bytes of the file */
    uint64_t end;          /* the end that the scheduler wants by now */
    bool stop;             /* the scheduler took it back */
    bool owns_connection;  /* io/transport.h */
    bool is_distrusted;    /* what still comes must not count */
    unsigned outages;      /* of the line, when it was asked for */
    enum xd_fetch_reason reason;
    unsigned number; /* of those of its worker */
    xd_usec queued;  /* when it was asked for */

    /* Owned by the worker thread while RUNNING. */
    struct xd_depot_source *source; /* NULL: the depot has none any more */
    const struct xd_url *url;       /* the source's, or where that led to */
    const char *if_range;           /* the source's validator, or NULL */
    uint64_t odd_validator;         /* the hash of one that was refused, or 0 */
    struct xd_url *final_url;       /* where `url` led to now, or NULL */
    enum xd_reach reach;            /* of `url`, then of final_url */
    bool start_now, stop_now;       /* what to tell the runner */
    bool asks_whole;                /* the depot knows no ranges */
    bool takes_encoded, wants_size; /* see io/transport.h */
    struct xd_piece_hash piece_hash;
    unsigned char *buffer;
    struct xd_intake in;
    uint64_t redundant;
    xd_usec started, first_byte;
    bool is_over; /* the runner has reported `outcome` */
    bool waits;   /* what that means is being found out: validator_check.h */
    struct xd_outcome outcome;
    bool is_refused;      /* by us: `outcome` stands already */
    bool may_be_page;     /* its first bytes decide: trust/pages.h */
    uint64_t object_size; /* as its head said */
};

/* A thread that serves one depot after another. */
struct xd_worker {
    /* Constant after start. */
    struct xd_engine *engine;
    struct xd_thread thread;
    struct xd_runner_handler handler;
    struct xd_runner *runner; /* the thread's own; wakeup() by any */
    struct xd_lane *lanes;
    unsigned n_lanes;
    size_t buffer_bytes; /* of each */

    /* Guarded by lock. */
    struct xd_depot *depot;  /* NULL: nothing to serve */
    struct xd_depot *served; /* the last one: its connections are still open */
};

/* A line for the user's log function, which is called after the lock is
 * released. */
struct xd_log_line {
    enum xd_log_level level;
    char *line;
    struct xd_log_line *next;
};

/* What is called from below, where other files' work is not known. */
struct xd_engine_hooks {
    /* Ask for decisions, and carry them out, until there are none. */
    void (*decide_locked)(struct xd_engine *e);
    /* Readers that wait look again, and the meters of all. */
    void (*wake_readers_locked)(struct xd_engine *e);
    /* Threads that are neither workers nor the keeper look at their work
     * again. */
    void (*wake_threads_locked)(struct xd_engine *e);
    /* The thread that asks for samples. */
    void *(*sampler_main)(void *engine);
};

struct xd_engine {
    /* Constant after new(), path_given after xd_download_new_in(). */
    const struct xd_engine_hooks *hooks;
    struct xd_options options;
    enum xd_output_kind output;
    char *path;                 /* of the file, or NULL */
    size_t path_given;          /* its first bytes, which no manifest chose */
    struct xd_commons *commons; /* of all its transports */
    unsigned max_pings; /* at a time; 0: there are no descriptors for any */

    /* Atomic: those of the program, and one of each reader. */
    atomic_uint references;

    /* Atomic: set by any thread, read by fetches. */
    atomic_bool is_paused;

    struct xd_budget budget; /* of bytes, for all its requests; any thread's */

    /* Constant after start(). */
    struct xd_sink *sink;
    struct xd_thread keeper;
    bool has_keeper;
    xd_usec started;

    struct xd_cancel_hook cancel_hook, cleanup; /* os/cancel.h's own */

    struct xd_log log;
    struct xd_mutex lock;
    struct xd_cond work_ready;  /* workers: a depot to serve, or the end */
    struct xd_cond bytes_ready; /* keeper: work for it, or a thread left */
    struct xd_cond ended;       /* wait(): the phase is END */

    /* Guarded by lock. */
    struct xd_session session;
    struct xd_error error; /* why it fails; code XD_OK: it does not */
    struct xd_depots depots;
    struct xd_range wanted; /* bytes of the file; empty until size is known */
    bool is_line_down;      /* was said: since line_down_at */
    xd_usec line_down_at;
    struct xd_routes routes;
    size_t doubt_next;         /* the depot to be pinged when in doubt */
    struct xd_ledger ledger;   /* what is true of every byte of the file */
    struct xd_verify verify;   /* proves them */
    struct xd_resume resume;   /* what the journal says of them */
    struct xd_sampler sampler; /* what is compared when nothing is proved */
    struct xd_depot_source
        *unchecked;            /* whose validators differ: validator_check.h */
    struct xd_repair repair;   /* when the whole file is wrong */
    struct xd_readers readers; /* of the file while it arrives */
    struct xd_pipe pipe;       /* what one of them writes to */
    struct xd_sink *target;    /* where workers write: `sink`, or a scratch */
    uint64_t window;           /* for each reader: so far ahead bytes may lie */
    uint64_t least_window;     /* two pieces */
    uint64_t handed_out; /* all before it has left for good: it was read by
                              the pipe, or of a file of unknown size */
    struct xd_worker **workers;
    unsigned n_workers, max_workers;
    unsigned n_serving;       /* workers that have not left yet */
    struct xd_pinger *pinger; /* NULL: nothing was pinged yet */
    struct xd_lane **fetches; /* by the scheduler's name */
    size_t n_fetches;
    xd_usec until;    /* when the scheduler wants to be asked again */
    xd_usec deadline; /* for the last byte; XD_NEVER: there is none */
    uint64_t bytes_received, bytes_redundant;
    struct xd_rate rate;
    xd_usec end_time;
    struct xd_records records;
    bool is_decision_due, are_readers_due; /* before the lock is released */
    struct xd_log_line *log_lines, **log_lines_end;
    struct xd_notifier notifier; /* of the download */
    bool has_wakeups;            /* functions of the program are due */
    xd_usec paused_at;           /* 0: it is not paused */
    xd_usec paused_time;         /* all former pauses together */

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
    e->is_decision_due = true;
}

/* Likewise: there may be something new for readers. */
static inline void xd_engine_wake_readers_locked(struct xd_engine *e)
{
    e->are_readers_due = true;
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
    return (e->paused_at ? e->paused_at : xd_now()) - e->paused_time;
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
bool xd_engine_is_bounded(const struct xd_engine *e);

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
