/* SPDX-License-Identifier: MIT */
#include "io/request.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/number.h"

void xd_request_locate(struct xd_outcome *out, const struct xd_url *origin,
                       const struct xd_url *url)
{
    if (out->verdict != XD_VERDICT_OK && out->verdict != XD_VERDICT_STOPPED)
        xd_url_locate(&out->error, origin, url);
}

uint64_t xd_request_end(const struct xd_request *r)
{
    uint64_t end;

    if (r->length == XD_TO_END || !xd_add_u64(r->offset, r->length, &end))
        return XD_TO_END;
    return end;
}

bool xd_request_refuses_size(const struct xd_request *r, uint64_t size)
{
    if (r->object_size == XD_SIZE_UNKNOWN || size == XD_SIZE_UNKNOWN)
        return false;
    return size < r->object_size || (size > r->object_size && !r->grows);
}

void xd_request_is_different(const struct xd_request *r, const char *name,
                             uint64_t size, struct xd_outcome *out)
{
    out->verdict = XD_VERDICT_DIFFERENT;
    out->object_size = size;
    if (size == XD_SIZE_UNKNOWN)
        xd_fail(&out->error, XD_E_DIFFERENT,
                "%s: has no bytes from %" PRIu64 " on", name, r->offset);
    else if (r->object_size == XD_SIZE_UNKNOWN)
        xd_fail(&out->error, XD_E_DIFFERENT,
                "%s: has %" PRIu64 " bytes, none from %" PRIu64 " on", name,
                size, r->offset);
    else
        xd_fail(&out->error, XD_E_DIFFERENT,
                "%s: has %" PRIu64 " bytes instead of %" PRIu64, name, size,
                r->object_size);
}
