/* SPDX-License-Identifier: MIT */
/*
 * One request at an IBP depot, on a socket that is connected.
 *
 *     begin() -> use(socket) -> move() ... move() -> is_decided
 *
 *     PROBES --> LOADS --> BODY --> decided
 *                  ^          |
 *                  +----------+ the depot has sent less than it was asked for
 *
 * A request that sends is one command (ibp_send.h):
 *
 *     COMMAND --> decided        STORE: COMMAND --> STORES --> COUNTS --> decided
 *        |
 *        +-- LOAD --> BODY --> decided
 *
 * What is written can be less than what the manifest says, and some depots wait
 * for bytes that are not there: after a short answer the depot is asked how
 * many there are (PROBE), and no more are asked for.
 *
 * Threads: that of the transport.
 */
#ifndef XD_IO_IBP_REQUEST_H
#define XD_IO_IBP_REQUEST_H

#include "base/text.h"
#include "io/hash.h"
#include "io/ibp/ibp_wire.h"
#include "io/request.h"

enum xd_ibp_step {
    XD_IBP_CONNECTS,
    XD_IBP_PROBES,  /* waits for the reply to PROBE */
    XD_IBP_LOADS,   /* waits for that to LOAD */
    XD_IBP_BODY,    /* receives bytes */
    XD_IBP_COMMAND, /* waits for the reply to a command */
    XD_IBP_STORES,  /* sends the body of STORE */
    XD_IBP_COUNTS   /* waits for how much of it is written */
};

struct xd_ibp_request {
    /* Constant after init(). */
    const struct xd_transport_handler *handler;
    unsigned slot;

    /* The request. */
    struct xd_request asked; /* but for its strings */
    struct xd_url *url;      /* owned */
    char *peer;              /* owned: "HOST:PORT" */
    struct xd_url_name name;
    struct xd_ibp_capability capability; /* points into url */
    struct xd_hasher *md5;               /* for frames */
    uint64_t at, end;     /* the next byte of data, and where it ends */
    uint64_t next, stop;  /* the same of the object's bytes: to be received */
    uint64_t object_size; /* as the depot says, or XD_SIZE_UNKNOWN */
    bool wants_probe, has_probed, has_reported_head;
    const struct xd_ibp_command
        *command; /* of a request that sends: then `at` is
                                             how much of its body is sent */

    /* The connection. */
    int fd; /* < 0: none */
    enum xd_ibp_step step;
    bool is_reused;      /* it has served another request */
    bool must_reconnect; /* it is of no use: go on over a new one */
    bool is_clean;       /* it can serve another one */
    bool made_progress;  /* something came since this was cleared */
    struct xd_text out;
    size_t n_sent;
    uint64_t to_come; /* bytes of the body that were not received yet */
    unsigned char *buffer;
    size_t capacity, filled;
    size_t n_kept;       /* of a frame, before the reply that comes behind it */
    bool has_surplus;    /* more came than the depot said */
    size_t step_bytes;   /* so many are received at a time */
    bool is_checked;     /* the frame in the buffer is right */
    bool has_go_ahead;   /* the depot takes the body */
    unsigned char *body; /* what of it is to be sent next */
    size_t body_len, body_sent;
    int unsent; /* bytes that the kernel had not sent when it was last asked */

    bool is_busy, is_paused, is_decided;
    xd_usec last_byte_at;
    struct xd_outcome outcome;
};

void xd_ibp_request_init(struct xd_ibp_request *q, unsigned slot,
                         const struct xd_transport_handler *handler);
void xd_ibp_request_fini(struct xd_ibp_request *q);

/* What cannot be asked for is decided at once.  Errors: NOMEM. */
int xd_ibp_request_begin(struct xd_ibp_request *q, const struct xd_request *r,
                         struct xd_error *err);

/* Go on with this socket, which is the request's until detach(). */
void xd_ibp_request_use(struct xd_ibp_request *q, int fd, bool is_reused);

/* The socket, if another request can use it; else it is closed, and -1. */
int xd_ibp_request_detach(struct xd_ibp_request *q);

/* Send and receive what can be without waiting. */
void xd_ibp_request_move(struct xd_ibp_request *q);

/* What it waits for: POLLIN, POLLOUT or both. */
short xd_ibp_request_events(const struct xd_ibp_request *q);

#endif
