/* SPDX-License-Identifier: MIT */
/*
 * Decides how an IBP request ends: verdict and message.
 *
 * Threads: that of the transport.
 */
#ifndef XD_IO_IBP_END_H
#define XD_IO_IBP_END_H

#include "io/ibp/ibp_request.h"

void xd_ibp_end_decide(struct xd_ibp_request *q, enum xd_verdict verdict);

/* Returns whether the failure may be due to a reused connection: it was closed
 * meanwhile, or surplus data of an earlier request arrived. */
bool xd_ibp_end_is_stale(const struct xd_ibp_request *q);

/* Handle an invalid reply, an error code, and a broken connection (os_errno 0:
 * closed by the depot).  If the failure may be due to a reused connection, they
 * ask for a new connection instead. */
void xd_ibp_end_garbage(struct xd_ibp_request *q);
void xd_ibp_end_by_code(struct xd_ibp_request *q, int64_t code);
void xd_ibp_end_connection(struct xd_ibp_request *q, int os_errno);

/* Ends the request, because the handler has refused the rest with `rc`. */
void xd_ibp_end_refused(struct xd_ibp_request *q, int rc);

/* End a request: after stop(), after a silence, or without memory.  They do
 * nothing if the outcome is decided already. */
void xd_ibp_end_stop(struct xd_ibp_request *q);
void xd_ibp_end_silent(struct xd_ibp_request *q, xd_usec silence);
void xd_ibp_end_nomem(struct xd_ibp_request *q);

#endif
