/* SPDX-License-Identifier: MIT */
/*
 * What is answered to a request that may be made, whatever is served.
 *
 * Threads: the connection's.
 */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

#include "common/http_words.h"

struct answer {
    unsigned status;
    struct MHD_Response *response; /* NULL: none; the connection is to be
                                      closed */
};

/* A header of the request; NULL: it has none of that name. */
const char *answer_asked(struct MHD_Connection *c, const char *name);

/* A sentence for that status. */
struct answer answer_status(unsigned status);

/* The same to a client that may not ask; the connection is closed: a page that
 * goes by many names would take all that there are. */
struct answer answer_refusal(unsigned status);

/* To OPTIONS: what pages of other origins ask before they ask for a range. */
struct answer answer_options(void);

/* A text of ours.  Ownership: `text` comes from malloc(), and is the answer's. */
struct answer answer_text(unsigned status, char *text, size_t len,
                          const char *type);

/* A response of ours, or NULL, with the headers that keep a browser from running
 * what came from elsewhere. */
struct answer answer_with_headers(unsigned status, struct MHD_Response *r,
                                  const char *type);

void answer_header(struct MHD_Response *r, const char *name, const char *value);

/* What is known of a file that is sent. */
struct answer_file {
    uint64_t size;
    const char *type, *etag;
    const char *modified; /* as Last-Modified has it; or NULL: not said */
};

/* 304 or 412, if the request is made only of another state of the file, or of
 * this one; else 0.  Dates are compared for equality: they come from here. */
unsigned answer_condition(struct MHD_Connection *c,
                          const struct answer_file *f);

/* Without a body: 304 or 412 of a file. */
struct answer answer_unsent(unsigned status, const struct answer_file *f);

/* The range that is asked of a file which has not changed since the client saw
 * it. */
enum http_range answer_range(struct MHD_Connection *c,
                             const struct answer_file *f, uint64_t *out_begin,
                             uint64_t *out_end);

/* To a range behind its end. */
struct answer answer_outside(const struct answer_file *f);

/* The file, or the part of it that answer_range() has found, as `r` sends it. */
struct answer answer_part(const struct answer_file *f, enum http_range kind,
                          uint64_t begin, uint64_t end, struct MHD_Response *r);

#endif
