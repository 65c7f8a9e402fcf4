/* SPDX-License-Identifier: MIT */
/*
 * A request to an IBP depot on a connected socket.
 *
 *     begin() -> use(socket) -> move() ... move() -> is_decided
 *
 *     PROBES --> LOADS --> BODY --> decided
 *                  ^          |
 *                  +----------+ the depot sent less than requested
 *
 * A request that sends is a single command (ibp_send.h):
 *
 *    COMMAND --> decided       STORE: COMMAND --> STORES --> COUNTS --> decided
 *       |
 *       +-- LOAD --> BODY --> decided
 *
 * An allocation may contain less than the manifest says, and some depots wait
 * for bytes that are missing.  So after a short reply the depot is asked how
 * many bytes exist (PROBE), and no more are requested.
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
    XD_IBP_LOADS,   /* waits for the reply to LOAD */
    XD_IBP_BODY,    /* receives bytes */
    XD_IBP_COMMAND, /* waits for the reply to a command */
    XD_IBP_STORES,  /* sends the body of STORE */
    XD_IBP_COUNTS   /* waits for the number of bytes stored */
};

struct xd_ibp_request {
    /* constant after init() */
    const struct xd_transport_handler *handler;
    unsigned slot;

    /* The request. */
    struct xd_request asked; /* the request without its strings */
    struct xd_url *url;      /* URL of the request; owned */
    char *peer;              /* owned: "HOST:PORT" */
    struct xd_url_name name;
    struct xd_ibp_capability capability; /* points into url */
    struct xd_hasher *md5;               /* computes the MD5 of frames */
    /* next data byte to deliver, and end of the data to deliver */
    uint64_t at, end;
    /* next object byte to receive, and end of the bytes to receive */
    uint64_t next, stop;
    uint64_t object_size; /* size that the depot states, or XD_SIZE_UNKNOWN */
    bool wants_probe, has_probed, has_reported_head;
    const struct xd_ibp_command
        /* command of a request that sends; `at` is then the number of body
         * bytes sent */
        *command;

    /* The connection. */
    int fd; /* < 0: none */
    enum xd_ibp_step step;
    bool is_reused;      /* the connection has served an earlier request */
    bool must_reconnect; /* the connection is unusable: continue on a new one */
    bool is_clean;       /* the connection can serve another request */
    bool made_progress;  /* there was progress since this was cleared */
    struct xd_text out;
    size_t n_sent;
    uint64_t to_come; /* bytes of the body still to be received */
    unsigned char *buffer;
    size_t capacity, filled;
    /* bytes of an incomplete frame, in front of the next reply */
    size_t n_kept;
    bool has_surplus;    /* the depot sent more than it announced */
    size_t step_bytes;   /* bytes to receive at a time */
    bool is_checked;     /* the frame in the buffer was verified */
    bool has_go_ahead;   /* the depot is ready for the body */
    unsigned char *body; /* bytes of the body to send next */
    size_t body_len, body_sent;
    int unsent; /* unsent bytes in the kernel when last checked */

    bool is_busy, is_paused, is_decided;
    xd_usec last_byte_at;
    struct xd_outcome outcome;
};

void xd_ibp_request_init(struct xd_ibp_request *q, unsigned slot,
                         const struct xd_transport_handler *handler);
void xd_ibp_request_fini(struct xd_ibp_request *q);

/* Starts a request.  An invalid request is decided at once.  Errors: NOMEM. */
int xd_ibp_request_begin(struct xd_ibp_request *q, const struct xd_request *r,
                         struct xd_error *err);

/* Continues on this socket, which belongs to the request until detach(). */
void xd_ibp_request_use(struct xd_ibp_request *q, int fd, bool is_reused);

/* Returns the socket if another request can use it; else closes it and returns
 * -1. */
int xd_ibp_request_detach(struct xd_ibp_request *q);

/* Sends and receives without blocking. */
void xd_ibp_request_move(struct xd_ibp_request *q);

/* Returns what to wait for: POLLIN, POLLOUT or both. */
short xd_ibp_request_events(const struct xd_ibp_request *q);

#endif
