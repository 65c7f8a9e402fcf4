/* SPDX-License-Identifier: MIT */
#include "io/http/http_reply.h"

#include <curl/curl.h>

static const char *or_null(const char *s)
{
    return s[0] != '\0' ? s : NULL;
}

static int64_t date_of(const struct xd_http_answer *a)
{
    const time_t date = a->date[0] != '\0' ? curl_getdate(a->date, NULL) : -1;

    return date > 0 ? (int64_t)date : 0;
}

/* Returns the length of the object.  The length of a partial response is not
 * that of the object, and contradictory lengths are ignored. */
static uint64_t length_of(const struct xd_http_answer *a)
{
    if (a->contradicts)
        return XD_SIZE_UNKNOWN;
    if (a->has_range)
        return a->total;
    return a->has_length && !a->is_chunked && a->status != 206
               ? a->length
               : XD_SIZE_UNKNOWN;
}

void xd_http_reply(const struct xd_http_answer *a, struct xd_reply *out)
{
    *out = (struct xd_reply){.code = a->status,
                             .etag = or_null(a->etag),
                             .location =
                                 a->location.len > 0 ? a->location.s : NULL,
                             .length = length_of(a),
                             .date = date_of(a),
                             .leaves_marker = a->leaves_marker};
    if (a->status != 206 || !a->has_range || a->range_is_empty ||
        a->is_multipart || a->contradicts)
        return;
    out->is_range = true;
    out->range = (struct xd_range){a->first, a->last + 1};
}
