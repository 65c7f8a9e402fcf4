/* SPDX-License-Identifier: MIT */
#include "lab/checksum.h"

#include <assert.h>

#include "io/hash.h"

static_assert(XD_CHECKSUM_HEX_SIZE == XD_HASH_HEX_MAX + 1,
              "room for the longest hash");

int xd_checksum_compute(char out[XD_CHECKSUM_HEX_SIZE], const char *algorithm,
                        const void *data, size_t len, struct xd_error *err)
{
    struct xd_hasher *h;
    const int rc = xd_hasher_new(&h, algorithm, err);

    if (rc < 0)
        return rc;
    xd_hasher_add(h, data, len);
    xd_hasher_end(h, out);
    xd_hasher_free(h);
    return 0;
}
