/* SPDX-License-Identifier: MIT */
#ifndef XDOWNLOAD_VERSION_H
#define XDOWNLOAD_VERSION_H

#define XD_VERSION_MAJOR 0
#define XD_VERSION_MINOR 1
#define XD_VERSION_PATCH 0

/* 0xMMmmpp; later releases compare greater. */
#define XD_VERSION_NUMBER \
    (XD_VERSION_MAJOR << 16 | XD_VERSION_MINOR << 8 | XD_VERSION_PATCH)

/* XD_API marks what the shared library exports; everything else is hidden. */
#if defined(__GNUC__) || defined(__clang__)
#define XD_API __attribute__((visibility("default")))
#define XD_MUST_CHECK __attribute__((warn_unused_result))
#define XD_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define XD_API
#define XD_MUST_CHECK
#define XD_PRINTF(f, a)
#endif

#ifdef __cplusplus
#define XD_BEGIN_DECLS extern "C" {
#define XD_END_DECLS }
#else
#define XD_BEGIN_DECLS
#define XD_END_DECLS
#endif

XD_BEGIN_DECLS
/*
 * Version of the library in memory, which may be newer than these headers;
 * the same as text, "0.1.0"; and what it stands on, "libcurl/7.88.1 ...".
 * Threads: any.  Strings live for ever.
 */
XD_API unsigned xd_version_number(void);
XD_API const char *xd_version(void);
XD_API const char *xd_version_libcurl(void);
XD_END_DECLS

#endif
