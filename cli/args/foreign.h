/* SPDX-License-Identifier: MIT */
/*
 * Options of curl, wget and aria2: those that mean one thing wherever they are
 * taken, and so are taken here; and sentences about the others.
 */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stddef.h>

/* An option of another program, and ours that does the same; NULL: it asks for
 * what happens in any case. */
struct foreign {
    const char *name, *ours;
};

/* The i-th; NULL: there are no more. */
const struct foreign *foreign_option(size_t i);

/* What to use here in place of a long option of another program, whose name has
 * this length, or of a letter; or NULL. */
const char *foreign_advice(const char *name, size_t len);
const char *foreign_letter_advice(int letter);

/* What to use in place of a word of wget's, such as -nc, that would be several
 * letters here; or NULL. */
const char *foreign_word_advice(const char *word);

/* What to use in place of our option `name`, if `value` shows that another
 * program's option with the same letter is meant; or NULL. */
const char *foreign_value_advice(const char *name, const char *value);

#endif
