/* SPDX-License-Identifier: MIT */
/*
 * A lane carries one request at a time: it passes the request to the runner,
 * collects the response in a buffer, and flushes the buffer to the sink.
 *
 * All functions are called by the worker's thread only.
 */
#ifndef XD_ENGINE_LANE_H
#define XD_ENGINE_LANE_H

#include <stdbool.h>
#include <stdint.h>
#include <xdownload/download.h>

#include "base/addresses.h"
#include "base/range.h"
#include "base/time.h"
#include "command/records.h"
#include "engine/via.h"
#include "engine/trust/junctions.h"
#include "engine/trust/piece_hash.h"
#include "io/transport.h"
#include "session/intake.h"
#include "transfer/runner.h"

struct xd_depot_source;
struct xd_engine;
struct xd_worker;

struct xd_lane {
    /* guarded by lock */
    enum { LANE_FREE, LANE_ASKED, LANE_RUNNING } state;
    unsigned fetch;        /* number of the request for the scheduler */
    struct xd_range range; /* bytes of the file */
    uint64_t end;          /* end of the range, which the scheduler may have
                              shortened */
    bool stop;             /* the scheduler cancelled the request */
    bool owns_connection;  /* io/transport.h */
    bool is_distrusted;    /* bytes that still arrive are ignored */
    bool is_coded;         /* the request is for parity: coded.h */
    unsigned parity;       /* number of the parity shard */
    bool is_cut;           /* the request ends before the range that the
                              scheduler assigned */
    unsigned outages;      /* number of network outages before the request was
                              assigned */
    enum xd_fetch_reason reason;
    unsigned number; /* index among the lanes of its worker */
    xd_usec queued;  /* when the request was assigned */

    /* owned by the worker's thread while RUNNING */
    /* NULL if the depot has no source left */
    struct xd_depot_source *source;
    /* URL of the source, or its redirect target */
    const struct xd_url *url;
    const char *if_range;   /* validator to send, or NULL */
    const char *media_type; /* media type of earlier responses, or NULL */
    /* header fields for a mesh node, or "" */
    char fields[XD_VIA_FIELDS];
    struct xd_address_list passes_over; /* io/transport.h */
    bool tries_address;                 /* the request uses an address whose
                                           throughput is not known yet */
    char address[XD_ADDRESS_TEXT];      /* address to which the request is
                                           connected, or "" */
    uint64_t odd_validator;         /* hash of a validator that was refused, or
                                       0 */
    struct xd_url *final_url;       /* new redirect target of `url`, or NULL */
    enum xd_reach reach;            /* network scope of `url`, then of
                                       final_url */
    bool start_now, stop_now;       /* pending calls to the runner */
    bool asks_whole;                /* the lane requests the whole object,
                                       because the depot does not support
                                       ranges */
    bool is_known, grows;           /* see io/transport.h */
    bool takes_encoded, wants_size; /* see io/transport.h */
    struct xd_piece_hash piece_hash;
    unsigned lead, lead_got; /* number of bytes requested before the range, and
                                how many of these were received:
                                trust/junctions.h */
    unsigned char lead_bytes[XD_LEAD_BYTES];
    unsigned char *buffer;
    struct xd_intake in;
    uint64_t redundant;
    xd_usec started, first_byte;
    struct xd_way way; /* state of the network path of its connection when last
                          read */
    bool knows_way;    /* `way` is valid */
    xd_usec ahead;     /* how long inspection waited for the response that this
                          lane took over */
    bool is_over;      /* the request has ended, and the runner has reported
                          `outcome` */
    bool waits;        /* the outcome depends on a check that is running:
                          validator_check.h */
    struct xd_outcome outcome;
    bool is_refused;      /* the response was refused by xdownload, and
                             `outcome` is set */
    bool may_be_page;     /* the first bytes must show whether the response is
                             an error page: trust/pages.h */
    uint64_t object_size; /* from the response headers */
    bool is_unsized; /* the size of the file was unknown when the request began:
                        set.h */
    uint64_t longer; /* size of the file if that exceeds its place in the set,
                        else 0 */
};

/* Returns the callbacks for the runner of `w`. */
struct xd_runner_handler xd_lane_handler(struct xd_worker *w);

/* Takes over an assigned request.  Call it with the lock held. */
void xd_lane_take_locked(struct xd_worker *w, struct xd_lane *lane);

/* Ends an assigned request with `error`, because the worker has no transport
 * for it.  This does not count as a failure of the depot.  Call it with the
 * lock held. */
void xd_lane_fail_locally_locked(struct xd_worker *w, struct xd_lane *lane,
                                 const struct xd_error *error);

/* Starts, shortens or stops the request at the runner.  Call it without the
 * lock. */
void xd_lane_carry_out(struct xd_worker *w, unsigned slot);

/* Returns the end of the bytes received, which start at range.begin. */
static inline uint64_t xd_lane_end(const struct xd_lane *lane)
{
    return lane->in.received;
}

/* Counts the bytes received and reports them to the scheduler.  Call it with
 * the lock held. */
void xd_lane_report_locked(struct xd_worker *w, struct xd_lane *lane);

/* Ends the request because the download is over.  Call it with the lock held,
 * after flushing the buffer. */
void xd_lane_abandon_locked(struct xd_worker *w, struct xd_lane *lane);

/* Reports and writes the bytes in the buffer.  Call it with the lock held,
 * which is released during the write.  Afterwards the caller must ask the
 * scheduler for decisions. */
void xd_lane_flush_locked(struct xd_worker *w, struct xd_lane *lane);

#endif
