/* SPDX-License-Identifier: MIT */
/*
 * Options of curl, wget and aria2.  If an option has only one possible meaning
 * here, it is accepted.  For the other options there are messages that say what
 * to use instead.
 */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stddef.h>

/* An option of another program, and our option with the same effect; NULL if we
 * always do what it asks for. */
struct foreign {
    const char *name, *ours;
};

/* Returns option number `i`, or NULL after the last option. */
const struct foreign *foreign_option(size_t i);

/* Returns a sentence that says what to use instead of an option of another
 * program, such as --split, -O or wget's -nc; or NULL.  Only the first `len`
 * bytes of `typed` count. */
const char *foreign_advice(const char *typed, size_t len);

/* Returns a sentence that says what to use instead of our option `name`, if the
 * value shows that the user means another program's option with the same
 * letter; or NULL. */
const char *foreign_value_advice(const char *name, const char *value);

#endif
