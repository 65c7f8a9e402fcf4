/* SPDX-License-Identifier: MIT */
/*
 * A cancel ends what waits for the network: whatever was given it through
 * xd_options_set_cancel() returns XD_E_CANCELED within a second of its trigger,
 * name servers that do not answer included.
 *
 *     new -> xd_options_set_cancel() -> trigger -> free
 *
 * It is triggered once and stays so: what is given it later ends at once.
 *
 * Threads: any thread may call everything here; trigger() and is_triggered()
 *          are safe in a signal handler too.  No call uses a cancel after its
 *          free(); what it was given to needs it no longer then.
 */
#ifndef XDOWNLOAD_CANCEL_H
#define XDOWNLOAD_CANCEL_H

#include <stdbool.h>
#include <xdownload/error.h>

struct xd_cancel;

XD_BEGIN_DECLS

/*
 * A cancel, with a thread of its own, which sleeps.
 * Ownership: *out is the caller's, to release with xd_cancel_free().
 * Errors:    NOMEM.
 */
XD_API XD_MUST_CHECK int xd_cancel_new(struct xd_cancel **out,
                                       struct xd_error *err);

/* End what it was given to.  Blocks: no. */
XD_API void xd_cancel_trigger(struct xd_cancel *c);

XD_API bool xd_cancel_is_triggered(const struct xd_cancel *c);

/*
 * NULL does nothing.  What it was given to goes on, if it was not triggered.
 * Blocks: until what calls left behind that it has ended is released: less than
 *         a second; with a libcurl older than 7.87, for as long as a name server
 *         that does not answer is waited for.  Not in a signal handler.
 */
XD_API void xd_cancel_free(struct xd_cancel *c);

XD_END_DECLS

#endif
