/* SPDX-License-Identifier: MIT */
/*
 * How functions of this library report failures.
 *
 * A function that can fail returns 0 on success and a negative enum xd_code on
 * failure.  A function that returns a count or a position returns that number
 * (>= 0) on success.  The parameter `err`, which most of them have, receives
 * the details of a failure, and may be NULL.  If a function that creates an
 * object in *out fails, *out is NULL.
 *
 *     #include <stdio.h>
 *     #include <xdownload/xdownload.h>
 *
 *     int fetch(const char *source, const char *path)
 *     {
 *         struct xd_error err;
 *         int rc = xd_fetch(source, path, NULL, &err);
 *
 *         if (rc == XD_E_IO)
 *             fprintf(stderr, "disk: %s\n", err.msg);
 *         else if (rc < 0)
 *             fprintf(stderr, "%s: %s\n", xd_code_name(rc), err.msg);
 *         return rc;
 *     }
 *
 * Comments in the headers name error codes without their prefix: INVAL means
 * XD_E_INVAL.  The library does not use errno or thread-local variables for its
 * own errors, because most failures happen on its worker threads.
 */
#ifndef XDOWNLOAD_ERROR_H
#define XDOWNLOAD_ERROR_H

#include <stdint.h>
#include <xdownload/version.h>

/* XD_CODE_MAP lists the error codes: name, value, meaning.  Values never
 * change.  Later releases may add codes at the end, so a program must expect
 * codes that it does not know. */
#define XD_CODE_MAP(X)                                               \
    X(INVAL, -1, "an argument or option is out of range")            \
    X(NOMEM, -2, "out of memory")                                    \
    X(MANIFEST, -3, "the manifest cannot be understood")             \
    X(NOREPLICA, -4, "every replica of some bytes has failed")       \
    X(CORRUPT, -5, "bytes arrived that do not match their checksum") \
    X(NET, -6, "a depot could not be reached or broke off")          \
    X(IO, -7, "a local file could not be read or written")           \
    X(AGAIN, -8, "not yet: the time allowed ran out")                \
    X(CANCELED, -9, "the caller asked to stop")                      \
    X(STATE, -10, "not allowed at this point of the object's life")  \
    X(BUG, -11, "the library broke its own rules; please report it") \
    X(PIPE, -12, "the reader of the output went away")               \
    X(DIFFERENT, -13, "a depot holds a different file")              \
    X(TIMEOUT, -14, "the time allowed for the whole ran out")

enum xd_code {
    XD_OK = 0,
#define XD_X(name, value, text) XD_E_##name = value,
    XD_CODE_MAP(XD_X)
#undef XD_X
        XD_E_UNUSED_ =
            -2147483647 - 1 /* makes the enum an int in every release */
};

/*
 * Details of a failure.
 *
 * A function that fails writes the whole struct.  A function that succeeds does
 * not touch it, so the caller need not initialise it.
 *
 * Its size never changes: later releases may replace a part of `reserved`,
 * which is 0 now, with new fields.  It has no struct_size, unlike the other
 * public structs that the library fills in.
 */
struct xd_error {
    enum xd_code code; /* kind of failure */
    int os_errno;      /* errno of the system call that failed, or 0 */
    /* The HTTP status of the depot's response, such as 401, or the code of its
     * FTP reply, such as 530.  0 if no such response is the cause. */
    int http_status;
    char msg[500]; /* one English sentence for the user, without a newline */
    /* The depot that failed, named as in struct xd_depot_stats.host; "" if no
     * depot is the cause. */
    char depot[264];
    /* The URL that failed, after redirects; "" if no URL is the cause.  It has
     * no user name, password, query or fragment, so that it may be shown.  It
     * is truncated if it is too long. */
    char url[1024];
    uint64_t reserved[31];
};

XD_BEGIN_DECLS

/*
 * xd_code_name() returns the name of an error code, such as "NOREPLICA".
 * xd_code_text() returns its meaning, such as "every replica of some bytes has
 * failed".
 * Returns: a static string, never NULL.  For an unknown code it is "UNKNOWN".
 *          XD_OK is a known code.
 * Threads: any.
 */
XD_API const char *xd_code_name(int code);
XD_API const char *xd_code_text(int code);

XD_END_DECLS

#endif
