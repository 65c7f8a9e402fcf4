/* SPDX-License-Identifier: MIT */
/*
 * Frames of the exNode function `checksum`.
 *
 *     data    |0 ...... data_bytes| ...............|....|
 *     stored  |MD5|.|......data...|MD5|.|...data...|MD5|.|..|
 *
 * A frame consists of the MD5 of its data in 32 hexadecimal digits, one unused
 * byte, and the data.  The last frame may be shorter.
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
    struct xd_range stored; /* position of the frame in the object */
    struct xd_range data;   /* the data bytes it contains */
};

/* Returns the frame that contains data byte `at`, which must exist. */
struct xd_ibp_frame xd_ibp_frames_at(const struct xd_framing *f, uint64_t at);

/* Returns whether the frame's data matches its MD5. */
bool xd_ibp_frame_is_right(struct xd_hasher *md5, const void *frame,
                           size_t len);

#endif
