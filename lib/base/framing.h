/* SPDX-License-Identifier: MIT */
/* The arithmetic of frames, each of which is 33 bytes of checksum and data. */
#ifndef XD_BASE_FRAMING_H
#define XD_BASE_FRAMING_H

#include <stdbool.h>
#include <xdownload/manifest.h>

/* 32 hexadecimal digits of MD5, and one more byte. */
#define XD_FRAME_HEAD 33

/* No frame is longer: it is held in memory. */
#define XD_FRAME_MAX ((uint64_t)16 << 20)

/* Whether frames can be as `f` says. */
bool xd_framing_is_possible(const struct xd_framing *f);

/* How many bytes of data all frames hold. */
uint64_t xd_framing_data(const struct xd_framing *f);

#endif
