/* SPDX-License-Identifier: MIT */
/*
 * HTTP responses that all servers of this program use.
 *
 * Threads: call these functions on the thread of the connection.
 */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

#include "common/http_words.h"

struct answer {
    unsigned status;
    /* NULL: send no response and close the connection */
    struct MHD_Response *response;
};

/* Returns the value of a request header, or NULL if the request does not have
 * it. */
const char *answer_asked(struct MHD_Connection *c, const char *name);

/* Returns a response with a sentence that explains the status. */
struct answer answer_status(unsigned status);

/* Returns a response for a client that may not send requests here.  It closes
 * the connection.  Otherwise a page that uses many host names could occupy all
 * connections. */
struct answer answer_refusal(unsigned status);

/* Returns the response to OPTIONS.  Browsers send this preflight request for
 * pages of other origins before range requests. */
struct answer answer_options(void);

/* Returns a response with a text.  Ownership: takes `text`, which is from
 * malloc(). */
struct answer answer_text(unsigned status, char *text, size_t len,
                          const char *type);

/* Adds headers to the response `r`, which may be NULL, so that browsers do not
 * execute content from elsewhere. */
struct answer answer_with_headers(unsigned status, struct MHD_Response *r,
                                  const char *type);

void answer_header(struct MHD_Response *r, const char *name, const char *value);

/* The properties of a file to send. */
struct answer_file {
    uint64_t size;
    const char *type, *etag;
    const char *modified; /* value of Last-Modified; NULL: none */
};

/* Checks the conditions of the request, such as If-Match.  Returns 304, 412, or
 * 0 if the file must be sent.  Dates are only compared for equality, because
 * clients got the dates from us. */
unsigned answer_condition(struct MHD_Connection *c,
                          const struct answer_file *f);

/* Returns a 304 or 412 response without a body. */
struct answer answer_unsent(unsigned status, const struct answer_file *f);

/* Parses the range of the request.  Ignores it if If-Range names another
 * version of the file. */
enum http_range answer_range(struct MHD_Connection *c,
                             const struct answer_file *f, uint64_t *out_begin,
                             uint64_t *out_end);

/* Returns a 416 response. */
struct answer answer_outside(const struct answer_file *f);

/* Completes the response `r`, which sends the file or the range that
 * answer_range() found. */
struct answer answer_part(const struct answer_file *f, enum http_range kind,
                          uint64_t begin, uint64_t end, struct MHD_Response *r);

#endif
