/* SPDX-License-Identifier: MIT */
/*
 * A lane carries one request at a time: it starts it at the runner, gathers
 * the bytes that come, and flushes them to the sink.
 *
 * Only the worker's thread calls these.
 */
#ifndef XD_ENGINE_LANE_H
#define XD_ENGINE_LANE_H

#include <stdbool.h>
#include <stdint.h>
#include <xdownload/download.h>

#include "base/addresses.h"
#include "base/range.h"
#include "base/time.h"
#include "engine/via.h"
#include "engine/trust/piece_hash.h"
#include "io/transport.h"
#include "session/intake.h"
#include "transfer/runner.h"

struct xd_depot_source;
struct xd_engine;
struct xd_worker;

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
    bool is_coded;         /* it is for parity: coded.h, */
    unsigned parity;       /* of which this is the number */
    bool is_cut;           /* it ends before what the scheduler asked for */
    unsigned outages;      /* of the line, when it was asked for */
    enum xd_fetch_reason reason;
    unsigned number; /* of those of its worker */
    xd_usec queued;  /* when it was asked for */

    /* Owned by the worker thread while RUNNING. */
    struct xd_depot_source *source;     /* NULL: the depot has none any more */
    const struct xd_url *url;           /* the source's, or where that led to */
    const char *if_range;               /* the source's validator, or NULL */
    char fields[XD_VIA_FIELDS];         /* for a node of a mesh, or "" */
    struct xd_address_list passes_over; /* io/transport.h */
    bool tries_address;                 /* one that is not known yet: */
    char address[XD_ADDRESS_TEXT];      /* it went to this one; or "" */
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
    xd_usec ahead; /* for so long its answer was waited for before it started */
    bool is_over;  /* the runner has reported `outcome` */
    bool waits;    /* what that means is being found out: validator_check.h */
    struct xd_outcome outcome;
    bool is_refused;      /* by us: `outcome` stands already */
    bool may_be_page;     /* its first bytes decide: trust/pages.h */
    uint64_t object_size; /* as its head said */
    bool
        is_unsized; /* when it began, the size of its file was not known: set.h */
    uint64_t longer; /* than its place: what the answer says; or 0 */
};

/* What the runner of `w` calls. */
struct xd_runner_handler xd_lane_handler(struct xd_worker *w);

/* Under the lock: an asked-for request becomes the thread's own. */
void xd_lane_take_locked(struct xd_worker *w, struct xd_lane *lane);

/* Under the lock: end an asked-for request that the worker has no transport for, as
 * `error` says; the depot has nothing to do with that. */
void xd_lane_fail_locally_locked(struct xd_worker *w, struct xd_lane *lane,
                                 const struct xd_error *error);

/* Without the lock: start, shorten or stop it at the runner. */
void xd_lane_carry_out(struct xd_worker *w, unsigned slot);

/* All of the file from range.begin to this has come in. */
static inline uint64_t xd_lane_end(const struct xd_lane *lane)
{
    return lane->in.received;
}

/* Under the lock: count what has come in, and report it to the scheduler. */
void xd_lane_report_locked(struct xd_worker *w, struct xd_lane *lane);

/* Under the lock, when the download is over, and what was in the buffer is
 * flushed: the request has ended. */
void xd_lane_abandon_locked(struct xd_worker *w, struct xd_lane *lane);

/* Under the lock, which it releases while it writes: report what is in the
 * buffer, and write it.  Decisions are to be asked for. */
void xd_lane_flush_locked(struct xd_worker *w, struct xd_lane *lane);

#endif
