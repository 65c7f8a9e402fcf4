/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <string.h>

#include <xdownload/error.h>

#include "base/alloc.h"

void *xd_grow(void *array, size_t n, size_t *capacity, size_t size)
{
    size_t more = n < 8 ? 8 : n * 2;
    void *grown;

    if (n < *capacity)
        return array;
    grown = xd_realloc(array, more, size);
    if (grown != NULL)
        *capacity = more;
    return grown;
}

int xd_lengthen(void *array, size_t n, size_t more, size_t size)
{
    unsigned char *grown;
    void *old;

    memcpy(&old, array, sizeof old);
    grown = xd_realloc(old, more, size);
    if (grown == NULL)
        return XD_E_NOMEM;
    memset(grown + n * size, 0, (more - n) * size);
    memcpy(array, &grown, sizeof grown);
    return 0;
}

int xd_make_room(void *array, size_t n, size_t more, size_t size)
{
    void *room = xd_alloc(more, size), *old;

    if (room == NULL)
        return XD_E_NOMEM;
    memcpy(&old, array, sizeof old);
    if (n > 0)
        memcpy(room, old, n * size);
    xd_free(old);
    memcpy(array, &room, sizeof room);
    return 0;
}

size_t xd_count_up_to(uint64_t most, const void *array, size_t n, size_t stride,
                      size_t offset)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t key;

        memcpy(&key, (const char *)array + middle * stride + offset,
               sizeof key);
        if (key <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
