/* SPDX-License-Identifier: MIT */
/*
 * Functions of options and versions that only the command needs.
 */
#ifndef XD_COMMAND_SETTINGS_H
#define XD_COMMAND_SETTINGS_H

#include <xdownload/options.h>

/* Reports the log function and its pointer, as given to
 * xd_options_set_log(). */
void xd_options_log(const struct xd_options *o, xd_log_fn **out_log,
                    void **out_user);

/* Returns the versions of libcurl and of the libraries that libcurl uses, such
 * as "libcurl/7.88.1 OpenSSL/3.0.15".  The string is static.  Threads: any. */
const char *xd_version_libcurl(void);

/*
 * Creates a copy of `o`, including its log function and its cancel object, for
 * downloads that differ in a few options.  `o` may be NULL for the defaults.
 * Ownership: the caller releases *out with xd_options_free().
 * Threads:   several threads may copy one set at the same time, if no thread
 *            changes it.
 * Errors:    NOMEM.
 */
XD_MUST_CHECK int xd_options_dup(struct xd_options **out,
                                 const struct xd_options *o,
                                 struct xd_error *err);

/*
 * Checks whether the options fit together, for example that the chosen
 * algorithm uses all options that were set.  xd_download_new() and the other
 * functions that create a download or a source check this, too.
 * Errors: INVAL; the message says which options conflict.
 */
XD_MUST_CHECK int xd_options_check(const struct xd_options *o,
                                   struct xd_error *err);

#endif
