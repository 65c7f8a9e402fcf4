#include "io/request.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/number.h"
#include "base/url.h"

/* A URL of 8 KiB would leave no room for what is to be said of it. */
int xd_request_name(char out[XD_REQUEST_NAME_BYTES], const char *url)
{
    char *shown = xd_url_public(url);

    if (shown == NULL)
        return XD_E_NOMEM;
    if (snprintf(out, XD_REQUEST_NAME_BYTES, "%s", shown) >=
        XD_REQUEST_NAME_BYTES)
        snprintf(out + XD_REQUEST_NAME_BYTES - 4, 4, "...");
    xd_free(shown);
    return 0;
}

void xd_request_locate(struct xd_outcome *out, const char *origin,
                       const char *url)
{
    char *shown, *depot = NULL;
    struct xd_url u;
    bool is_url = xd_url_split(origin, &u);

    if (out->verdict == XD_VERDICT_OK || out->verdict == XD_VERDICT_STOPPED)
        return;
    shown = xd_url_public(url);
    if (is_url)
        depot = xd_url_depot(&u);
    if (shown && (depot || !is_url)) {
        xd_error_locate(&out->error, depot, shown);
    } else {
        out->verdict = XD_VERDICT_AGAIN;
        xd_fail_nomem(&out->error);
    }
    xd_free(depot);
    xd_free(shown);
}

uint64_t xd_request_end(const struct xd_request *r)
{
    uint64_t end;

    if (r->length == XD_TO_END || !xd_add_u64(r->offset, r->length, &end))
        return XD_TO_END;
    return end;
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
