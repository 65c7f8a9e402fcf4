/* SPDX-License-Identifier: MIT */
/*
 * The readers of a file that is still arriving, and what each needs next.
 *
 *     reader:   read, seek, playhead --> a window, and when it is needed
 *     engine:   windows --> the scheduler, most urgent first
 *               what is good --> readers that wait
 *
 * Each reader has one window, from where it streams.  A seek to where a probe's
 * length is here already does not move it: players look at the head and the
 * tail of a file and come back.  It moves when the reader has taken a probe's
 * length there, or finds something missing.
 *
 *     |==head==|      reader -->|<------ window ------>|          |==tail==|
 *      (soon)                    (now)                             (soon)
 *
 * Head and tail are wanted while there is a reader.
 *
 * A window ends at a multiple of a quarter of its length, so that while it is
 * full nothing is fetched, and then a quarter at once; and it holds whole
 * pieces, since a part of one proves nothing.  Where the lookahead is a time,
 * it becomes longer or shorter with the rate that players report (window.h).
 * With `keep` all else is wanted too, when no reader needs anything sooner.
 *
 * In memory all windows together cover as much as the option says (shares.h),
 * and of a place that a reader has gone to it has a probe's length only, until
 * it has taken that: so there is room for where it was before.  A reader that
 * has not read for a while has no window.  What is in no window is dropped.
 *
 * Functions whose names end in _locked are called with engine.lock held.
 */
#ifndef XD_ENGINE_READERS_H
#define XD_ENGINE_READERS_H

#include <stdbool.h>
#include <xdownload/stream.h>

#include "base/range.h"
#include "base/time.h"
#include "engine/readers/meter.h"
#include "ledger/runs.h"
#include "os/notifier.h"
#include "os/thread.h"
#include "session/lookahead.h"

struct xd_engine;
struct xd_bounded_sink;
struct xd_share;

/* A window as the scheduler knows it. */
struct xd_demand {
    struct xd_range range; /* of the file */
    xd_usec due;
    uint64_t bytes_per_s;
};

struct xd_reader {
    /* Constant after new(). */
    struct xd_engine *engine;
    unsigned number; /* by which the scheduler knows it */

    /* Guarded by lock.  Positions count from the first byte wanted. */
    uint64_t position;
    uint64_t arrived_at; /* where the last seek went */
    uint64_t stream;     /* where the window begins */
    uint64_t front;      /* in memory: the byte of the file from which it has */
    uint64_t ahead;      /* ...so much, and all before */
    xd_usec read_at;     /* when it last wanted something */
    uint64_t reported_at; /* the position when the demand was reported */
    bool is_probing;      /* the window is not at the position */
    bool has_former;      /* it may come back to: */
    struct xd_range former;
    bool has_begun; /* it has read: before that it wants nothing */
    bool is_waiting, is_interrupted;
    enum {
        READER_AWAITS_NOTHING,
        READER_AWAITS_BYTES,
        READER_AWAITS_SIZE
    } awaits; /* after a call that returned AGAIN */
    struct xd_notifier notifier;
    struct xd_range copied;    /* out of the store just now */
    struct xd_runs unverified; /* so far as no piece covers it */
    struct xd_error revoked;   /* why some of it is wrong; until a seek */
    xd_usec end_by; /* it is at the end, which is reported then; 0: it is not */
    struct xd_demand demand;
    struct xd_error error;

    struct xd_meter meter;

    struct xd_player player;
    xd_usec blocked; /* all times in which read() waited */
};

struct xd_readers {
    /* Guarded by lock. */
    struct xd_cond readable; /* readers: bytes, a size, or an end */
    struct xd_reader **list;
    struct xd_share *shares; /* room for each, if the store is in memory */
    size_t n, capacity;
    unsigned next_number;
    uint64_t window;       /* for each: so far ahead bytes may lie */
    uint64_t least_window; /* two pieces */
    uint64_t handed_out;   /* all before it has left for good: it was read by
                              the pipe, or of a file of unknown size */
    bool by_demand;        /* the scheduler knows windows */
    struct xd_bounded_sink *store; /* or NULL: all is kept, in a file */
    struct xd_demand rest, head, tail;
    bool are_hinted;     /* the scheduler knows of head and tail */
    uint64_t media_rate; /* bytes per second: the most that one of the players
                            tells; 0: none does */
    struct xd_rangeset gaps;   /* no depot can deliver these */
    struct xd_error gap_error; /* why the last of them is one */
};

int xd_readers_init(struct xd_readers *r);
void xd_readers_fini(struct xd_readers *r);

/* How long windows are, for a scheduler that is to know of them; 0: it is not
 * to. */
uint64_t xd_readers_window_locked(struct xd_engine *e);

/* Report all windows to a new scheduler. */
void xd_readers_begin_locked(struct xd_engine *e);

/* Errors: NOMEM. */
int xd_readers_add_locked(struct xd_engine *e, struct xd_reader **out);
/* It is the caller's then, to release. */
void xd_readers_remove_locked(struct xd_reader *r);
void xd_reader_release(struct xd_reader *r);

/* It was moved, read on, waits, or its player has said something: tell the
 * scheduler if that changes anything. */
void xd_readers_moved_locked(struct xd_reader *r);

/* Some of a stripe comes as parity: a reader within it needs all of it. */
void xd_readers_widen_locked(struct xd_engine *e);
void xd_readers_seek_locked(struct xd_reader *r, uint64_t to);

/* Time passes, and bytes have come: for its meter. */
void xd_readers_measure_locked(struct xd_reader *r);

/* Those that wait look again; meters too. */
void xd_readers_wake_locked(struct xd_engine *e);

/* Report the end to readers that poll and have waited long enough for it; and
 * when that is due next, at most `until`. */
void xd_readers_end_waits_locked(struct xd_engine *e);
xd_usec xd_readers_until_locked(const struct xd_engine *e, xd_usec until);

/* A depot can deliver these bytes again. */
void xd_readers_no_gap_locked(struct xd_engine *e, struct xd_range range);

/* No depot can deliver these bytes. */
void xd_readers_gap_locked(struct xd_engine *e, struct xd_range range,
                           const struct xd_error *why);
/* All that can be had is here, but some cannot: the engine has failed. */
bool xd_readers_end_locked(struct xd_engine *e);

/* Whether bytes up to `end`, which cannot be fetched again alone, may be
 * taken now.  Without the lock. */
bool xd_readers_allow(struct xd_engine *e, uint64_t begin, uint64_t end);

#endif
