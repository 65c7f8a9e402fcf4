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

int xd_fail_nomem(struct xd_error *err);

#endif
