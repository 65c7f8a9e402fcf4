/* SPDX-License-Identifier: MIT */
/*
 * Fill in the struct of a caller that was compiled against an older version of
 * it, or a newer one.
 *
 * Public structs that the library fills in begin with `size_t struct_size`,
 * which the caller sets, and which stays; what is longer than ours is zeroed.
 */
#ifndef XD_BASE_COPY_OUT_H
#define XD_BASE_COPY_OUT_H

#include <stddef.h>

void xd_copy_out(void *out, const void *from, size_t from_size);

/* The same for the i-th of an array: the struct_size of its first element is
 * that of all. */
void xd_copy_out_nth(void *out, size_t i, const void *from, size_t from_size);

/* The other way round: a struct that a caller fills in, of which our `to_size`
 * bytes are taken; those that the caller does not know are zero. */
void xd_copy_in(void *to, size_t to_size, const void *from);

#endif
