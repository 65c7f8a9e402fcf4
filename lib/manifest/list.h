/* SPDX-License-Identifier: MIT */
/*
 * A list of different files, as it is kept: no more than is needed, as there may
 * be 100 000.
 */
#ifndef XD_MANIFEST_LIST_H
#define XD_MANIFEST_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/list.h>

struct xd_manifest;

/* The fields of struct xd_listed. */
struct xd_list_row {
    uint32_t line, first_url, n_urls;
    const char *path, *directory, *name, *checksum; /* each perhaps NULL */
};

struct xd_list {
    struct xd_manifest *strings; /* in its pool; it has no files */
    struct xd_list_row *rows;
    size_t n, capacity;
    const char **urls; /* of all files, file by file */
    size_t n_urls, urls_capacity;
    const char **warnings;
    size_t n_warnings, warnings_capacity;
};

#endif
