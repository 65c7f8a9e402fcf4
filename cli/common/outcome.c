/* SPDX-License-Identifier: MIT */
#include "common/outcome.h"

#include <ctype.h>

#include "command/records.h"

const char *outcome_name(char out[OUTCOME_SIZE],
                         const struct xd_fetch_record *r)
{
    const bool was_in_vain = r->received > 0 && r->redundant == r->received;
    const char *name = r->code != XD_OK ? xd_code_name(r->code)
                       : was_in_vain    ? "redundant"
                                        : "ok";
    size_t n = 0;

    for (; name[n] != '\0' && n < OUTCOME_SIZE - 1; n++)
        out[n] = (char)tolower((unsigned char)name[n]);
    out[n] = '\0';
    return out;
}
