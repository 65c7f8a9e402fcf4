/* SPDX-License-Identifier: MIT */
/*
 * Options: an opaque set of named values, filled in before a download is made
 * and copied by it.  One table, lib/engine/options.def, feeds the functions
 * below and, through xd_option_info(), the command line and its help.
 */
#ifndef XDOWNLOAD_OPTIONS_H
#define XDOWNLOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/cancel.h>
#include <xdownload/error.h>

struct xd_options;

enum xd_log_level {
    XD_LOG_ERROR,
    XD_LOG_WARN,
    XD_LOG_INFO,
    XD_LOG_DEBUG,
    XD_LOG_STATUS /* what a call waits for, each second from the first on:
                     "waiting for d3.example, 5 s"; it replaces the one before */
};

/*
 * Threads:  called from any thread, one call at a time, with no lock of the
 *           download held.
 * May call: nothing of this library.
 */
typedef void xd_log_fn(void *user, enum xd_log_level level, const char *line);

/* What one row of the table says.  Strings live for ever. */
struct xd_option_info {
    size_t struct_size;        /* set by the caller */
    const char *name;          /* "block-size" */
    const char *argument;      /* "SIZE", or NULL: a switch, off by default */
    const char *range;         /* "16k to 64m", or NULL */
    const char *default_value; /* as xd_options_set() would take it, or NULL */
    const char *used_by;       /* algorithms that heed it, or NULL: all */
    const char *sentence;      /* what it does */
    bool repeats;              /* whether each value adds to those before */
    bool is_secret;            /* whether a value is not to be shown */
};

XD_BEGIN_DECLS

/*
 * A new set with every option at its default.
 * Ownership: the caller's, to release with xd_options_free().
 * Errors: NOMEM.  Threads: a set belongs to one thread at a time.
 */
XD_API XD_MUST_CHECK int xd_options_new(struct xd_options **out,
                                        struct xd_error *err);
XD_API void xd_options_free(struct xd_options *o); /* NULL does nothing */

/*
 * A new set with the values, the log and the cancel of `o`, which stays as it
 * is: for a series of downloads that differ in some options.
 * Ownership: the caller's, to release with xd_options_free().
 * Errors: NOMEM.  Threads: several threads may copy one set at a time, while
 *         none changes it.
 */
XD_API XD_MUST_CHECK int xd_options_dup(struct xd_options **out,
                                        const struct xd_options *o,
                                        struct xd_error *err);

/*
 * Set one option by its long name.  Sizes take k, m, g, t (1024); times take
 * ms, s, m, h; a switch takes "yes" or "no".  Set again, an option has the
 * last value, or all of them if it repeats.
 * Ownership: `value` is copied.
 * Errors: INVAL, with the name, the value and the allowed range in err->msg.
 */
XD_API XD_MUST_CHECK int xd_options_set(struct xd_options *o, const char *name,
                                        const char *value,
                                        struct xd_error *err);

/*
 * Whether the options that were set go together: one that the chosen
 * algorithm does not use is an error that says which algorithms do.
 * Called by xd_download_new() too.  Errors: INVAL.
 */
XD_API XD_MUST_CHECK int xd_options_check(const struct xd_options *o,
                                          struct xd_error *err);

/* Where the library's words go.  NULL: nowhere (the default). */
XD_API void xd_options_set_log(struct xd_options *o, xd_log_fn *log,
                               void *user);

/* What set_log() was given last; both may be NULL. */
XD_API void xd_options_log(const struct xd_options *o, xd_log_fn **out_log,
                           void **out_user);

/*
 * What ends all that the set is given to: downloads and sources with their
 * readers, xd_fetch(), xd_inspect(), xd_copies_find() and
 * xd_checksums_fetch().  NULL: nothing (the default).  The option `max-time` is
 * the other way to bound these.
 * Ownership: the set, and what it is given to, keep what they need of `c`, which
 *            the caller may free at any time.
 */
XD_API void xd_options_set_cancel(struct xd_options *o, struct xd_cancel *c);

/* The i-th row of the table; 0, or INVAL past the last.  Threads: any. */
XD_API int xd_option_info(size_t i, struct xd_option_info *out);

XD_END_DECLS

#endif
