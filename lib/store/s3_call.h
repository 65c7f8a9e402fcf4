/* SPDX-License-Identifier: MIT */
/*
 * The calls of a task, one in each slot, and what becomes of those that fail: the
 * part that all steps of a task share.
 */
#ifndef XD_STORE_S3_CALL_H
#define XD_STORE_S3_CALL_H

#include "store/s3.h"
#include "store/s3_fault.h"

/* What is wanted of an answer's body: an <Error> has up to some KiB. */
#define XD_S3_MOST_ANSWER ((size_t)16 << 10)

#define XD_S3_ETAG_MAX 200    /* Amazon's have at most 40 bytes */
#define XD_S3_UPLOAD_MAX 1024 /* of an upload's id; Amazon's have some 130 */

struct xd_s3_part {
    char *etag; /* NULL: it is not there */
    unsigned tries;
    bool is_in_flight;
};

enum xd_s3_step {
    XD_S3_LOOKS,
    XD_S3_ASKS_WHY, /* after a HEAD that was refused */
    XD_S3_READS,
    XD_S3_REMOVES,
    XD_S3_LISTS, /* the uploads of its key: their ids are not known */
    XD_S3_ABORTS,
    /* of PUT */
    XD_S3_SENDS,
    XD_S3_CREATES,
    XD_S3_SENDS_PARTS,
    XD_S3_COMPLETES,
    XD_S3_VERIFIES,
    XD_S3_CLEARS_UP /* aborts its own upload, and fails then */
};

struct xd_s3_slot {
    bool is_busy;
    unsigned id;
    enum xd_s3_step step;    /* that the call belongs to */
    struct xd_s3_part *part; /* SENDS_PARTS */
    struct xd_url *url;
    struct xd_text fields, text;
    int64_t signed_at;
};

/* Why a task fails, or will unless it finds that all is well. */
struct xd_s3_failure {
    enum xd_task_failure kind;
    struct xd_error error;
    xd_usec retry_after;
};

struct xd_s3_task {
    struct xd_task task;

    /* Constant after new(). */
    const struct xd_s3 *store;
    struct xd_task_order order; /* its strings and its object are not used */
    char *key, *path, *name;

    enum xd_task_state state;
    struct xd_s3_failure failure; /* if it has failed */
    struct xd_object object;
    char *bytes; /* of READ */
    size_t n_bytes;

    enum xd_s3_step step, why_of; /* ASKS_WHY: of which step's HEAD */
    struct xd_s3_slot slots[XD_S3_MOST_CALLS];
    unsigned n_busy, next_id;
    int64_t now, pause_until;
    unsigned pause_s; /* from the next call of next() on */
    int64_t clock_off_s;
    bool leaves_marker; /* what it has removed is hidden only */
    unsigned n_corrections;
    unsigned tries;    /* of COMPLETES and VERIFIES */
    unsigned n_listed; /* LISTS: how often; 0: the upload's id is known */

    /* Of an upload. */
    bool is_unconditional; /* the server knows no If-None-Match */
    bool
        is_in_doubt; /* VERIFIES: what was sent was not answered, for `doubt` */
    bool upload_is_gone;
    struct xd_s3_failure doubt;
    uint64_t part_bytes;
    struct xd_s3_part *parts;
    size_t n_parts, n_parts_done, first_part; /* none before is missing */
};

/* A request, before it is signed. */
struct xd_s3_request {
    const char *method;
    const char *path; /* NULL: the object's */
    struct xd_sigv4_pair query[2], headers[3];
    size_t n_query, n_headers;
    struct xd_range body; /* of the object; if it is empty slot->text is sent */
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

/* A slot that is free, and has a text that is empty; NULL: there is none. */
struct xd_s3_slot *xd_s3_free_slot(struct xd_s3_task *t);

/* Sign and make the call.  False: the task has failed. */
bool xd_s3_make_call(struct xd_s3_task *t, struct xd_s3_slot *slot,
                     const struct xd_s3_request *r, struct xd_call *out);

void xd_s3_end_call(struct xd_s3_task *t, struct xd_s3_slot *slot);

void xd_s3_done(struct xd_s3_task *t);

/* The upload of its object has that id; without memory the task fails.  And it has
 * none any more. */
void xd_s3_name_upload(struct xd_s3_task *t, const char *id);
void xd_s3_forget_upload(struct xd_s3_task *t);

/* The task ends.  If an object of that name is there, an upload is aborted before. */
void xd_s3_fail(struct xd_s3_task *t, const struct xd_s3_failure *failure);
void xd_s3_fail_with(struct xd_s3_task *t, enum xd_task_failure kind,
                     const char *format, ...) XD_PRINTF(3, 4);
void xd_s3_fail_nomem(struct xd_s3_task *t);

/* Why no answer came. */
struct xd_s3_failure xd_s3_broken(const struct xd_s3_task *t,
                                  const struct xd_outcome *outcome);

/* Why an answer is a no.  True: the clock was wrong, which is corrected now, and
 * the step is to be tried again at once. */
bool xd_s3_refused(struct xd_s3_task *t, const struct xd_s3_slot *slot,
                   const struct xd_answer *answer, struct xd_s3_failure *out,
                   struct xd_s3_fault *out_fault);

/* Whether it may be tried again, after a pause, which is noted then. */
bool xd_s3_try_again(struct xd_s3_task *t, unsigned *tries,
                     const struct xd_s3_failure *failure);

#endif
