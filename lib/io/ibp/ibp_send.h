/* SPDX-License-Identifier: MIT */
/*
 * Requests that send (struct xd_sending): an IBP command and its reply.
 *
 *     begin() -> ask() -> take() the reply
 *                            |  STORE is accepted
 *                            +-> move() ... move() -> take() the count
 *
 * Every reply is passed on, including errors.  A reply to STORE before
 * everything was sent is the final one.
 *
 * Threads: that of the transport.
 */
#ifndef XD_IO_IBP_SEND_H
#define XD_IO_IBP_SEND_H

#include "io/ibp/ibp_request.h"

/* Starts a request.  An invalid request is decided at once.  Errors: NOMEM. */
int xd_ibp_send_begin(struct xd_ibp_request *q);

/* Writes the command to an idle socket. */
void xd_ibp_send_ask(struct xd_ibp_request *q);

/* Handles a reply without its line feed; `rest` more bytes followed it. */
void xd_ibp_send_take(struct xd_ibp_request *q, char *line, size_t len,
                      size_t rest);

/* Sends more of the body.  Returns true if anything was done. */
bool xd_ibp_send_body(struct xd_ibp_request *q);

/* Notes progress if the kernel is still sending data. */
void xd_ibp_send_watch(struct xd_ibp_request *q);

#endif
