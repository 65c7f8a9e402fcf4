/* SPDX-License-Identifier: MIT */
/*
 * The line of an upload: the bytes of its file, and behind them all parity, shard by
 * shard, stripe by stripe.
 *
 *     0 ............ size | 2 3 | 2 3 | 2 3 | end
 *     the file              parity of stripe 0, 1, 2
 *
 * So an object is a range of the line, whatever it holds, and where that begins tells
 * which it is: in its name, and in what is noted for a later run.  Of the same file and
 * stripes the line is the same.
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
    uint64_t size; /* of the file */
    const struct xd_model_stripe *stripes;
    size_t n; /* of those that have a place: not where more follows than can be
                 counted */
    uint64_t *begins; /* of the parity of each stripe, and the end of the last;
                         owned; or NULL */
};

/* A place in a shard of parity. */
struct xd_upload_place {
    size_t stripe;
    unsigned number;
    uint64_t at; /* in the shard */
};

/* `stripes` are those that are used, by ascending offset, and outlive the line.
 * Ownership: to be released with xd_upload_line_fini(), after a failure too.
 * Errors: NOMEM. */
int xd_upload_line_init(struct xd_upload_line *out, uint64_t size,
                        const struct xd_model_stripe *stripes, size_t n,
                        struct xd_error *err);
void xd_upload_line_fini(struct xd_upload_line *line);

/* What stands there; false: a byte of the file, or nothing. */
bool xd_upload_line_find(const struct xd_upload_line *line, uint64_t position,
                         struct xd_upload_place *out);

/* Where a shard of a stripe is: of data in the file, where it may be empty. */
struct xd_range xd_upload_line_shard(const struct xd_upload_line *line,
                                     size_t stripe, unsigned number);

/* The stripe that has this byte of the file, or, if none has, the next one; the
 * number of stripes if there is none. */
size_t xd_upload_line_stripe_from(const struct xd_upload_line *line,
                                  uint64_t at);

#endif
