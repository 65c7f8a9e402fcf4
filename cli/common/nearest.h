/* SPDX-License-Identifier: MIT */
/*
 * The name that was meant by one that was mistyped.  Pure.
 */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word; /* as typed, of this length */
    size_t len;
    const char *name; /* so far, or NULL: none is near */
    size_t distance;  /* of it; while there is none, one too many */
};

void nearest_init(struct nearest *n, const char *word, size_t len);

/* `name`, which outlives *n, may be it.  Of equally near ones the first is. */
void nearest_consider(struct nearest *n, const char *name);

#endif
