/* SPDX-License-Identifier: MIT */
#include "http/answer.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *answer_asked(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

void answer_header(struct MHD_Response *r, const char *name, const char *value)
{
    /* This fails only if memory runs out, and then the response will fail
     * soon. */
    (void)MHD_add_response_header(r, name, value);
}

/* The Content-Security-Policy.  Everything must come from this server, and
 * nothing inline is executed.  So HTML that is injected through a file name
 * cannot do any harm. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

struct answer answer_with_headers(unsigned status, struct MHD_Response *r,
                                  const char *type)
{
    if (r == NULL)
        return (struct answer){0};
    answer_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    answer_header(r, "X-Content-Type-Options", "nosniff");
    answer_header(r, "Content-Security-Policy", policy);
    answer_header(r, "Referrer-Policy", "no-referrer");
    answer_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    return (struct answer){status, r};
}

struct answer answer_text(unsigned status, char *text, size_t len,
                          const char *type)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

    if (r == NULL)
        free(text);
    return answer_with_headers(status, r, type);
}

static const char *sentence(unsigned status)
{
    switch (status) {
    case MHD_HTTP_BAD_REQUEST:
        return "The request is not complete.\n";
    case MHD_HTTP_FORBIDDEN:
        return "Requests by this name, or from pages of other sites, are "
               "refused.\n";
    case MHD_HTTP_NOT_FOUND:
        return "There is nothing here.\n";
    case MHD_HTTP_METHOD_NOT_ALLOWED:
        return "Only GET and HEAD are understood.\n";
    case MHD_HTTP_RANGE_NOT_SATISFIABLE:
        return "The range lies behind the end of the file.\n";
    case MHD_HTTP_PRECONDITION_FAILED:
        return "The file is not the one that was asked for.\n";
    case MHD_HTTP_BAD_GATEWAY:
        return "The file could not be obtained.\n";
    case MHD_HTTP_CONFLICT:
        return "Another page plays this file.\n";
    case MHD_HTTP_SERVICE_UNAVAILABLE:
        return "Too many pages, or files, are open.\n";
    default:
        return "";
    }
}

struct answer answer_status(unsigned status)
{
    char *text = strdup(sentence(status));

    if (text == NULL)
        return (struct answer){0};
    const struct answer a =
        answer_text(status, text, strlen(text), "text/plain");
    if (a.response != NULL && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        answer_header(a.response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, OPTIONS");
    return a;
}

struct answer answer_refusal(unsigned status)
{
    const struct answer a = answer_status(status);

    if (a.response != NULL)
        answer_header(a.response, MHD_HTTP_HEADER_CONNECTION, "close");
    return a;
}

struct answer answer_options(void)
{
    const struct answer a = answer_status(MHD_HTTP_NO_CONTENT);

    if (a.response == NULL)
        return a;
    answer_header(a.response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, OPTIONS");
    answer_header(a.response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_METHODS,
                  "GET, HEAD");
    answer_header(a.response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_HEADERS,
                  "Range, If-Range");
    return a;
}

static bool is_date_of(const struct answer_file *f, const char *date)
{
    return f->modified != NULL && strcmp(date, f->modified) == 0;
}

unsigned answer_condition(struct MHD_Connection *c, const struct answer_file *f)
{
    const char *match = answer_asked(c, MHD_HTTP_HEADER_IF_MATCH);
    const char *none = answer_asked(c, MHD_HTTP_HEADER_IF_NONE_MATCH);
    const char *since = answer_asked(c, MHD_HTTP_HEADER_IF_MODIFIED_SINCE);
    const char *before = answer_asked(c, MHD_HTTP_HEADER_IF_UNMODIFIED_SINCE);

    if (match != NULL ? !http_lists_tag(match, f->etag, false)
                      : before != NULL && !is_date_of(f, before))
        return MHD_HTTP_PRECONDITION_FAILED;
    if (none != NULL ? http_lists_tag(none, f->etag, true)
                     : since != NULL && is_date_of(f, since))
        return MHD_HTTP_NOT_MODIFIED;
    return 0;
}

static void add_validators(struct MHD_Response *r, const struct answer_file *f)
{
    answer_header(r, MHD_HTTP_HEADER_ETAG, f->etag);
    if (f->modified != NULL)
        answer_header(r, MHD_HTTP_HEADER_LAST_MODIFIED, f->modified);
}

struct answer answer_unsent(unsigned status, const struct answer_file *f)
{
    const struct answer a = answer_status(status);

    if (a.response != NULL)
        add_validators(a.response, f);
    return a;
}

enum http_range answer_range(struct MHD_Connection *c,
                             const struct answer_file *f, uint64_t *out_begin,
                             uint64_t *out_end)
{
    const char *range = answer_asked(c, MHD_HTTP_HEADER_RANGE);
    const char *if_range = answer_asked(c, MHD_HTTP_HEADER_IF_RANGE);

    if (if_range != NULL && strcmp(if_range, f->etag) != 0 &&
        !is_date_of(f, if_range))
        return HTTP_RANGE_NONE;
    return http_range(range, f->size, out_begin, out_end);
}

struct answer answer_outside(const struct answer_file *f)
{
    const struct answer a = answer_unsent(MHD_HTTP_RANGE_NOT_SATISFIABLE, f);
    char range[60];

    snprintf(range, sizeof range, "bytes */%" PRIu64, f->size);
    if (a.response != NULL)
        answer_header(a.response, MHD_HTTP_HEADER_CONTENT_RANGE, range);
    return a;
}

struct answer answer_part(const struct answer_file *f, enum http_range kind,
                          uint64_t begin, uint64_t end, struct MHD_Response *r)
{
    char range[100];

    answer_header(r, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
    answer_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, f->type);
    add_validators(r, f);
    answer_header(r, "X-Content-Type-Options", "nosniff");
    if (kind != HTTP_RANGE_SOME)
        return (struct answer){MHD_HTTP_OK, r};
    snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
             begin, end - 1, f->size);
    answer_header(r, MHD_HTTP_HEADER_CONTENT_RANGE, range);
    return (struct answer){MHD_HTTP_PARTIAL_CONTENT, r};
}
