/* SPDX-License-Identifier: MIT */
/* Frames of a stream with checksums.  Each consists of a 33-byte header, which
 * contains the MD5 of the data, and the data. */
#ifndef XD_BASE_FRAMING_H
#define XD_BASE_FRAMING_H

#include <stdbool.h>
#include <xdownload/manifest.h>

/* Size of the header of a frame: the MD5 of the data in 32 hexadecimal digits,
 * and a byte that is ignored. */
#define XD_FRAME_HEAD 33

/* Largest size of a frame, because frames are held in memory. */
#define XD_FRAME_MAX ((uint64_t)16 << 20)

/* Returns whether the sizes in `f` are valid. */
bool xd_framing_is_possible(const struct xd_framing *f);

/* Returns the number of data bytes in all frames. */
uint64_t xd_framing_data(const struct xd_framing *f);

#endif
