/* SPDX-License-Identifier: MIT */
#include "base/framing.h"

#include "base/number.h"

bool xd_framing_is_possible(const struct xd_framing *f)
{
    uint64_t end;

    return f->stored_bytes > XD_FRAME_HEAD && f->stored_bytes <= XD_FRAME_MAX &&
           f->stored_bytes - XD_FRAME_HEAD == f->data_bytes && f->length > 0 &&
           xd_add_u64(f->offset, f->length, &end);
}

uint64_t xd_framing_data(const struct xd_framing *f)
{
    uint64_t rest = f->length % f->stored_bytes;

    return f->length / f->stored_bytes * f->data_bytes +
           (rest > XD_FRAME_HEAD ? rest - XD_FRAME_HEAD : 0);
}
