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

#endif
