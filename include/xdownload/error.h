/* SPDX-License-Identifier: MIT */
/*
 * Errors.
 *
 * A function that can fail returns 0 or a negative xd_code; one that also
 * counts something returns the count (>= 0) or a negative xd_code.  Nothing is
 * kept in errno or in thread-local storage: most failures happen on a worker
 * thread and are read on another.  The story of a failure goes into the
 * struct xd_error that the caller passes last, and may be NULL.
 */
#ifndef XDOWNLOAD_ERROR_H
#define XDOWNLOAD_ERROR_H

#include <stdint.h>
#include <xdownload/version.h>

/* name, value, what it means.  Values never change; new ones go last. */
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
        XD_E_UNUSED_ = -2147483647 - 1 /* keeps the enum an int for ever */
};

/*
 * A failure.  It is written when a call fails, as a whole, and left alone when
 * it succeeds.
 *
 * Its size never changes: what later releases have to say takes the place of
 * `reserved`, which is 0 until then.  All other public structs that the library
 * fills in grow by their struct_size.  This one does not need one, because
 * callers leave it uninitialised on the stack in each function that calls the
 * library, and a forgotten struct_size would show only when a call
 * fails, as a write beyond the struct.
 */
struct xd_error {
    enum xd_code code; /* branch on this */
    int os_errno;      /* errno behind it, or 0 */
    int http_status;   /* the depot's HTTP status, such as 401, or the number of
                          its FTP reply, such as 530; 0: neither is the cause */
    char msg[500];     /* one English sentence, no newline: for people */
    char depot[264];   /* the depot that failed, as xd_depot_stats.host names
                          it; "": no depot is the cause */
    char url[1024];    /* that failed, after redirects; without user name,
                          password, query and fragment; cut if it is longer;
                          "": no URL is the cause */
    uint64_t reserved[31];
};

XD_BEGIN_DECLS
/*
 * "NOREPLICA"; "every replica of some bytes has failed".  Never NULL: an
 * unknown code gives "UNKNOWN".
 * Threads: any.  Blocks: no.
 */
XD_API const char *xd_code_name(int code);
XD_API const char *xd_code_text(int code);
XD_END_DECLS

#endif
