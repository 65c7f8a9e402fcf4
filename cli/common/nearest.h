/* SPDX-License-Identifier: MIT */
/*
 * Finds the name that is most similar to a mistyped word, for suggestions.
 * Pure.
 */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word; /* the word as the user typed it */
    size_t len;
    const char *name; /* best name so far; NULL: no name is similar enough */
    /* distance of `name`; if NULL, the largest allowed distance + 1 */
    size_t distance;
};

void nearest_init(struct nearest *n, const char *word, size_t len);

/* Compares `name` with the word.  `name` must outlive *n.  If several names are
 * equally near, the first is kept. */
void nearest_consider(struct nearest *n, const char *name);

#endif
