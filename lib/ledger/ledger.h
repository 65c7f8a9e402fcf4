/* SPDX-License-Identifier: MIT */
/*
 * The state of every byte of a file, and the depot that delivered it.  States
 * change only by the transitions below; README.md has a drawing of the usual
 * ones.
 *
 * The depot that delivered a byte is its origin.  A byte gets it from
 * xd_ledger_written(), and keeps it, even while it is set aside, until it is
 * discarded.  From then on the ledger remembers why it was discarded, until it
 * gets a new origin.
 *
 * runs.h states the cost of each operation.
 * Threads: not thread-safe; guarded by its owner's lock.
 */
#ifndef XD_LEDGER_LEDGER_H
#define XD_LEDGER_LEDGER_H

#include "ledger/runs.h"

enum xd_byte_state {
    XD_BYTE_MISSING,
    XD_BYTE_ASSIGNED, /* a request in flight will deliver it */
    XD_BYTE_RECEIVED, /* the byte is in the buffer of a request */
    XD_BYTE_WRITING,  /* being written */
    XD_BYTE_WRITTEN,  /* stored in the sink */
    XD_BYTE_VERIFIED, /* the hash was right, or there is none */
    /* The byte is stored, but its response broke off.  It can still be read,
     * and is fetched again. */
    XD_BYTE_STALE,
    /* The byte was verified and then dropped from memory.  Only DISCARD,
     * OUTDATE and RESTORE change this state. */
    XD_BYTE_EVICTED
};

/* Sets of states, as bit masks.  Each set in the second group contains the one
 * above it: ASSIGNED contains RECEIVED, which contains DONE.  Writers use
 * CLAIMED, and schedulers use the second group. */
enum {
    XD_BYTES_READABLE = 1 << XD_BYTE_VERIFIED | 1 << XD_BYTE_STALE,
    XD_BYTES_STORED = XD_BYTES_READABLE | 1 << XD_BYTE_WRITTEN,
    XD_BYTES_CLAIMED =
        XD_BYTES_STORED | 1 << XD_BYTE_WRITING | 1 << XD_BYTE_EVICTED,

    XD_BYTES_DONE = 1 << XD_BYTE_VERIFIED | 1 << XD_BYTE_EVICTED,
    XD_BYTES_RECEIVED = XD_BYTES_DONE | 1 << XD_BYTE_RECEIVED |
                        1 << XD_BYTE_WRITING | 1 << XD_BYTE_WRITTEN,
    XD_BYTES_ASSIGNED = XD_BYTES_RECEIVED | 1 << XD_BYTE_ASSIGNED
};

/* Stands for an unknown depot: an earlier run received the bytes. */
#define XD_HELD UINT_MAX

/* Why stored bytes are discarded. */
enum xd_discard_reason {
    XD_DISCARD_BAD_PIECE, /* the piece does not match its hash */
    XD_DISCARD_BAD_FILE,  /* the file does not match its hash */
    XD_DISCARD_BANNED,    /* the depot that delivered the bytes was banned */
    XD_DISCARD_CHANGED,   /* another program changed the file */
    XD_DISCARD_RESTARTED, /* the file is fetched again from the beginning */
    XD_DISCARD_DROPPED,   /* no reader needs the bytes, so they were dropped
                             from memory */
    XD_N_DISCARD_REASONS
};

/* States of the runs in xd_ledger.origins.  A discarded byte has the state
 * XD_ORIGIN_DISCARDED plus the reason. */
enum { XD_ORIGIN_NONE, XD_ORIGIN_DEPOT, XD_ORIGIN_DISCARDED };

struct xd_ledger {
    struct xd_runs states; /* state of each byte; these runs have no depots */
    /* the origin of each byte, or why it was discarded; a run has a depot only
     * in the state XD_ORIGIN_DEPOT */
    struct xd_runs origins;
    uint64_t held; /* number of bytes with the origin XD_HELD */
    /* Number of bytes discarded for each reason.  Bytes without an origin are
     * not counted, and a byte that is discarded twice counts twice. */
    uint64_t discarded[XD_N_DISCARD_REASONS];
};

