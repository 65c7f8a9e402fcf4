/* SPDX-License-Identifier: MIT */
/*
 * The version of the library, and macros that the other headers use.
 */
#ifndef XDOWNLOAD_VERSION_H
#define XDOWNLOAD_VERSION_H

#define XD_VERSION_MAJOR 0
#define XD_VERSION_MINOR 1
#define XD_VERSION_PATCH 0

/* XD_VERSION_NUMBER is the version of these headers as one number, 0xMMmmpp:
 * major, minor, patch. */
#define XD_VERSION_NUMBER \
    (XD_VERSION_MAJOR << 16 | XD_VERSION_MINOR << 8 | XD_VERSION_PATCH)

/*
 * Macros for declarations:
 * - XD_API: the shared library exports the function.
 * - XD_MUST_CHECK: the compiler warns if the result is ignored.
 * - XD_PRINTF: the compiler checks the arguments against the format.
 */
#if defined(__GNUC__) || defined(__clang__)
#define XD_API __attribute__((visibility("default")))
#define XD_MUST_CHECK __attribute__((warn_unused_result))
#define XD_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define XD_API
#define XD_MUST_CHECK
#define XD_PRINTF(f, a)
#endif

/*
 * Structs whose first field is struct_size may grow in later releases.
 * struct_size tells the library which fields the program was compiled with.  A
 * program usually does not set it by hand:
 * - If a function fills in a struct, a macro with the same name as the function
 *   sets struct_size.
 * - In a struct that the program fills in, XD_SIZED sets struct_size: `struct
 *   xd_replica r = {XD_SIZED(struct xd_replica), .url = url};`.  Without
 *   XD_SIZED, the function that gets the struct fails with INVAL.
 *
 * If a program defines XD_SIZES_BY_HAND, the macros for functions do not exist,
 * and the program must set struct_size before each call.
 */
#ifdef __cplusplus
#define XD_SIZED(type) sizeof(type)
#else
#define XD_SIZED(type) .struct_size = sizeof(type)
#endif

/* Defines the inline function with which the macros for functions set
 * struct_size. */
#define XD_FILLS(name)                                        \
    static inline struct name *name##_sized(struct name *out) \
    {                                                         \
        if (out)                                              \
            out->struct_size = sizeof *out;                   \
        return out;                                           \
    }

#ifdef __cplusplus
#define XD_BEGIN_DECLS extern "C" {
#define XD_END_DECLS }
#else
#define XD_BEGIN_DECLS
#define XD_END_DECLS
#endif

XD_BEGIN_DECLS
/*
 * Returns the version of the library that the program runs with, such as
 * "0.1.0".  That library may be newer than these headers.
 * Ownership: the string is static.
 * Threads:   any.
 */
XD_API const char *xd_version(void);

XD_END_DECLS

#endif
