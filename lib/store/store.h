/* SPDX-License-Identifier: MIT */
/*
 * A store is a depot that accepts objects.  To put, inspect, renew or delete an
 * object takes several calls.  A task is a state machine: it returns the next
 * call to make, and gets the answer.
 *
 *     task --next()--> call --(lib/transfer)--> answer --answered()--> task
 *
 * Pure: no sockets and no clock.  It never sees the bytes of an object, only
 * their hash, which it gets from a callback.  Answers are not trusted.
 *
 * Threads: a store is constant after new() and may be used by any thread.  A
 * task belongs to one thread.
 */
#ifndef XD_STORE_STORE_H
#define XD_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "base/range.h"
#include "base/time.h"
#include "base/url.h"
#include "io/transport.h"

struct xd_store;
struct xd_task;

/* The settings of a store.  Strings may be NULL: not given. */
struct xd_store_config {
    /* where objects go: a folder, "s3://BUCKET/KEY" or "ibp://HOST:PORT" */
    const struct xd_url *target;
    /* S3 only. */
    const char *s3_endpoint; /* a URL; NULL: Amazon's */
    const char *s3_region, *s3_access_key, *s3_secret_key, *s3_session_token;
    /* the bucket is part of the host name, not of the path */
    bool s3_host_style;
    /* part size of a multipart upload; 0: the default */
    uint64_t s3_part_bytes;
    /* IBP only: wanted lifetime of allocations, in seconds; 0: the default */
    uint64_t lifetime_s;
};

/* The names of an object.  The strings are owned.  All but `read` are
 * secrets. */
struct xd_object {
    char *read;  /* URL to read it */
    char *write; /* IBP: capability; or NULL */
    /* URL in the store, or IBP capability, to inspect, renew and delete it */
    char *manage;
    char *upload; /* S3: id of the multipart upload in progress; or NULL */
    uint64_t size;
    int64_t expires_at; /* seconds since 1970; 0: never, or unknown */
    char *validator;    /* or NULL */
};

void xd_object_fini(struct xd_object *o);

/* Copies an object.  Errors: NOMEM; then *out is empty. */
int xd_object_copy(struct xd_object *out, const struct xd_object *o);

enum xd_task_kind {
    /* Upload a new object `name` of `size` bytes.  Fails with EXISTS if an
     * object of that name exists, which is not replaced. */
    XD_TASK_PUT,
    XD_TASK_LOOK,   /* get size, validator and expiry of object.manage */
    XD_TASK_READ,   /* read a range of the object, at most 64 KiB */
    XD_TASK_RENEW,  /* extend the object's lifetime to `until` */
    XD_TASK_DELETE, /* delete the object; succeeds if it does not exist */
    /* delete what an interrupted upload has left; succeeds if there is
     * nothing */
    XD_TASK_ABORT
};

enum xd_task_state { XD_TASK_RUNS, XD_TASK_DONE, XD_TASK_FAILED };

/* The reason of a failure, which tells the caller what to do. */
enum xd_task_failure {
    XD_TASK_MAY_PASS, /* may succeed if tried again after retry_after */
    /* An object of that name exists; object.manage names it.  The name tells
     * the caller who made it. */
    XD_TASK_EXISTS,
    XD_TASK_ABSENT,  /* there is no such object */
    XD_TASK_FULL,    /* the store has no space */
    XD_TASK_REFUSED, /* not allowed: 401, 403, expired credentials */
    /* The store does not allow such a long lifetime.  `limit` is the longest,
     * in seconds, or 0 if unknown. */
    XD_TASK_BEYOND,
    XD_TASK_UNABLE, /* the store does not support this */
    /* anything else: an invalid answer, or a refusal without a reason */
    XD_TASK_BAD
};

struct xd_task_order {
    enum xd_task_kind kind;
    const char *name;      /* PUT: a relative path without "." and ".." */
    uint64_t size;         /* PUT */
    struct xd_range range; /* READ */
    /* which object; not used by PUT, which has `name`.  It must outlive the
     * task. */
    const struct xd_object *object;
    /* how long the store may process an upload before it answers or shows
     * the object */
    xd_usec patience;
    /* RENEW, and PUT for stores with lifetimes: seconds since 1970 */
    int64_t until;
    /* PUT: returns the SHA-256 in hex of these bytes of the object, which were
     * not sent yet.  A result < 0 fails the task with this error.  Blocks: on
     * the disk. */
    int (*hash)(void *user, struct xd_range range, char out_hex[65],
                struct xd_error *err);
    void *user;
};

