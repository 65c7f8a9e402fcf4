/* SPDX-License-Identifier: MIT */
/*
 * Settings of downloads, sources, uploads and all other calls that use the
 * network: a set of named values.
 *
 *     #include <xdownload/xdownload.h>
 *
 *     int make_options(struct xd_options **out, struct xd_error *err)
 *     {
 *         int rc = xd_options_new(out, err);
 *
 *         if (rc == 0)
 *             rc = xd_options_set(*out, "limit-rate", "2m", err); // 2 MiB/s
 *         if (rc == 0)
 *             rc = xd_options_set(*out, "force", "yes", err);
 *         if (rc < 0) {
 *             xd_options_free(*out);
 *             *out = NULL;
 *         }
 *         return rc;
 *     }
 *
 * Functions that take options copy what they need, so a set can be changed or
 * freed as soon as they have returned.  If a program passes NULL instead of a
 * set, the defaults apply.  After xd_manifest_open(), keep the
 * set until the download or source has been started with it: the set may hold a
 * request that the download continues.
 *
 * libxdownload(3) lists all options.  A program can get the list from
 * xd_option_info().
 *
 * A cancel object ends calls that wait for the network, from another thread or
 * from a signal handler:
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
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: only one thread at a time may use a set.  Any thread may call the
 *          xd_cancel_ functions, and a signal handler may call
 *          xd_cancel_trigger().  During and after xd_cancel_free(), no function
 *          of this header may be called with the same cancel object.
 */
#ifndef XDOWNLOAD_OPTIONS_H
#define XDOWNLOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

struct xd_cancel;
struct xd_options;

enum xd_log_level {
    XD_LOG_ERROR,
    XD_LOG_WARN,
    XD_LOG_INFO,
    XD_LOG_DEBUG,
    /* A status line that says, once a second, what a call is waiting for:
     * "waiting for d3.example, 5 s".  Each line replaces the line before it.
     * Handle this level separately.  Its value is above XD_LOG_DEBUG, but it is
     * not a more detailed level. */
    XD_LOG_STATUS
};

/*
 * A callback for log lines: `line` is one line of English text, without a
 * newline.  It is valid during the call only.
 * Threads:  called from any thread of the library.  The calls for one download
 *           run one at a time.
 * May call: no function of this library.
 */
typedef void xd_log_fn(void *user, enum xd_log_level level, const char *line);

/* Description of one option.  The strings are static. */
struct xd_option_info {
    size_t struct_size; /* see version.h */
    const char *name;   /* "block-size" */
    const char
        *argument;     /* "SIZE"; NULL for a switch, which is off by default */
    const char *range; /* allowed values, "16k to 64m", or NULL */
    /* default value in the form that xd_options_set() takes, or NULL */
    const char *default_value;
    /* names of the algorithms that use the option; NULL: all algorithms */
    const char *used_by;
    const char *sentence; /* what the option does */
    /* each call of xd_options_set() adds a value to the earlier values */
    bool repeats;
    bool is_secret; /* the value must not be shown, for example a password */
};

XD_BEGIN_DECLS

/*
 * Creates a set with the default value of every option.
 * Ownership: the caller releases *out with xd_options_free().
 * Errors:    NOMEM.
 */
XD_API XD_MUST_CHECK int xd_options_new(struct xd_options **out,
                                        struct xd_error *err);

/* Releases a set; NULL does nothing. */
XD_API void xd_options_free(struct xd_options *o);

/*
 * Sets one option by its name, such as "block-size".  The value is text:
 * - Sizes are bytes, or have a suffix k, m, g or t (powers of 1024; KiB and so
 *   on mean the same) or kB, MB, GB or TB (powers of 1000).
 * - Rates are sizes, with or without "/s", or have a suffix such as Mbit/s.
 * - Times are seconds, or have a suffix ms, s, m, h or d.
 * - Switches are "yes" or "no".
 *
 * A new value replaces the old value.  But if the option repeats (see struct
 * xd_option_info), the new value is added to the old values, and no value can
 * be removed.
 *
 * Ownership: `value` is copied.
 * Errors:
 * - INVAL: there is no such option, or the value is not allowed (NULL is never
 *   allowed).  The message names the allowed range, and the option is not
 *   changed.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_options_set(struct xd_options *o, const char *name,
                                        const char *value,
                                        struct xd_error *err);

/*
 * Sets the function that receives log lines; NULL: none (the default).
 * Ownership: `user` must stay valid as long as the set, and everything that was
 *            created with it.
 */
XD_API void xd_options_set_log(struct xd_options *o, xd_log_fn *log,
                               void *user);

/*
 * Sets a cancel object, which can end all calls that use this set: downloads,
 * sources and their readers, xd_fetch(), xd_manifest_open(),
 * xd_checksums_read(), uploads, audits and all other calls that wait.  NULL:
 * none (the default).  The option max-time also limits the duration of these
 * calls.
 * Ownership: the caller may free `c` at any time, even while the set or
 *            anything created with it is in use.
 */
XD_API void xd_options_set_cancel(struct xd_options *o, struct xd_cancel *c);

/*
 * Describes option number `i` of the list of all options.
 * Returns: 0, or INVAL if `i` is out of range.
 * Threads: any.
 */
XD_API int xd_option_info(size_t i, struct xd_option_info *out);

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

/*
 * Releases a cancel object; NULL does nothing.  Calls and downloads may still
 * use it; they continue unless it was triggered.  Do not call this function in
 * a signal handler.
 * Blocks: less than a second, to free the memory of the calls that were ended.
 *         With libcurl before 7.87, it also waits for name servers that do not
 *         answer.
 */
XD_API void xd_cancel_free(struct xd_cancel *c);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_option_info)
#define xd_option_info(i, out) xd_option_info(i, xd_option_info_sized(out))
#endif

XD_END_DECLS

#endif
