/* SPDX-License-Identifier: MIT */
/* The outcome of a request as one word. */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <xdownload/download.h>

struct xd_fetch_record;

#define OUTCOME_SIZE 16

/* Writes the outcome to `out` and returns `out`: "ok", "redundant" (another
 * request had already delivered all of its bytes), "canceled", or the name of
 * the error code in lower case. */
const char *outcome_name(char out[OUTCOME_SIZE],
                         const struct xd_fetch_record *r);

#endif
