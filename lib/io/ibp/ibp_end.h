/* SPDX-License-Identifier: MIT */
/*
 * How a request at an IBP depot ends: its verdict, and the sentence for people.
 *
 * Threads: that of the transport.
 */
#ifndef XD_IO_IBP_END_H
#define XD_IO_IBP_END_H

#include "io/ibp/ibp_request.h"

void xd_ibp_end_decide(struct xd_ibp_request *q, enum xd_verdict verdict);

/* Whether the connection, which was kept, may be to blame: it was closed long
 * ago, or what another request was sent too much comes now. */
bool xd_ibp_end_is_stale(const struct xd_ibp_request *q);

/* What came is no reply; or says an error; or the connection broke (os_errno 0:
 * the depot closed it).  A stale connection is made anew instead. */
void xd_ibp_end_garbage(struct xd_ibp_request *q);
void xd_ibp_end_by_code(struct xd_ibp_request *q, int64_t code);
void xd_ibp_end_connection(struct xd_ibp_request *q, int os_errno);

/* The handler's answer `rc` refuses the rest. */
void xd_ibp_end_refused(struct xd_ibp_request *q, int rc);

/* These do nothing once it is decided. */
void xd_ibp_end_stop(struct xd_ibp_request *q);
void xd_ibp_end_silent(struct xd_ibp_request *q, xd_usec silence);
void xd_ibp_end_nomem(struct xd_ibp_request *q);

#endif
