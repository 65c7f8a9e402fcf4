/* SPDX-License-Identifier: MIT */
/*
 * A file that is there already: is it the one that is wanted?
 */
#ifndef CLI_PRESENT_H
#define CLI_PRESENT_H

#include <stdbool.h>

#include "get/fetch.h"

/* Whether the job ends here, because its file is there and may not be replaced:
 * what is to be said of it was said, and *out_status is how it went. */
bool present_ends(const struct job *job, int *out_status);

/* xdownload verify: say what of the file is wrong, and fetch that if it is to
 * be repaired.  Returns a status. */
int present_verify(const struct args *a);

#endif
