/* SPDX-License-Identifier: MIT */
/* Reads the lines of SHA256SUMS and similar files. */
#ifndef XD_MANIFEST_SUMS_H
#define XD_MANIFEST_SUMS_H

#include <stdbool.h>

#include "manifest/hashes.h"
#include "base/span.h"

struct xd_sums {
    struct xd_span rest; /* text that was not read yet */
    enum { XD_SUMS_TEXT, XD_SUMS_ARMOR_HEAD, XD_SUMS_SIGNATURE } part;
};

struct xd_sum {
    const struct xd_algorithm *algorithm;
    char hex[XD_KNOWN_HEX_MAX + 1];
    struct xd_span path; /* path as written; empty if there is none */
    bool is_escaped;     /* special characters are escaped by a backslash */
};

/* Starts to read `text`, which must outlive `s`. */
void xd_sums_init(struct xd_sums *s, struct xd_span text);

/* Returns the next checksum that can be computed; false at the end. */
bool xd_sums_next(struct xd_sums *s, struct xd_sum *out);

/* Writes the unescaped name to `out`, which has room for path.len bytes.
 * Returns its length. */
size_t xd_sum_path(const struct xd_sum *sum, char *out);

#endif
