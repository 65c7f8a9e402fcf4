/* SPDX-License-Identifier: MIT */
/*
 * Parses HTTP response headers and decides whether the response is what was
 * requested.
 *
 * Pure.  The text is not trusted.
 */
#ifndef XD_IO_HTTP_ANSWER_H
#define XD_IO_HTTP_ANSWER_H

#include "base/text.h"
#include "base/url.h"
#include "io/http/http_disposition.h"
#include "io/transport.h"

/* A zeroed struct is ready.  End its use with xd_http_answer_fini(). */
struct xd_http_answer {
    unsigned status;      /* 0: no status line yet */
    bool complete;        /* the header is complete */
    bool is_multipart;    /* Content-Type is multipart/byteranges */
    bool is_chunked;      /* Transfer-Encoding: chunked */
    bool contradicts;     /* one field has conflicting values */
    bool wants_digest;    /* WWW-Authenticate offers Digest (RFC 7616) */
    char media_type[100]; /* Content-Type; "" if absent or too long */
    char encoding[32];    /* Content-Encoding, truncated; "" for none */
    char etag[200];       /* strong ETag; "" if absent or too long */
    char modified[64];    /* Last-Modified; "" if absent or too long */
    char date[64];        /* Date; "" if absent or too long */
    /* file name from Content-Disposition, or "" */
    char file_name[XD_HTTP_FILE_NAME_MAX + 1];
    struct xd_text location; /* Location; empty if absent or unusable */
    bool leaves_marker;      /* S3: the object is hidden by a delete marker */
    bool has_length;         /* Content-Length is present */
    uint64_t length;         /* value of Content-Length */
    bool has_range;          /* Content-Range is present */
    bool range_is_empty;     /* the range in Content-Range is "*" */
    uint64_t first, last;    /* first and last byte, unless range_is_empty */
    uint64_t total;          /* size in Content-Range, or XD_SIZE_UNKNOWN */
    bool has_size_reply;     /* FTP: SIZE was answered, even without a number */
    /* FTP: size announced by the reply to RETR; 0: none */
    uint64_t announced;
    bool is_continued; /* FTP: inside a multi-line reply */
    /* FTP: the last reply is a code without the space that must follow it, so
     * libcurl waits for more */
    bool is_bare;
    bool has_next;        /* Xd-Next is present */
    struct xd_range next; /* range in Xd-Next; empty if invalid or repeated */
};

/* Forgets the response. */
void xd_http_answer_reset(struct xd_http_answer *a);
void xd_http_answer_fini(struct xd_http_answer *a);

/* Parses one header line.  A status line starts over. */
void xd_http_answer_line(struct xd_http_answer *a, const char *line,
                         size_t len);

/* Result of comparing a response with its request. */
struct xd_http_judgement {
    struct xd_outcome outcome; /* all fields but retry_after */
    /* The following fields are set with verdict OK. */
    /* end of the wanted bytes in the object; XD_TO_END: until the body ends */
    uint64_t end;
    uint64_t object_size; /* size that the server states, or XD_SIZE_UNKNOWN */
};

/* Returns the ETag, or the Last-Modified if it is strong (RFC 9110 section
 * 8.8.2.2), or NULL. */
const char *xd_http_validator(const struct xd_http_answer *a);

/* Returns Last-Modified in seconds since 1970; 0 if absent or earlier. */
int64_t xd_http_modified(const struct xd_http_answer *a);

/* Returns whether the request has a Range header. */
bool xd_http_asks_for_range(const struct xd_request *r);

/* Returns whether the body is part of the object: status 206, or 200 with
 * matching Content-Range and Content-Length, as some applications send. */
bool xd_http_is_part(const struct xd_http_answer *a,
                     const struct xd_request *r);

/* Judges a response.  `name` is the URL for messages. */
void xd_http_judge(const struct xd_http_answer *a, const struct xd_request *r,
                   const char *name, struct xd_http_judgement *out);

#endif
