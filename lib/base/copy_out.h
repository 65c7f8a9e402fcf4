/* SPDX-License-Identifier: MIT */
/*
 * Fills in a public struct for a caller that was compiled against another
 * version of the header.
 *
 * Such structs begin with `size_t struct_size`, which the caller has set and
 * which stays unchanged.  Fields that this version does not know are zeroed.
 */
#ifndef XD_BASE_COPY_OUT_H
#define XD_BASE_COPY_OUT_H

#include <stddef.h>

struct xd_error;

void xd_copy_out(void *out, const void *from, size_t from_size);

/* Like xd_copy_out() for element i of an array; all elements have the
 * struct_size of the first. */
void xd_copy_out_nth(void *out, size_t i, const void *from, size_t from_size);

/* Copies in the other direction: a struct that a caller has filled in.  Fields
 * that the caller's version does not have become zero.  Fails with INVAL if
 * struct_size was not set; `name` is the tag of the struct. */
int xd_copy_in(void *to, size_t to_size, const void *from, const char *name,
               struct xd_error *err);

#endif
