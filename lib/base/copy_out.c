/* SPDX-License-Identifier: MIT */
#include "base/copy_out.h"

#include <string.h>

#include "base/error.h"

void xd_copy_out(void *out, const void *from, size_t from_size)
{
    size_t size;

    memcpy(&size, out, sizeof size);
    if (size > from_size)
        memset((char *)out + from_size, 0, size - from_size);
    memcpy(out, from, size < from_size ? size : from_size);
    memcpy(out, &size, sizeof size);
}

void xd_copy_out_nth(void *out, size_t i, const void *from, size_t from_size)
{
    size_t size;
    char *nth;

    memcpy(&size, out, sizeof size);
    nth = (char *)out + i * size;
    memcpy(nth, &size, sizeof size);
    xd_copy_out(nth, from, from_size);
}

int xd_copy_in(void *to, size_t to_size, const void *from, const char *name,
               struct xd_error *err)
{
    size_t size;

    memcpy(&size, from, sizeof size);
    if (size < sizeof size)
        return xd_fail(err, XD_E_INVAL,
                       "struct_size of a struct %s is not set: begin its "
                       "initializer with XD_SIZED(struct %s)",
                       name, name);
    memset(to, 0, to_size);
    memcpy(to, from, size < to_size ? size : to_size);
    return 0;
}
