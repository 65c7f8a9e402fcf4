/* SPDX-License-Identifier: MIT */
/*
 * A list of different files.  It may have 100,000 files, so it is stored
 * compactly.
 */
#ifndef XD_MANIFEST_LIST_H
#define XD_MANIFEST_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>

struct xd_manifest;

/* See struct xd_listed. */
struct xd_list_row {
    uint32_t line, first_url, n_urls;
    const char *path, *directory, *name, *checksum; /* each may be NULL */
};

struct xd_list {
    /* a manifest without files, whose pool holds the strings */
    struct xd_manifest *strings;
    struct xd_list_row *rows;
    size_t n, capacity;
    const char **urls; /* all URLs, file by file */
    size_t n_urls, urls_capacity;
    const char **warnings;
    size_t n_warnings, warnings_capacity;
};

#endif
