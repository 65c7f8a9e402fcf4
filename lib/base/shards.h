/* SPDX-License-Identifier: MIT */
/* Bytes that are protected by parity are a stripe, which is cut into shards. */
#ifndef XD_BASE_SHARDS_H
#define XD_BASE_SHARDS_H

#define XD_SHARDS_MAX 255 /* of a stripe: the field has 256 elements */

#endif
