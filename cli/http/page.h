/* SPDX-License-Identifier: MIT */
/* What all pages in HTML begin with. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdio.h>

/* Up to the title, which is put as it is; the head is still open. */
void page_begin(FILE *to, const char *title);

#endif
