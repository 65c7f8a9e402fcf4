/* SPDX-License-Identifier: MIT */
/*
 * Subsets of the depots for the runs.  Pure.
 *
 *     E3          the first three depots (exNode E3 of the paper)
 *     E1-E6       six subsets: E1, E2, and so on up to E6
 *     chain       E1, E2, and so on up to all depots
 *     subsets     every choice of at least one depot
 *     drop-one    all depots, and each choice that lacks one of them
 *     all         all depots
 *     1+3+5       these depots, counted from 1
 */
#ifndef CLI_SUBSET_H
#define CLI_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBSET_DEPOTS_MAX 64
#define SUBSET_NAME_SIZE 200 /* longest name: "1+2+...+64" */

/* A set of depots: bit i stands for depot i. */
typedef uint64_t subset;

struct subsets {
    subset *items;
    size_t n;
};

/*
 * Parses these words, separated by commas, for `n_depots` depots.  Duplicates
 * are removed.  Returns false if a word is wrong, and explains it in `why`.
 * Ownership: out->items is the caller's, to be freed.
 */
bool subsets_parse(struct subsets *out, const char *text, size_t n_depots,
                   char *why, size_t size);

/* Writes the name of a subset: "E3" for the first three depots, "1+3+5" for
 * other choices. */
void subset_name(char out[SUBSET_NAME_SIZE], subset s);
size_t subset_count(subset s);

#endif
