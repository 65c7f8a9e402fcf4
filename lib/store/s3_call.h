/* SPDX-License-Identifier: MIT */
/* The calls of an S3 task, one in each slot, and the handling of their
 * failures.  Shared by all steps of a task. */
#ifndef XD_STORE_S3_CALL_H
#define XD_STORE_S3_CALL_H

#include "store/s3.h"
#include "store/looks.h"
#include "store/s3_fault.h"

/* Limit of an answer's body; an <Error> has a few KiB at most. */
#define XD_S3_MOST_ANSWER ((size_t)16 << 10)

/* length limit; Amazon's ETags have at most 40 bytes */
#define XD_S3_ETAG_MAX 200
/* length limit of an upload id; Amazon's have about 130 bytes */
#define XD_S3_UPLOAD_MAX 1024

struct xd_s3_part {
    char *etag; /* NULL: not uploaded yet */
    unsigned tries;
    bool is_in_flight;
};

enum xd_s3_step {
    XD_S3_LOOKS,
    XD_S3_ASKS_WHY, /* finds out why a HEAD was refused */
    XD_S3_READS,
    XD_S3_REMOVES,
    XD_S3_LISTS, /* lists the uploads of the object's key, to find their ids */
    XD_S3_ABORTS,
    /* Steps of PUT. */
    XD_S3_SENDS,
    XD_S3_CREATES,
    XD_S3_SENDS_PARTS,
    XD_S3_COMPLETES,
    XD_S3_VERIFIES,
    XD_S3_CLEARS_UP /* aborts its own upload, then fails */
};

struct xd_s3_slot {
    bool is_busy;
    unsigned id;
    enum xd_s3_step step;    /* the step that made the call */
    struct xd_s3_part *part; /* SENDS_PARTS */
    struct xd_url *url;
    struct xd_text fields, text;
    int64_t signed_at;
};

/* The reason of a failure, or of a suspected one. */
struct xd_s3_failure {
    enum xd_task_failure kind;
    struct xd_error error;
    xd_usec retry_after;
};

struct xd_s3_task {
    struct xd_task task;

    /* Constant after new(). */
    const struct xd_s3 *store;
    struct xd_task_order order; /* its strings and object are not used */
    char *key, *path, *name;

    enum xd_task_state state;
    struct xd_s3_failure failure; /* valid if state is XD_TASK_FAILED */
    struct xd_object object;
    char *bytes; /* READ */
    size_t n_bytes;

    /* ASKS_WHY: the step whose HEAD was refused */
    enum xd_s3_step step, why_of;
    struct xd_s3_slot slots[XD_S3_MOST_CALLS];
    unsigned n_busy, next_id;
    int64_t now, pause_until;
    /* seconds to wait; the wait begins with the next call of next() */
    unsigned pause_s;
    int64_t failing_since; /* first failure since the last success, or 0 */
    int64_t clock_off_s;
    /* DELETE only added a delete marker: older versions remain */
    bool leaves_marker;
    unsigned n_corrections;
    unsigned tries; /* attempts of the steps COMPLETES and VERIFIES so far */
    struct xd_looks looks; /* used by VERIFIES */
    /* LISTS: number of listings; 0: the upload's id is known */
    unsigned n_listed;

    /* PUT. */
    bool is_unconditional; /* the server does not support If-None-Match */
    /* VERIFIES: the upload was not confirmed; `doubt` says why */
    bool is_in_doubt;
    bool upload_is_gone;
    struct xd_s3_failure doubt;
    uint64_t part_bytes;
    struct xd_s3_part *parts;
    /* all parts before first_part are uploaded */
    size_t n_parts, n_parts_done, first_part;
};

/* A request before it is signed. */
struct xd_s3_request {
    const char *method;
    const char *path; /* NULL: the path of the object */
    struct xd_sigv4_pair query[2], headers[3];
    size_t n_query, n_headers;
    /* bytes of the object; if empty, slot->text is sent */
    struct xd_range body;
    size_t most_answer;
};

static inline void xd_s3_add_query(struct xd_s3_request *r, const char *name,
                                   const char *value)
{
    r->query[r->n_query++] = (struct xd_sigv4_pair){name, value};
}

static inline void xd_s3_add_header(struct xd_s3_request *r, const char *name,
                                    const char *value)
{
    r->headers[r->n_headers++] = (struct xd_sigv4_pair){name, value};
}

/* Returns a free slot with an empty text, or NULL. */
struct xd_s3_slot *xd_s3_free_slot(struct xd_s3_task *t);

/* Signs the request and makes the call.  Returns false if the task has
 * failed. */
bool xd_s3_make_call(struct xd_s3_task *t, struct xd_s3_slot *slot,
                     const struct xd_s3_request *r, struct xd_call *out);

void xd_s3_end_call(struct xd_s3_task *t, struct xd_s3_slot *slot);

void xd_s3_done(struct xd_s3_task *t);

/* name_upload() stores the id of the object's upload; the task fails if memory
 * runs out.  forget_upload() removes it. */
void xd_s3_name_upload(struct xd_s3_task *t, const char *id);
void xd_s3_forget_upload(struct xd_s3_task *t);

/* Ends the task.  If the failure is EXISTS, it first aborts its own upload. */
void xd_s3_fail(struct xd_s3_task *t, const struct xd_s3_failure *failure);
void xd_s3_fail_with(struct xd_s3_task *t, enum xd_task_failure kind,
                     const char *format, ...) XD_PRINTF(3, 4);
void xd_s3_fail_nomem(struct xd_s3_task *t);

/* Returns the failure for a call that got no answer. */
struct xd_s3_failure xd_s3_broken(const struct xd_s3_task *t,
                                  const struct xd_outcome *outcome);

/* Finds out why a request was refused.  Returns true if only the clock was
 * wrong: it is corrected now, and the step can be repeated at once. */
bool xd_s3_refused(struct xd_s3_task *t, const struct xd_s3_slot *slot,
                   const struct xd_answer *answer, struct xd_s3_failure *out,
                   struct xd_s3_fault *out_fault);

/* Ends a series of failures. */
void xd_s3_succeeded(struct xd_s3_task *t);

/* Returns whether the step may be repeated, and sets the pause before that. */
bool xd_s3_try_again(struct xd_s3_task *t, unsigned *tries,
                     const struct xd_s3_failure *failure);

#endif
