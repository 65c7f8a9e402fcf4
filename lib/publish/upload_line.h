/* SPDX-License-Identifier: MIT */
/*
 * The upload line: the bytes of a file, followed by all its parity shards,
 * stripe by stripe.
 *
 *     0 ............ size | 2 3 | 2 3 | 2 3 | end
 *     the file              parity of stripe 0, 1, 2
 *
 * So every object is a range of the line, whether it holds bytes of the file or
 * parity.  The begin of the range identifies the object in its name and in
 * notes for later runs.  The same file and stripes always give the same line.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_UPLOAD_LINE_H
#define XD_PUBLISH_UPLOAD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "base/range.h"
#include "manifest/model.h"

struct xd_upload_line {
    uint64_t size; /* bytes of the file */
    const struct xd_model_stripe *stripes;
    /* Number of stripes whose parity is in the line.  If the line would exceed
     * XD_FILE_MAX, the last stripes are left out. */
    size_t n;
    /* position of the parity of each stripe, and the end of the line; owned, or
     * NULL */
    uint64_t *begins;
};

/* A position in a parity shard. */
struct xd_upload_place {
    size_t stripe;
    unsigned number;
    uint64_t at; /* offset in the shard */
};

/*
 * Computes the line.  `stripes` are the stripes in use, by ascending offset.
 * They must outlive the line.
 * Ownership: call xd_upload_line_fini() even after a failure.
 * Errors:    NOMEM.
 */
int xd_upload_line_init(struct xd_upload_line *out, uint64_t size,
                        const struct xd_model_stripe *stripes, size_t n,
                        struct xd_error *err);
void xd_upload_line_fini(struct xd_upload_line *line);

/* Finds the parity at this position of the line.  Returns false if the position
 * is in the file, or after the end of the line. */
bool xd_upload_line_find(const struct xd_upload_line *line, uint64_t position,
                         struct xd_upload_place *out);

/* Returns the range of a shard.  A data shard is in the file, and may be
 * empty. */
struct xd_range xd_upload_line_shard(const struct xd_upload_line *line,
                                     size_t stripe, unsigned number);

/* Returns the stripe that contains this byte of the file, or else the first
 * stripe after it; `n` if there is none. */
size_t xd_upload_line_stripe_from(const struct xd_upload_line *line,
                                  uint64_t at);

#endif
