/* SPDX-License-Identifier: MIT */
/*
 * A file that is there already: is it the one that is wanted?
 */
#ifndef CLI_PRESENT_H
#define CLI_PRESENT_H

#include <stdbool.h>
#include <stddef.h>

#include "get/fetch.h"

/* Complete files that one line is to be said of; a zeroed struct has none. */
struct present {
    size_t n;
    char *name; /* of the first */
    char algorithm[40];
};

/* Whether the job ends here, because its file is there and may not be replaced:
 * what is to be said of it was said, or is in `p`, and *out_status is how it
 * went. */
bool present_ends(const struct job *job, struct present *p, int *out_status);

/* Print it.  It is empty from then on. */
void present_print(struct present *p, const struct args *a);

/* xdownload verify: say what of the file is wrong, and fetch that if it is to
 * be repaired.  Returns a status. */
int present_verify(const struct args *a);

#endif
