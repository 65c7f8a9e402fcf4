/* SPDX-License-Identifier: MIT */
#include "io/random.h"

#include <openssl/rand.h>

#include "base/error.h"

int xd_random_fill(void *to, size_t len, struct xd_error *err)
{
    if (RAND_bytes(to, (int)len) == 1)
        return 0;
    return xd_fail(err, XD_E_IO, "the system has no random bytes");
}
