/* SPDX-License-Identifier: MIT */
/*
 * A request that sends (struct xd_sending): one command of IBP and its reply.
 *
 *     begin() -> ask() -> take() the reply
 *                            |  STORE's go-ahead
 *                            +-> move() ... move() -> take() the count
 *
 * Whatever the depot replies is handed over, errors too.  A reply to STORE that
 * comes before all is sent is its last.
 *
 * Threads: that of the transport.
 */
#ifndef XD_IO_IBP_SEND_H
#define XD_IO_IBP_SEND_H

#include "io/ibp/ibp_request.h"

/* What cannot be asked for is decided at once.  Errors: NOMEM. */
int xd_ibp_send_begin(struct xd_ibp_request *q);

/* Write the command, to a socket that has asked for nothing else. */
void xd_ibp_send_ask(struct xd_ibp_request *q);

/* A reply, without its line feed; `rest` bytes came behind it. */
void xd_ibp_send_take(struct xd_ibp_request *q, char *line, size_t len,
                      size_t rest);

/* Send more of the body; true if something was done. */
bool xd_ibp_send_body(struct xd_ibp_request *q);

/* What was sent may still be on its way: that it goes is progress. */
void xd_ibp_send_watch(struct xd_ibp_request *q);

#endif
