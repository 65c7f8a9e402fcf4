/* SPDX-License-Identifier: MIT */
/*
 * Stop calls that wait for the network, from another thread or from a signal
 * handler.
 *
 *     #include <signal.h>
 *     #include <xdownload/xdownload.h>
 *
 *     static struct xd_cancel *cancel;
 *
 *     static void on_signal(int sig)
 *     {
 *         (void)sig;
 *         xd_cancel_trigger(cancel);
 *     }
 *
 *     int fetch_until_ctrl_c(const char *manifest, struct xd_options *o,
 *                            struct xd_error *err)
 *     {
 *         int rc = xd_cancel_new(&cancel, err);
 *
 *         if (rc < 0)
 *             return rc;
 *         xd_options_set_cancel(o, cancel);
 *         signal(SIGINT, on_signal);
 *         rc = xd_fetch(manifest, NULL, o, err); // XD_E_CANCELED after Ctrl-C
 *         signal(SIGINT, SIG_DFL);
 *         xd_options_set_cancel(o, NULL);
 *         xd_cancel_free(cancel);
 *         return rc;
 *     }
 *
 * After xd_cancel_trigger(), every call that uses these options returns
 * XD_E_CANCELED within a second, even if it waits for a name server that does
 * not answer.  A cancel object stays triggered, so later calls that use it fail
 * at once.
 *
 * Threads: any thread may call all functions here.  xd_cancel_trigger() and
 *          xd_cancel_is_triggered() are also safe in a signal handler.  During
 *          and after xd_cancel_free(), no function of this header may be called
 *          with the same cancel object.
 */
#ifndef XDOWNLOAD_CANCEL_H
#define XDOWNLOAD_CANCEL_H

#include <stdbool.h>
#include <xdownload/error.h>

struct xd_cancel;

XD_BEGIN_DECLS

/*
 * Creates a cancel object.  It has its own thread, which sleeps until
 * xd_cancel_trigger() is called.
 * Ownership: the caller releases *out with xd_cancel_free().
 * Errors:    NOMEM.
 */
XD_API XD_MUST_CHECK int xd_cancel_new(struct xd_cancel **out,
                                       struct xd_error *err);

/* Ends all calls, downloads and sources that use the cancel object.  Blocks:
 * no. */
XD_API void xd_cancel_trigger(struct xd_cancel *c);

/* Returns true after xd_cancel_trigger().  Blocks: no. */
XD_API bool xd_cancel_is_triggered(const struct xd_cancel *c);

/*
 * Releases a cancel object; NULL does nothing.  Calls and downloads may still
 * use it; they continue unless it was triggered.  Do not call this function in
 * a signal handler.
 * Blocks: less than a second, to free the memory of the calls that were ended.
 *         With libcurl before 7.87, it also waits for name servers that do not
 *         answer.
 */
XD_API void xd_cancel_free(struct xd_cancel *c);

XD_END_DECLS

#endif
