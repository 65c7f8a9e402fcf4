/* SPDX-License-Identifier: MIT */
/* The options of what offers files as a server: serve and depot. */
#ifndef CLI_OFFER_H
#define CLI_OFFER_H

#include "args/args.h"
#include "args/options.h"

/* Where serve, depot and play listen: this machine alone, a free port. */
#define OFFER_LISTEN "127.0.0.1"

/* Obey --token, of which the value is blanked, or --active-length.  Returns 0, or a
 * status after the reason was said. */
int offer_take(struct args *a, const struct option_row *row, char *value);

/* Whether what was given goes together: where it listens, and what depot serves. */
int offer_check(struct args *a);
int offer_check_depot(struct args *a);

#endif
