/* SPDX-License-Identifier: MIT */
#include "io/ibp/ibp_frames.h"

#include <strings.h>

struct xd_ibp_frame xd_ibp_frames_at(const struct xd_framing *f, uint64_t at)
{
    uint64_t i = at / f->data_bytes, begin = i * f->stored_bytes;
    uint64_t len = f->length - begin < f->stored_bytes ? f->length - begin
                                                       : f->stored_bytes;
    struct xd_ibp_frame frame = {
        .stored = {f->offset + begin, f->offset + begin + len},
        .data = {i * f->data_bytes, i * f->data_bytes + len - XD_FRAME_HEAD}};

    return frame;
}

bool xd_ibp_frame_is_right(struct xd_hasher *md5, const void *frame, size_t len)
{
    const char *head = frame;
    char hex[XD_HASH_HEX_MAX + 1];

    xd_hasher_add(md5, head + XD_FRAME_HEAD, len - XD_FRAME_HEAD);
    xd_hasher_end(md5, hex);
    return strncasecmp(hex, head, XD_FRAME_HEAD - 1) == 0;
}
