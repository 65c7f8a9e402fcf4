/* SPDX-License-Identifier: MIT */
/*
 * The state machine of a download: its phases, the events that end them, and
 * the actions that follow.
 *
 *     phase    event       next phase
 *     -------  ----------  -------------------------------------------------
 *     NEW      STARTED     PROBE if the size is unknown; else OPEN if there is
 *                          a file to open; else FETCH
 *     PROBE    SIZED       OPEN if there is a file to open; else FETCH
 *     OPEN     OPENED      FETCH
 *     FETCH    COMPLETE    CHECK if there is anything to check; else FINISH
 *              RESTART     STOP
 *     STOP     IDLE        FETCH for a round SINGLE_ANSWER, REFETCH for a
 *                          round REPAIR
 *     REFETCH  COMPLETE    COMPARE
 *              RESTART     STOP
 *     COMPARE  REPLACED    CHECK
 *              RESTART     STOP
 *     CHECK    MATCHED     FINISH
 *              DISCARDED   FETCH
 *              RESTART     STOP
 *     FINISH   ENDED       END
 *     FAIL     ENDED       END
 *
 * FAILED leads from every phase before FAIL to FAIL.  Exception: in FINISH, a
 * cancel is ignored unless the output is a pipe.
 *
 * Events that were under way when the download failed are ignored in FAIL and
 * END: OPENED, RESTART, REPLACED, DISCARDED and FAILED.  Any other event that
 * the table does not have for a phase is an assertion failure.
 *
 * Pure.
 * Threads: not thread-safe; guarded by its owner's lock.
 */
#ifndef XD_SESSION_SESSION_H
#define XD_SESSION_SESSION_H

#include <stdbool.h>

#include "base/line.h"
#include "base/time.h"
#include "sched/sched.h"
#include "sched/size_probe.h"

enum xd_phase {
    XD_PHASE_NEW,
    XD_PHASE_PROBE, /* asking depots for the size */
    XD_PHASE_OPEN,  /* the keeper opens the file and its journal */
    XD_PHASE_FETCH, /* the scheduler decides */
    XD_PHASE_STOP,  /* another round begins when no request is left */
    /* the scheduler fetches the suspect's bytes from other depots */
    XD_PHASE_REFETCH,
    /* the keeper compares the fetched bytes with the suspect's */
    XD_PHASE_COMPARE,
    XD_PHASE_CHECK,  /* the keeper hashes the file, or the rest of it */
    XD_PHASE_FINISH, /* every byte has arrived; the keeper finishes */
    XD_PHASE_FAIL,   /* the threads are ending */
    XD_PHASE_END
};

/* A round with its own scheduler, started when no request is left. */
struct xd_session_round {
    enum {
        /* fetches the whole file from `depot` in one response */
        XD_ROUND_SINGLE_ANSWER,
        XD_ROUND_REPAIR /* fetches stored bytes again, from other depots */
    } kind;
    unsigned depot;
};

enum xd_session_event_kind {
    XD_SESSION_STARTED,
    XD_SESSION_SIZED,    /* the size is known, or no depot knows it */
    XD_SESSION_OPENED,   /* the file was opened, and its contents are known */
    XD_SESSION_COMPLETE, /* every byte was accepted */
    XD_SESSION_RESTART,  /* a round is needed */
    XD_SESSION_IDLE,     /* no request is left */
    /* other depots sent different bytes, and these are now in the file */
    XD_SESSION_REPLACED,
    XD_SESSION_DISCARDED, /* some bytes are missing again */
    XD_SESSION_MATCHED,   /* the file is right */
    XD_SESSION_FAILED,
    XD_SESSION_ENDED /* all threads have ended, or the wait for them timed
                        out */
};

struct xd_session_event {
    enum xd_session_event_kind kind;
    union {
        bool is_size_known;    /* for STARTED */
        bool is_to_be_checked; /* for COMPLETE */
        /* for FAILED: true if it was canceled, false after an error */
        bool is_cancel;
        struct xd_session_round round; /* for RESTART */
    };
};

