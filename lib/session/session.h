/* SPDX-License-Identifier: MIT */
/*
 * One download as a state machine: which phase it is in, which event ends that,
 * and what is to be done then.
 *
 *     NEW --STARTED--> PROBE --SIZED--> OPEN --OPENED--> FETCH --COMPLETE--+
 *          (PROBE only where the size is unknown,        ^  |              |
 *           OPEN only where there is a file)      round: |  | RESTART      |
 *                                                 single |  v              |
 *                                                answer  +-STOP<--RESTART--+
 *                                                         | ^              |
 *                                           IDLE, repair: v | RESTART      |
 *     END <--ENDED-- FINISH              REFETCH -----------+              |
 *                      ^                     | COMPLETE     |              |
 *                      |                     v              |              |
 *                      |                 COMPARE -----------+              |
 *                      |                     | REPLACED     |              |
 *                      |                     v              |              |
 *                      +------MATCHED------ CHECK <---------+--------------+
 *                                            | DISCARDED
 *                                            +----------> FETCH
 *
 * A file that nothing is to be proved of goes from FETCH to FINISH.  FAILED leads
 * from every phase before the end to FAIL, and from there ENDED to END.
 *
 * Pure.  An event that cannot happen in a phase is an assertion; one that was
 * under way when the download failed is ignored.
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
    XD_PHASE_PROBE,   /* depots are asked for the size */
    XD_PHASE_OPEN,    /* the keeper opens the file, and its journal */
    XD_PHASE_FETCH,   /* the scheduler decides */
    XD_PHASE_STOP,    /* until no request is left, for another round */
    XD_PHASE_REFETCH, /* the scheduler decides: a suspect's bytes, from others */
    XD_PHASE_COMPARE, /* the keeper compares those with the suspect's */
    XD_PHASE_CHECK,   /* the keeper hashes what is left of the file, or all */
    XD_PHASE_FINISH,  /* every byte is here; the keeper does the rest */
    XD_PHASE_FAIL,    /* the threads are leaving */
    XD_PHASE_END
};

/* What is fetched by a scheduler of its own, when no request is left. */
struct xd_session_round {
    enum {
        XD_ROUND_SINGLE_ANSWER, /* the whole file, from `depot` */
        XD_ROUND_REPAIR         /* bytes that others delivered before */
    } kind;
    unsigned depot;
};

enum xd_session_event_kind {
    XD_SESSION_STARTED,
    XD_SESSION_SIZED,     /* the size is known, or known not to be */
    XD_SESSION_OPENED,    /* the file is open, and what is in it known */
    XD_SESSION_COMPLETE,  /* every byte was accepted */
    XD_SESSION_RESTART,   /* a round is needed */
    XD_SESSION_IDLE,      /* no request is left */
    XD_SESSION_REPLACED,  /* others' bytes differ, and are in the file now */
    XD_SESSION_DISCARDED, /* some bytes of the file are missing again */
    XD_SESSION_MATCHED,   /* the file is right */
    XD_SESSION_FAILED,
    XD_SESSION_ENDED /* every thread has left, or was waited for long enough */
};

struct xd_session_event {
    enum xd_session_event_kind kind;
    union {
        bool is_size_known;            /* STARTED */
        bool is_to_be_checked;         /* COMPLETE */
        bool is_cancel;                /* FAILED: nothing went wrong */
        struct xd_session_round round; /* RESTART */
    };
};

enum xd_session_action_kind {
    XD_SESSION_NOTHING,
    /* What an event leads to. */
    XD_SESSION_DECIDE, /* ask for decisions */
    XD_SESSION_BEGIN,  /* make the scheduler of `round` */
    XD_SESSION_KEEP,   /* the keeper has work */
    XD_SESSION_LEAVE,  /* it is over: every thread looks */
    /* What is decided. */
    XD_SESSION_OBEY,     /* `order`, of the scheduler or the size probe */
    XD_SESSION_REST,     /* the line is down: decide again at `until` */
    XD_SESSION_STOP,     /* likewise: `order` stops a request */
    XD_SESSION_DOUBT,    /* likewise, perhaps: ping depots to find out */
    XD_SESSION_LOSE,     /* the line has been down for `silent`: give up */
    XD_SESSION_STOP_ALL, /* every request, and say when it is IDLE */
};

struct xd_session_action {
    enum xd_session_action_kind kind;
    union {
        struct xd_session_round round; /* BEGIN */
        struct xd_sched_action order;  /* OBEY, STOP */
        xd_usec until;                 /* REST */
        xd_usec silent;                /* LOSE */
    };
};

struct xd_session {
    /* Set by its user. */
    bool has_file;   /* which is opened before bytes are fetched */
    bool is_pipe;    /* what is here may leave until the end: so long it can be
                      canceled */
    bool can_ping;   /* when the line is in doubt */
    xd_usec silence; /* a request that receives nothing for so long fails */
    bool is_silence_exact; /* it does not depend on the line's queue */

    /* Made by its user, released by fini(). */
    struct xd_line *line;             /* NULL: it does not fail */
    struct xd_size_probe *size_probe; /* NULL once the size is known */
    struct xd_sched *sched; /* NULL before that, and if nothing is wanted */

    /* Its own. */
    enum xd_phase phase;
    struct xd_session_round round; /* STOP: what comes next */
};

struct xd_session_action xd_session_step(struct xd_session *s,
                                         const struct xd_session_event *event);

/*
 * What is to be done now: call again until it says NOTHING, REST, LOSE or
 * STOP_ALL, or an order is WAIT, FINISH or FAIL.  `clock` is the scheduler's time,
 * which stands still in pauses; moments in actions are `now`'s.
 */
struct xd_session_action xd_session_next(struct xd_session *s, xd_usec now,
                                         xd_usec clock);

/* For how long a request may receive nothing. */
xd_usec xd_session_silence(const struct xd_session *s, xd_usec now);

void xd_session_fini(struct xd_session *s);

/* Every byte is here, or it has failed. */
static inline bool xd_session_is_over(const struct xd_session *s)
{
    return s->phase >= XD_PHASE_FINISH;
}

static inline bool xd_session_is_running(const struct xd_session *s)
{
    return s->phase > XD_PHASE_NEW && s->phase < XD_PHASE_FINISH;
}

#endif
