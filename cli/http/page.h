/* SPDX-License-Identifier: MIT */
/* Writes the common beginning of HTML pages. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdio.h>

/* Writes everything up to and including the title.  The title is not escaped.
 * The caller must close the head element. */
void page_begin(FILE *to, const char *title);

#endif
