/* SPDX-License-Identifier: MIT */
/*
 * The frames of the exNode function `checksum`.
 *
 *     data    |0 ...... data_bytes| ...............|....|
 *     stored  |MD5|.|......data...|MD5|.|...data...|MD5|.|..|
 *
 * A frame is 32 hexadecimal digits of the MD5 of its data, one more byte that
 * says nothing, and the data.  The last frame may be shorter than the others.
 */
#ifndef XD_IO_IBP_FRAMES_H
#define XD_IO_IBP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/framing.h"
#include "base/range.h"
#include "io/hash.h"

struct xd_ibp_frame {
    struct xd_range stored; /* where it lies in the object */
    struct xd_range data;   /* the bytes of data that it holds */
};

/* The frame with byte `at` of the data, which they hold. */
struct xd_ibp_frame xd_ibp_frames_at(const struct xd_framing *f, uint64_t at);

/* Whether the data of a frame is that of its checksum. */
bool xd_ibp_frame_is_right(struct xd_hasher *md5, const void *frame,
                           size_t len);

#endif
