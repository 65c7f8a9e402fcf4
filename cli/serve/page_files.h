/* SPDX-License-Identifier: MIT */
/*
 * What the page loads beside itself: the files of serve/page/, as they are in the
 * sources, built into the program.
 */
#ifndef CLI_PAGE_FILES_H
#define CLI_PAGE_FILES_H

#include <stddef.h>

struct page_file {
    const char *name, *type;
    const unsigned char *bytes;
    size_t len;
};

/* Ended by one without a name. */
extern const struct page_file page_files[];

#endif
