/* SPDX-License-Identifier: MIT */
/*
 * The story of a failure is written once, where it is noticed.
 *
 * Each function returns `code`, so that a failure is one line:
 *     return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
 * `err` may be NULL.
 */
#ifndef XD_BASE_ERROR_H
#define XD_BASE_ERROR_H

#include <stdarg.h>
#include <xdownload/error.h>

int xd_fail(struct xd_error *err, enum xd_code code, const char *format, ...)
    XD_PRINTF(3, 4);

/* The same, with ": " and what the system says of `os_errno` at the end. */
int xd_fail_errno(struct xd_error *err, enum xd_code code, int os_errno,
                  const char *format, ...) XD_PRINTF(4, 5);

/* The same as xd_fail(), as a consequence of `cause`, which may be `err`: its
 * errno, HTTP status, depot and URL stay those of the failure. */
int xd_fail_because(struct xd_error *err, enum xd_code code,
                    const struct xd_error *cause, const char *format, ...)
    XD_PRINTF(4, 5);

/* Say which depot failed, and at which URL, which is fit to be shown.  Either
 * may be NULL: it stays as it is. */
void xd_error_locate(struct xd_error *err, const char *depot, const char *url);

int xd_fail_nomem(struct xd_error *err);

/* An error that is kept, in as little memory as its strings need: struct
 * xd_error has 2 KiB, and a manifest may name 100 000 depots that fail. */
struct xd_kept_error {
    enum xd_code code;
    int os_errno, http_status;
    const char *msg, *depot, *url;
};

/*
 * Without memory for it "out of memory" is kept instead.  Never NULL.
 * Ownership: the caller's, to release with xd_kept_error_free().
 */
const struct xd_kept_error *xd_error_keep(const struct xd_error *err);

/* The error that was kept; no error for NULL. */
struct xd_error xd_kept_error_get(const struct xd_kept_error *kept);

/* NULL does nothing. */
void xd_kept_error_free(const struct xd_kept_error *kept);

#endif
