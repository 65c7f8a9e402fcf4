/* SPDX-License-Identifier: MIT */
/* What a store of S3 is asked, and answers, line by line. */
#ifndef XD_TESTS_S3_SCRIPT_H
#define XD_TESTS_S3_SCRIPT_H

#include <xdownload/manifest.h>

#include "store/s3.h"

#define SCRIPT_NOW 1795543200 /* 2026-11-24 18:00:00 */

/* One request, and its answer. */
struct s3_line {
    const char *asks; /* "PUT /b/k?partNumber=1" */
    int64_t code;     /* 0: the connection breaks off; -1: the depot is gone */
    const char *body; /* of the answer; or NULL */
    uint64_t length;  /* of the object */
    const char *etag; /* or NULL */
    const char *fields;    /* words among those that are sent; or NULL */
    struct xd_range range; /* with 206 */
    int64_t date;
    xd_usec retry_after;
    bool leaves_marker;
    xd_usec worked;
};

struct xd_store *s3_of(const char *target, const char *endpoint);

/* The answer of a line to a call. */
void s3_answer(struct xd_task *t, unsigned id, const struct s3_line *line);

/* Play all lines up to one with nothing to ask, a call at a time.  `now` goes on
 * over pauses, and is where it came to then. */
void s3_play(struct xd_task *t, const struct s3_line *lines, int64_t *now);

/* A task that puts `size` bytes as "k" into the store's prefix. */
struct xd_task *s3_put(const struct xd_store *s, uint64_t size);
struct xd_task *s3_put_patiently(const struct xd_store *s, uint64_t size,
                                 xd_usec patience);

/* One that does something to such an object. */
struct xd_task *s3_task(const struct xd_store *s, enum xd_task_kind kind,
                        const struct xd_object *object, struct xd_range range);

#endif
