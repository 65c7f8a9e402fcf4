/* SPDX-License-Identifier: MIT */
/*
 * Readers of a file that is still being downloaded, and what each needs next.
 *
 *     reader:   read, seek, playhead --> a window, and when it is needed
 *     engine:   windows --> the scheduler, most urgent first
 *               verified bytes --> waiting readers
 *
 * Each reader has one window, which begins at the position from which the
 * reader streams.  Players often read a little at the head and the tail of a
 * file and then return.  So the window does not move after a seek to a place
 * where the next XD_PROBE_BYTES are already stored.  It moves when the reader
 * has read that much there, or when bytes are missing.
 *
 *     |==head==|      reader -->|<------ window ------>|          |==tail==|
 *      (soon)                    (now)                             (soon)
 *
 * Head and tail are requested as long as there is a reader.
 *
 * The end of a window is a multiple of a quarter of its length.  So when it is
 * full, nothing is fetched until a quarter of it is free.  It contains whole
 * pieces, because a part of a piece cannot be verified.  If the lookahead is a
 * time, the window is adjusted to the rate that players report (window.h).
 * With the option `keep`, all other bytes are fetched, too, while no reader
 * needs anything.
 *
 * In memory, all windows together are at most as long as the lookahead
 * (shares.h).  After a seek, a reader gets only XD_PROBE_BYTES at the new
 * place until it has read these, so that the bytes around the old place can
 * stay.  A reader that has not read for a while has no window.  Bytes outside
 * of all windows are dropped.
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

/* A window in the form that the scheduler uses. */
struct xd_demand {
    struct xd_range range; /* bytes of the file */
    xd_usec due;
    uint64_t bytes_per_s;
};

struct xd_reader {
    /* constant after new() */
    struct xd_engine *engine;
    unsigned number; /* number of this reader in reports to the scheduler */

    /* guarded by lock; positions count from the first byte wanted */
    uint64_t position;
    uint64_t arrived_at; /* position after the last seek */
    uint64_t stream;     /* position where the window begins */
    /* If the store is in memory, the reader may have all bytes up to `front`,
     * and the next `ahead` bytes (shares.h). */
    uint64_t front;
    uint64_t ahead;
    xd_usec read_at;      /* when the reader last asked for bytes */
    uint64_t reported_at; /* position at the last report to the scheduler */
    bool is_probing;      /* the reader reads outside of its window, and the
                             window does not follow */
    bool has_former;      /* `former` is valid */
    struct xd_range former;
    bool has_begun; /* the reader has asked for bytes; until then it has no
                       window */
    bool is_waiting, is_interrupted;
    enum {
        READER_AWAITS_NOTHING,
        READER_AWAITS_BYTES,
        READER_AWAITS_SIZE
    } awaits; /* what the reader waits for after a call failed with AGAIN */
    struct xd_notifier notifier;
    struct xd_range copied;    /* bytes being copied from the store to the
                                  caller */
    struct xd_runs unverified; /* bytes that were given to the reader and that
                                  no piece hash covers */
    struct xd_error revoked;   /* set if bytes given to the reader turned out to
                                  be wrong; cleared by a seek */
    /* When the reader gets bytes, or the end of the file, although no other
     * depot has confirmed them.  0: the reader is not waiting for a
     * confirmation. */
    xd_usec end_by;
    struct xd_demand demand;
    struct xd_error error;

    struct xd_meter meter;

    struct xd_player player;
    xd_usec blocked; /* total time that read() waited */
};

struct xd_readers {
    /* guarded by lock */
    struct xd_cond readable; /* readers wait here for bytes, the size or the
                                end */
    struct xd_reader **list;
    struct xd_share *shares; /* one share for each reader, if the store is in
                                memory */
    size_t n, capacity;
    unsigned next_number;
    uint64_t window;       /* length of each window in bytes */
    uint64_t least_window; /* minimum length: two pieces */
    uint64_t handed_out;   /* bytes before this one cannot be fetched again: the
                              pipe has read them, or the file has an unknown
                              size */
    bool by_demand;        /* the scheduler follows the windows */
    struct xd_bounded_sink *store; /* NULL if all bytes are kept in a file */
    struct xd_demand rest, head, tail;
    bool are_hinted;         /* head and tail were reported to the scheduler */
    uint64_t media_rate;     /* highest rate reported by a player, in bytes per
                                second; 0: none */
    struct xd_rangeset gaps; /* bytes that no depot can deliver */
    struct xd_error gap_error; /* error of the last gap */
};

int xd_readers_init(struct xd_readers *r);
void xd_readers_fini(struct xd_readers *r);

/* Returns the window length in bytes that the scheduler should assume; 0 if the
 * scheduler should ignore windows. */
uint64_t xd_readers_window_locked(struct xd_engine *e);

/* Reports all windows to a new scheduler. */
void xd_readers_begin_locked(struct xd_engine *e);

/* Adds a reader.  Errors: NOMEM. */
int xd_readers_add_locked(struct xd_engine *e, struct xd_reader **out);
/* Removes the reader, which the caller then releases with
 * xd_reader_release(). */
void xd_readers_remove_locked(struct xd_reader *r);
void xd_reader_release(struct xd_reader *r);

/* Updates the window of a reader after a read, a wait or a report of its
 * player, and tells the scheduler if anything changed. */
void xd_readers_moved_locked(struct xd_reader *r);

/* Extends windows to whole stripes if these are fetched as parity. */
void xd_readers_widen_locked(struct xd_engine *e);
void xd_readers_seek_locked(struct xd_reader *r, uint64_t to);

/* Updates the meter of the reader with the time and the bytes that have
 * arrived. */
void xd_readers_measure_locked(struct xd_reader *r);

/* Wakes waiting readers and updates all meters. */
void xd_readers_wake_locked(struct xd_engine *e);

/* end_waits() raises the notifiers of readers whose end_by has passed.  until()
 * returns the next end_by of a reader, or `until` if that is earlier. */
void xd_readers_end_waits_locked(struct xd_engine *e);
xd_usec xd_readers_until_locked(const struct xd_engine *e, xd_usec until);

/* Removes a gap, because a depot can deliver these bytes again. */
void xd_readers_no_gap_locked(struct xd_engine *e, struct xd_range range);

/* Adds a gap: no depot can deliver these bytes. */
void xd_readers_gap_locked(struct xd_engine *e, struct xd_range range,
                           const struct xd_error *why);
/* Fails the download and returns true if all bytes except gaps have arrived. */
bool xd_readers_end_locked(struct xd_engine *e);

/* Returns true if windows cover all bytes from `begin` to `end`, so that a
 * request may receive them now.  It is asked for requests that would have to
 * start again if they were stopped.  Call it without the lock. */
bool xd_readers_allow(struct xd_engine *e, uint64_t begin, uint64_t end);

#endif
