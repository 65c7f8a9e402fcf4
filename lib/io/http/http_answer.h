/* SPDX-License-Identifier: MIT */
/*
 * What an HTTP answer says, and whether it is what was asked for.
 *
 * Pure: text in, a judgement out.  Nothing in the text is trusted.
 */
#ifndef XD_IO_HTTP_ANSWER_H
#define XD_IO_HTTP_ANSWER_H

#include "base/url.h"
#include "io/http/http_disposition.h"
#include "io/transport.h"

/* A zeroed struct has seen nothing. */
struct xd_http_answer {
    unsigned status;   /* 0: no status line was seen */
    bool complete;     /* the empty line after the header was seen */
    bool is_multipart; /* the body is several ranges */
    bool is_chunked;   /* the body says itself where it ends */
    bool contradicts;  /* says two things about one matter */
    char encoding[32]; /* Content-Encoding, cut; "" if the bytes are plain */
    char etag[200];    /* strong; "" if there is none, or a longer one */
    char modified[64]; /* Last-Modified, likewise */
    char date[64];     /* Date, likewise */
    char file_name[XD_HTTP_FILE_NAME_MAX + 1]; /* of Content-Disposition,
                                                  likewise */
    char location[XD_URL_MAX + 1];             /* Location, likewise */
    bool leaves_marker;   /* S3: what was removed is hidden, and stays */
    bool has_length;      /* Content-Length: */
    uint64_t length;      /* that number */
    bool has_range;       /* Content-Range: */
    bool range_is_empty;  /* it reads "*", no range but the size */
    uint64_t first, last; /* else the range, both included */
    uint64_t total;       /* the size in it, or XD_SIZE_UNKNOWN */
    bool has_next;        /* Xd-Next: */
    struct xd_range next; /* the range in it; empty if there is more than one,
                             or it is none */
};

/* One line of the header as it came; a status line begins anew. */
void xd_http_answer_line(struct xd_http_answer *a, const char *line,
                         size_t len);

/* What comes out when the answer is held against the request. */
struct xd_http_judgement {
    struct xd_outcome outcome; /* all but retry_after */
    /* With verdict OK: */
    uint64_t end;         /* in the object, of what was asked for; XD_TO_END: of
                             the body */
    uint64_t object_size; /* as stated, or XD_SIZE_UNKNOWN */
};

/* The ETag, or the Last-Modified where that is strong (RFC 9110, 8.8.2.2), or
 * NULL. */
const char *xd_http_validator(const struct xd_http_answer *a);

/* The Last-Modified, in seconds since 1970; 0 if there is none, or none since
 * then. */
int64_t xd_http_modified(const struct xd_http_answer *a);

/* Whether a Range header goes with the request. */
bool xd_http_asks_for_range(const struct xd_request *r);

/* Whether the body is a part of the object: 206, or a 200 whose Content-Range and
 * Content-Length say so, as some programs behind servers answer. */
bool xd_http_is_part(const struct xd_http_answer *a,
                     const struct xd_request *r);

/* `name` stands for the URL in sentences. */
void xd_http_judge(const struct xd_http_answer *a, const struct xd_request *r,
                   const char *name, struct xd_http_judgement *out);

#endif