/* A request to make.  Everything in it is valid until the answer. */
struct xd_call {
    unsigned id; /* unique among the calls of its task in flight */
    const struct xd_url *url;
    const char *method; /* as in struct xd_sending */
    const char *fields; /* as in struct xd_sending; secret */
    /* bytes of the object to send; if empty, `text` is sent */
    struct xd_range body;
    const char *text; /* NULL: nothing is sent */
    size_t text_len;
    /* bytes of the answer's body to keep; the rest is dropped */
    size_t most_answer;
    /* send the user's credentials, as in struct xd_sending */
    bool logs_in;
    /* as in struct xd_sending; 0 if the call changes nothing */
    xd_usec patience;
};

struct xd_answer {
    /* OK if there was an answer, even an error.  Otherwise the verdict and
     * error say why there was none. */
    const struct xd_outcome *outcome;
    const struct xd_reply *reply; /* valid if the outcome is OK */
    const char *body;             /* not NUL-terminated */
    size_t body_len;
};

/*
 * Creates a store; the scheme of config->target selects the kind.
 * Ownership: *out is the caller's; release it with xd_store_free().  `config`
 *            is copied.
 * Errors:    INVAL (not a place for objects, an invalid bucket or key, no
 *            credentials for S3), NOMEM.
 */
int xd_store_new(struct xd_store **out, const struct xd_store_config *config,
                 struct xd_error *err);
void xd_store_free(struct xd_store *s);

/* Returns the name to show: a URL without secrets, or "s3://BUCKET/KEY". */
const char *xd_store_name(const struct xd_store *s);

/* Returns whether `manage`, from a manifest, is in this store: below the target
 * that the user gave, and at the same endpoint.  If not, nothing may be sent to
 * it. */
bool xd_store_has(const struct xd_store *s, const char *manage);

/* Returns the host of the objects without the port, in any letter case.  For S3
 * it is the host of the endpoint, which all buckets share. */
struct xd_span xd_store_host(const struct xd_store *s);

/* Returns whether `host` is the host of the store.  For S3 also the host of any
 * bucket of the endpoint, BUCKET.HOST. */
bool xd_store_is_on(const struct xd_store *s, struct xd_span host);

/* Returns how many calls of a task may be in flight at a time. */
unsigned xd_store_most_calls(const struct xd_store *s);

/*
 * Creates a task.
 * Ownership: *out is the caller's; release it with xd_task_free().  The store
 *            must outlive it; see struct xd_task_order for `order`.
 * Errors:    INVAL (this store cannot do that), NOMEM.
 */
int xd_task_new(struct xd_task **out, const struct xd_store *s,
                const struct xd_task_order *order, struct xd_error *err);
void xd_task_free(struct xd_task *t);

/*
 * Creates a URL by which anybody can read the private object `manage` of this
 * store, for `seconds` after `now`.  It is a secret.
 * Ownership: *out is the caller's; release it with xd_free().
 * Errors:    INVAL (the store has no such URLs, the object is not in it, or
 *            `seconds` is 0 or above xd_store_most_presign()), NOMEM.
 */
int xd_store_presign(const struct xd_store *s, const char *manage, int64_t now,
                     uint64_t seconds, char **out, struct xd_error *err);

/* Returns the longest lifetime of such a URL in seconds; 0: not supported. */
uint64_t xd_store_most_presign(const struct xd_store *s);

/* Gets the next call.  Returns false if none can be made before another
 * answer.  `now` is the time of day in seconds since 1970.  Blocks: like
 * order.hash(). */
bool xd_task_next(struct xd_task *t, int64_t now, struct xd_call *out);

/* Reports the answer to a call.  Call it exactly once for each call. */
void xd_task_answered(struct xd_task *t, unsigned id,
                      const struct xd_answer *answer);

/* The result so far.  `object` belongs to the task.  For PUT it names the new
 * object even while the task runs and after a failure, so that it can be
 * deleted. */
struct xd_task_result {
    enum xd_task_state state;
    enum xd_task_failure failure;
    /* The text names the store and the object.  After DONE: a remark, or code
     * XD_OK if there is none. */
    struct xd_error error;
    /* with MAY_PASS: pause that the store has requested; 0: none */
    xd_usec retry_after;
    uint64_t limit;
    /* While the task runs and no call is in flight: when next() has a call
     * again, in seconds since 1970.  0: at once, or after an answer. */
    int64_t ready_at;
    /* Seconds by which the local clock is behind the store's, if the store
     * refused a request for that reason; otherwise 0. */
    int64_t clock_off_s;
    const struct xd_object *object;
    const char *bytes; /* READ */
    size_t n_bytes;
};

void xd_task_result(const struct xd_task *t, struct xd_task_result *out);

#endif
