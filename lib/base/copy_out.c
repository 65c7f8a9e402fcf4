#include "base/copy_out.h"

#include <string.h>

void xd_copy_out(void *out, const void *from, size_t from_size)
{
    size_t size;

    memcpy(&size, out, sizeof size);
    if (size > from_size)
        memset((char *)out + from_size, 0, size - from_size);
    memcpy(out, from, size < from_size ? size : from_size);
    memcpy(out, &size, sizeof size);
}
