/* SPDX-License-Identifier: MIT */
/* Stripes: blocks of data that are divided into shards and protected by parity
 * shards. */
#ifndef XD_BASE_SHARDS_H
#define XD_BASE_SHARDS_H

#define XD_SHARDS_MAX 255 /* limit of GF(2^8) */

#endif
