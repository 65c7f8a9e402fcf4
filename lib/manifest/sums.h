/* SPDX-License-Identifier: MIT */
/* The lines of SHA256SUMS and its kin, one checksum after the other. */
#ifndef XD_MANIFEST_SUMS_H
#define XD_MANIFEST_SUMS_H

#include <stdbool.h>

#include "manifest/hashes.h"
#include "base/span.h"

struct xd_sums {
    struct xd_span rest; /* what was not read yet */
    enum { XD_SUMS_TEXT, XD_SUMS_ARMOR_HEAD, XD_SUMS_SIGNATURE } part;
};

struct xd_sum {
    const struct xd_algorithm *algorithm;
    char hex[XD_KNOWN_HEX_MAX + 1];
    struct xd_span path; /* as the line has it; empty if it has none */
    bool is_escaped;     /* with a backslash before what needs it */
};

/* Begins with `text`, which outlives it. */
void xd_sums_init(struct xd_sums *s, struct xd_span text);

/* The next line that is a checksum which can be computed; false when there is
 * none any more. */
bool xd_sums_next(struct xd_sums *s, struct xd_sum *out);

/* The name itself into `out`, which has room for path.len bytes.  Returns its
 * length. */
size_t xd_sum_path(const struct xd_sum *sum, char *out);

#endif
