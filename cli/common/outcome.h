/* SPDX-License-Identifier: MIT */
/* One word for what came of a request. */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <xdownload/download.h>

#define OUTCOME_SIZE 16

/* "ok", "redundant" (another request had delivered all of it before),
 * "canceled", or the name of the error code in small letters.  Returns
 * `out`. */
const char *outcome_name(char out[OUTCOME_SIZE],
                         const struct xd_fetch_record *r);

#endif