enum xd_session_action_kind {
    XD_SESSION_NOTHING,
    /* Actions that follow an event. */
    XD_SESSION_DECIDE, /* call xd_session_next() */
    /* replace `sched` by a new scheduler for `round`, then call
     * xd_session_next() */
    XD_SESSION_BEGIN,
    /* Wake the keeper.  It owes an event: OPENED in phase OPEN; REPLACED or
     * RESTART in COMPARE; MATCHED, DISCARDED or RESTART in CHECK; or FAILED. */
    XD_SESSION_KEEP,
    /* the download is over: wake every thread, and report ENDED when they have
     * ended */
    XD_SESSION_LEAVE,
    /* Actions returned by xd_session_next(). */
    /* Carry out `order` of the scheduler or the size probe.  After FINISH,
     * report SIZED (of the size probe) or COMPLETE, when it is true; after
     * FAIL, report FAILED unless the bytes can be got in another way. */
    XD_SESSION_OBEY,
    XD_SESSION_REST,  /* the network is down: decide again at `until` */
    XD_SESSION_STOP,  /* the network is down: `order` stops a request */
    XD_SESSION_DOUBT, /* the network may be down: ping depots */
    /* the network has been down for `silent`: report FAILED */
    XD_SESSION_LOSE,
    /* stop every request, and report IDLE when none is left */
    XD_SESSION_STOP_ALL,
};

struct xd_session_action {
    enum xd_session_action_kind kind;
    union {
        struct xd_session_round round; /* for BEGIN */
        struct xd_sched_action order;  /* for OBEY and STOP */
        xd_usec until;                 /* for REST */
        xd_usec silent;                /* for LOSE */
    };
};

/* Zeroed by the caller before it sets the fields below; then the phase is
 * NEW. */
struct xd_session {
    /* Set by the caller. */
    bool has_file; /* open a file before fetching */
    /* the output is a pipe: bytes are passed on until the end, so the download
     * can be canceled until then */
    bool is_pipe;
    bool can_ping;         /* depots can be pinged */
    xd_usec silence;       /* time without data after which a request fails */
    bool is_silence_exact; /* `silence` does not grow with queueing delay */

    /* Created by the caller, released by xd_session_fini(). */
    struct xd_line *line; /* NULL: outages are not detected */
    /* NULL if the size is known; the caller frees it, and sets it to NULL, when
     * it reports SIZED */
    struct xd_size_probe *size_probe;
    /* Made before the first decision in FETCH, and replaced at each BEGIN.  If
     * it and size_probe are NULL, nothing is wanted (the file is empty), and
     * the order is FINISH. */
    struct xd_sched *sched;

    /* Private. */
    enum xd_phase phase;
    struct xd_session_round round; /* STOP: the next round */
};

/* Handles an event.  Returns DECIDE, BEGIN, KEEP, LEAVE or NOTHING, which the
 * caller carries out.  `round` is valid only for BEGIN. */
struct xd_session_action xd_session_step(struct xd_session *s,
                                         const struct xd_session_event *event);

/*
 * Returns what to do now.  Call again until it returns NOTHING, REST, LOSE or
 * STOP_ALL, or an order WAIT, FINISH or FAIL.  `clock` is the scheduler's time,
 * which stands still during pauses; times in actions refer to `now`.  Call
 * it again after each event of the scheduler, the size probe or the line.
 */
struct xd_session_action xd_session_next(struct xd_session *s, xd_usec now,
                                         xd_usec clock);

/* Returns how long a request may be silent. */
xd_usec xd_session_silence(const struct xd_session *s, xd_usec now);

/* Frees `line`, `size_probe` and `sched`, which may be NULL. */
void xd_session_fini(struct xd_session *s);

/* Returns whether all bytes have arrived or the download has failed. */
static inline bool xd_session_is_over(const struct xd_session *s)
{
    return s->phase >= XD_PHASE_FINISH;
}

static inline bool xd_session_is_running(const struct xd_session *s)
{
    return s->phase > XD_PHASE_NEW && s->phase < XD_PHASE_FINISH;
}

#endif
