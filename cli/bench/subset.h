/* SPDX-License-Identifier: MIT */
/*
 * Which of the depots a run may use.  Pure.
 *
 *     E3          the first three (the paper's exNode E3)
 *     E1-E6       E1, and E2, and so on
 *     chain       E1 to all of them
 *     subsets     every choice of at least one
 *     drop-one    all of them, and all but each one
 *     all         all of them
 *     1+3+5       these, counted from 1
 */
#ifndef CLI_SUBSET_H
#define CLI_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBSET_DEPOTS_MAX 64
#define SUBSET_NAME_SIZE 200 /* "1+2+...+64" */

/* Bit i: the i-th depot. */
typedef uint64_t subset;

struct subsets {
    subset *items;
    size_t n;
};

/*
 * What `text`, words as above with commas between them, means where there are
 * `n_depots`, each choice once.  False: `why` says what is wrong.
 * Ownership: out->items is the caller's, to be freed.
 */
bool subsets_parse(struct subsets *out, const char *text, size_t n_depots,
                   char *why, size_t size);

/* "E3" where it can be said so, else "1+3+5". */
void subset_name(char out[SUBSET_NAME_SIZE], subset s);
size_t subset_count(subset s);

#endif
