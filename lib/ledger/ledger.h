/* SPDX-License-Identifier: MIT */
/*
 * What is true of every byte of a file: one state, and which depot delivered
 * it.  Each change is a transition of a range; nothing else changes a state.
 * lib/README.md has the drawing, ledger.c the table.
 *
 * A byte has an origin from xd_ledger_written() until it is discarded, also
 * while it is set aside; from then on the ledger keeps the reason, until the
 * byte is written again.  Costs: runs.h.
 * Not thread-safe: guarded by the lock of its owner.
 */
#ifndef XD_LEDGER_LEDGER_H
#define XD_LEDGER_LEDGER_H

#include "ledger/runs.h"

enum xd_byte_state {
    XD_BYTE_MISSING,
    XD_BYTE_ASSIGNED, /* a request in flight is to deliver it */
    XD_BYTE_RECEIVED, /* it lies in the buffer of a request */
    XD_BYTE_WRITING,  /* a request writes it now */
    XD_BYTE_WRITTEN,  /* stored in the sink */
    XD_BYTE_VERIFIED, /* as far as can be */
    XD_BYTE_STALE,    /* stored, of a stream that broke off: it may still be
                         read, but the next attempt fetches it again */
    XD_BYTE_EVICTED   /* was verified, and has left the store for good */
};

/* Sets of states, one bit for each: what sinks and readers ask for, and what
 * schedulers do.  The latter three contain each other. */
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

/* In place of a depot: an earlier run delivered it. */
#define XD_HELD UINT_MAX

/* Why stored bytes are discarded. */
enum xd_discard_reason {
    XD_DISCARD_BAD_PIECE, /* their piece does not match its hash */
    XD_DISCARD_BAD_FILE,  /* the whole file does not match its hash */
    XD_DISCARD_BANNED,    /* their depot is banned */
    XD_DISCARD_CHANGED,   /* another program has changed the file */
    XD_DISCARD_RESTARTED, /* the file is fetched from its beginning again */
    XD_DISCARD_DROPPED,   /* they have left the memory: no reader needs them */
    XD_N_DISCARD_REASONS
};

/* The states of struct xd_ledger.origins; a discarded byte has this one plus
 * its reason. */
enum { XD_ORIGIN_NONE, XD_ORIGIN_DEPOT, XD_ORIGIN_DISCARDED };

struct xd_ledger {
    struct xd_runs states;  /* of each byte, without depots */
    struct xd_runs origins; /* with a depot if XD_ORIGIN_DEPOT */
    uint64_t held;          /* bytes that are of XD_HELD */
    uint64_t
        discarded[XD_N_DISCARD_REASONS]; /* bytes, each as often as it was */
};

/* What a transition is not for stays as it is, or is a broken promise. */
enum xd_transition {
    XD_ASSIGN,    /* what is missing */
    XD_RELEASE,   /* what is assigned is missing again */
    XD_RECEIVE,   /* what is not here yet */
    XD_LOSE,      /* what is received is missing again: its request has ended */
    XD_CLAIM,     /* none of it may be claimed */
    XD_WRITTEN,   /* by xd_ledger_written() */
    XD_VERIFY,    /* none of it may be WRITING */
    XD_DISCARD,   /* by xd_ledger_discard() */
    XD_OUTDATE,   /* of a file of unknown size: its stream has broken off */
    XD_EVICT,     /* it is dropped, and does not come again */
    XD_SET_ASIDE, /* it is verified, and missing for the time of a repair */
    XD_RESTORE    /* all of it is verified after all */
};

/* A zeroed struct has every byte missing. */
void xd_ledger_fini(struct xd_ledger *l);

/* 0, or NOMEM with all as before. */
int xd_ledger_change(struct xd_ledger *l, enum xd_transition t,
                     struct xd_range r);

/* All of it was claimed by the caller, and is written.  Its origin is `depot`,
 * unless it has one; XD_NO_DEPOT: it gets none.  0, or NOMEM. */
int xd_ledger_written(struct xd_ledger *l, struct xd_range r, unsigned depot);

/* What is received or stored of it is missing again, without an origin.  0, or
 * NOMEM with all as before. */
int xd_ledger_discard(struct xd_ledger *l, struct xd_range r,
                      enum xd_discard_reason why);

/* As the end of a sentence about bytes. */
const char *xd_discard_reason_text(enum xd_discard_reason why);

/* Whether the byte was discarded and not written since; if so, *out_why. */
bool xd_ledger_was_discarded(const struct xd_ledger *l, uint64_t byte,
                             enum xd_discard_reason *out_why);

/* So many transitions need no memory, if no others come between. */
int xd_ledger_reserve(struct xd_ledger *l, size_t n);

/* Whether all of r is in `states`; an empty range always is. */
bool xd_ledger_has(const struct xd_ledger *l, unsigned states,
                   struct xd_range r);

/* How many bytes are: of r; of all.  Not for a set with XD_BYTE_MISSING. */
uint64_t xd_ledger_count(const struct xd_ledger *l, unsigned states,
                         struct xd_range r);
uint64_t xd_ledger_bytes(const struct xd_ledger *l, unsigned states);

/* How many bytes of r are from that depot. */
uint64_t xd_ledger_bytes_of(const struct xd_ledger *l, unsigned depot,
                            struct xd_range r);

/* The first run inside `within` that is in `states`, or that is not; empty at
 * within.end if there is none. */
struct xd_range xd_ledger_next(const struct xd_ledger *l, unsigned states,
                               struct xd_range within);
struct xd_range xd_ledger_next_gap(const struct xd_ledger *l, unsigned states,
                                   struct xd_range within);

/* Where that gap begins, or within.end. */
uint64_t xd_ledger_first_gap(const struct xd_ledger *l, unsigned states,
                             struct xd_range within);

#endif
