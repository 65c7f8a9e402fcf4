/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow, and a place in one that is sorted.
 */
#ifndef XD_BASE_ARRAY_H
#define XD_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Room for one element more than the `n` in `array`.  Returns the array, moved
 * perhaps; after a failure the old one is as before. */
void *xd_grow(void *array, size_t n, size_t *capacity, size_t size);

/* Make `*array`, a pointer to the first of `n` elements, as long as `more` >= n
 * of them; the new ones are zeroed.  0, or NOMEM with the array as before. */
int xd_lengthen(void *array, size_t n, size_t more, size_t size);

/* Likewise where few of the new ones may ever be used: such cost no memory. */
int xd_make_room(void *array, size_t n, size_t more, size_t size);

/*
 * How many of the n elements have a key of `most` or less, which is also the
 * index of the first that has more.  Each is `stride` bytes long and has its
 * key, a uint64_t, `offset` bytes from its beginning.
 */
size_t xd_count_up_to(uint64_t most, const void *array, size_t n, size_t stride,
                      size_t offset);

#endif
