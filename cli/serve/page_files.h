/* SPDX-License-Identifier: MIT */
/*
 * The files that the page loads.  They are in serve/page/ and are compiled into
 * the program.
 */
#ifndef CLI_PAGE_FILES_H
#define CLI_PAGE_FILES_H

#include <stddef.h>

struct page_file {
    const char *name, *type;
    const unsigned char *bytes;
    size_t len;
};

/* The last element has no name. */
extern const struct page_file page_files[];

#endif
