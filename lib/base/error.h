/* SPDX-License-Identifier: MIT */
/*
 * Writes error messages where a failure is detected.
 *
 * Each function returns `code`, so a failure takes one line:
 *     return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
 * `err` may be NULL.
 */
#ifndef XD_BASE_ERROR_H
#define XD_BASE_ERROR_H

#include <stdarg.h>
#include <xdownload/error.h>

int xd_fail(struct xd_error *err, enum xd_code code, const char *format, ...)
    XD_PRINTF(3, 4);

/* Appends ": " and the system's text for `os_errno`. */
int xd_fail_errno(struct xd_error *err, enum xd_code code, int os_errno,
                  const char *format, ...) XD_PRINTF(4, 5);

/* Like xd_fail(), but keeps errno, HTTP status, depot and URL of `cause`, which
 * may be the same object as `err`. */
int xd_fail_because(struct xd_error *err, enum xd_code code,
                    const struct xd_error *cause, const char *format, ...)
    XD_PRINTF(4, 5);

/* Sets the depot and the (public) URL of the failure.  NULL leaves a field
 * unchanged. */
void xd_error_locate(struct xd_error *err, const char *depot, const char *url);

int xd_fail_nomem(struct xd_error *err);

/* A stored error, which takes only the memory its strings need.  struct
 * xd_error has 2 KiB, and a manifest may list 100,000 failing depots. */
struct xd_kept_error {
    enum xd_code code;
    int os_errno, http_status;
    const char *msg, *depot, *url;
};

/*
 * Copies an error.  Never returns NULL; if memory is exhausted, the result says
 * "out of memory" instead.
 * Ownership: release it with xd_kept_error_free().
 */
const struct xd_kept_error *xd_error_keep(const struct xd_error *err);

/* Converts a stored error back.  NULL gives "no error". */
struct xd_error xd_kept_error_get(const struct xd_kept_error *kept);

/* Releases a stored error; NULL does nothing. */
void xd_kept_error_free(const struct xd_kept_error *kept);

#endif