/*
 * Transitions.  The table has the new state for each old state.  "." means that
 * the byte keeps its state, and "x" that it must not be in this state
 * (asserted).
 *
 *     M missing    A assigned    R received    G being written
 *     W written    V verified    S stale       L evicted
 *
 *                   old state
 *     transition    M A R G W V S L
 *     ----------    ---------------
 *     ASSIGN        A . . . . . . .
 *     RELEASE       . M . . . . . .
 *     RECEIVE       R R . . . . R .
 *     LOSE          . . M . . . . .
 *     CLAIM         G G G x x x x x
 *     WRITTEN       x x x W x . x x
 *     VERIFY        V V V x V . V .
 *     DISCARD       . . M . M M M M
 *     OUTDATE       . M M . S S . M
 *     EVICT         . . . . . L M .
 *     SET_ASIDE     x x x x x M x x
 *     RESTORE       V V V V V . V V
 */
enum xd_transition {
    XD_ASSIGN,
    XD_RELEASE,
    XD_RECEIVE,
    XD_LOSE,    /* the request ended before the received byte was written */
    XD_CLAIM,   /* a writer starts to write the byte; nobody else may have
                   claimed it */
    XD_WRITTEN, /* made by xd_ledger_written() */
    XD_VERIFY,
    XD_DISCARD, /* made by xd_ledger_discard() */
    /* The response with a file of unknown size broke off.  Stored bytes become
     * stale.  All others become missing, except those being written. */
    XD_OUTDATE,
    /* The byte is dropped from memory.  If it was verified, it is not fetched
     * again.  If it was stale, it becomes missing, because it must still be
     * fetched again. */
    XD_EVICT,
    XD_SET_ASIDE, /* a repair fetches the byte again; it keeps its origin */
    XD_RESTORE    /* a repair has ended, so all bytes count as verified again */
};

/* Releases a ledger.  In a zeroed struct all bytes are missing. */
void xd_ledger_fini(struct xd_ledger *l);

/* Applies the transition, which is not XD_WRITTEN or XD_DISCARD, to all bytes
 * of `r`.  Returns 0, or NOMEM with nothing changed. */
int xd_ledger_change(struct xd_ledger *l, enum xd_transition t,
                     struct xd_range r);

/* Marks bytes as written that the caller has claimed before.  Bytes without an
 * origin get `depot` as their origin, and no longer count as discarded.  With
 * XD_NO_DEPOT, origins and reasons stay as they are.  Returns 0, or NOMEM with
 * nothing changed. */
int xd_ledger_written(struct xd_ledger *l, struct xd_range r, unsigned depot);

/* Marks received, written, verified, stale and evicted bytes as missing.  Other
 * bytes of `r` keep their state.  Removes the origin of all bytes of `r`, and
 * marks those that had one as discarded.  Returns 0, or NOMEM with nothing
 * changed. */
int xd_ledger_discard(struct xd_ledger *l, struct xd_range r,
                      enum xd_discard_reason why);

/* Returns the reason as a clause about bytes, such as "their depot is
 * banned". */
const char *xd_discard_reason_text(enum xd_discard_reason why);

/* Returns whether the byte was discarded and has no new origin yet.  Sets
 * *out_why only if it returns true. */
bool xd_ledger_was_discarded(const struct xd_ledger *l, uint64_t byte,
                             enum xd_discard_reason *out_why);

/* Reserves memory, so that the next n calls of xd_ledger_change() cannot fail.
 * xd_ledger_discard(), and xd_ledger_written() with a depot, may still fail.
 * Returns 0 or NOMEM. */
int xd_ledger_reserve(struct xd_ledger *l, size_t n);

/* Returns whether all bytes of r have one of the `states`.  True for an empty
 * range. */
bool xd_ledger_has(const struct xd_ledger *l, unsigned states,
                   struct xd_range r);

/* count() returns the number of bytes within r that are in `states`, bytes()
 * the number in the whole file.  bytes() cannot count XD_BYTE_MISSING, because
 * the ledger does not know the size of the file; count() can. */
uint64_t xd_ledger_count(const struct xd_ledger *l, unsigned states,
                         struct xd_range r);
uint64_t xd_ledger_bytes(const struct xd_ledger *l, unsigned states);

/* Returns the number of bytes within r that `depot` delivered. */
uint64_t xd_ledger_bytes_of(const struct xd_ledger *l, unsigned depot,
                            struct xd_range r);

/* Return the first run within `within` that is, or is not, in `states`; empty
 * at within.end if there is none. */
struct xd_range xd_ledger_next(const struct xd_ledger *l, unsigned states,
                               struct xd_range within);
struct xd_range xd_ledger_next_gap(const struct xd_ledger *l, unsigned states,
                                   struct xd_range within);

/* Returns the first byte of `within` that is in none of `states`, or
 * within.end. */
uint64_t xd_ledger_first_gap(const struct xd_ledger *l, unsigned states,
                             struct xd_range within);

#endif
