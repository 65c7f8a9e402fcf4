/* SPDX-License-Identifier: MIT */
/*
 * Growing arrays, and a binary search.
 */
#ifndef XD_BASE_ARRAY_H
#define XD_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Makes room for one more element in `array`, which has `n`.  Returns the
 * array, which may have moved, or NULL with the old one unchanged. */
void *xd_grow(void *array, size_t n, size_t *capacity, size_t size);

/* Extends `*array` from `n` to `more` >= n elements and zeroes the new ones.
 * `array` points to the pointer to the first element.  Returns 0, or NOMEM with
 * the array unchanged. */
int xd_lengthen(void *array, size_t n, size_t more, size_t size);

/* Like xd_lengthen(), for arrays in which few elements will be used.  Elements
 * that are never touched take no physical memory. */
int xd_make_room(void *array, size_t n, size_t more, size_t size);

/*
 * Returns the number of elements whose key is at most `most`, in an array
 * sorted by key.  That is also the index of the first element with a larger
 * key.  Each element is `stride` bytes long, with a uint64_t key at `offset`.
 */
size_t xd_count_up_to(uint64_t most, const void *array, size_t n, size_t stride,
                      size_t offset);

#endif
