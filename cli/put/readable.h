/* SPDX-License-Identifier: MIT */
/* Finds out whether everyone can read the copies that a manifest names. */
#ifndef CLI_READABLE_H
#define CLI_READABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "args/args.h"

struct readable {
    char closed[256]; /* hosts that refused access, separated by commas */
    size_t n_closed, n_asked;
};

/* Asks each host for one copy without the user's credentials.  Only a refusal
 * counts as "not readable".
 * Blocks: until all hosts have answered. */
void readable_find(struct readable *out, const char *manifest,
                   const struct args *a);

#endif
