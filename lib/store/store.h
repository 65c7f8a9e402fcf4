/* SPDX-License-Identifier: MIT */
/*
 * A store is a depot that takes objects.  What it takes to put one there, to look
 * at it, to keep it longer or to remove it is a protocol: a state machine that
 * says which calls are to be made, and learns what was answered.
 *
 *     task --next()--> call --(transfer makes it)--> answer --answered()--> task
 *
 * Pure: no socket, no clock, and of the object's bytes only their hash, for which
 * it asks.  Nothing in an answer is trusted.
 *
 * Threads: a store is constant after new() and may be read by any; a task is its
 * owner's.
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

/* What is known of a store beside its URL.  Strings may be NULL: not given. */
struct xd_store_config {
    const struct xd_url
        *target; /* where objects go: a folder, "s3://BUCKET/KEY",
                                    or "ibp://HOST:PORT" */
    /* Of S3 alone. */
    const char *s3_endpoint; /* a URL; NULL: Amazon's */
    const char *s3_region, *s3_access_key, *s3_secret_key, *s3_session_token;
    bool s3_host_style; /* the bucket is in the host's name, not in the path */
    uint64_t s3_part_bytes; /* of a multipart upload; 0: the default */
    uint64_t lifetime_s; /* for which an allocation is wanted; 0: the default.
                            Of IBP alone */
};

/* An object, by the names that its store has given it; each is owned.  All but
 * `read` are secrets. */
struct xd_object {
    char *read;   /* the URL by which it is read */
    char *write;  /* IBP's capability; or NULL */
    char *manage; /* by which it is looked at, renewed and removed: a URL of the
                     store, or IBP's capability */
    char *upload; /* of S3, while it is being sent: the upload's id; or NULL */
    uint64_t size;
    int64_t expires_at; /* seconds since 1970; 0: never, or it is not known */
    char *validator;    /* or NULL */
};

void xd_object_fini(struct xd_object *o);

/* Errors: NOMEM, and then *out is empty. */
int xd_object_copy(struct xd_object *out, const struct xd_object *o);

enum xd_task_kind {
    XD_TASK_PUT,    /* a new object of `size` bytes, called `name`.  One of that
                       name that is there already, and stays, fails it: EXISTS */
    XD_TASK_LOOK,   /* size, validator and expiry of object.manage */
    XD_TASK_READ,   /* a range of it, at most 64 KiB */
    XD_TASK_RENEW,  /* it is to live until `until` */
    XD_TASK_DELETE, /* it is gone; that it was not there is no failure */
    XD_TASK_ABORT   /* what an upload that was broken off has left; likewise */
};

enum xd_task_state { XD_TASK_RUNS, XD_TASK_DONE, XD_TASK_FAILED };

/* Why a task has failed, and so what can be done about it. */
enum xd_task_failure {
    XD_TASK_MAY_PASS, /* another attempt may do better, after retry_after */
    XD_TASK_EXISTS,   /* an object of that name is there, which object.manage
                         names; whose it is the caller knows, by the name */
    XD_TASK_ABSENT,   /* there is no such object */
    XD_TASK_FULL,     /* the store has no room */
    XD_TASK_REFUSED, /* it will not do so for us: 401, 403, expired credentials */
    XD_TASK_BEYOND, /* it does not let objects live so long; `limit` says how
                         long, in seconds, if that is known */
    XD_TASK_UNABLE, /* this store cannot do that */
    XD_TASK_BAD     /* else: its answers make no sense, or say a plain no */
};

struct xd_task_order {
    enum xd_task_kind kind;
    const char *name;      /* PUT: a relative path without "." and ".." */
    uint64_t size;         /* PUT */
    struct xd_range range; /* READ */
    const struct xd_object *object; /* all but PUT; outlives the task */
    int64_t until; /* RENEW, and PUT with a store that wants it:
                                       seconds since 1970 */
    /* PUT: the SHA-256, in hex, of those bytes of the object, which were not sent
     * yet.  < 0 fails the task with that.  Blocks: on the disk. */
    int (*hash)(void *user, struct xd_range range, char out_hex[65],
                struct xd_error *err);
    void *user;
};

/* One request to be made.  Everything in it lives until its answer. */
struct xd_call {
    unsigned id; /* of its task; those that are in flight differ */
    const struct xd_url *url;
    const char *method;   /* as in struct xd_sending */
    const char *fields;   /* likewise; secret */
    struct xd_range body; /* bytes of the object to send; if empty: */
    const char *text;     /* this, or nothing if it is NULL */
    size_t text_len;
    size_t
        most_answer; /* bytes of the answer's body that are wanted; what comes
                           beyond them is dropped */
    bool logs_in;    /* with the user's credentials, as in xd_sending */
};

struct xd_answer {
    /* OK: an answer came, whatever it says; else why none did, by its verdict
     * and sentence. */
    const struct xd_outcome *outcome;
    const struct xd_reply *reply; /* with OK */
    const char *body;             /* not NUL-terminated */
    size_t body_len;
};

/*
 * A store at config->target, of the kind that its scheme stands for.
 * Ownership: *out is the caller's, to release with xd_store_free(); all of
 *            `config` is copied.
 * Errors:    INVAL (no objects can be put there; a bucket or a key that is none;
 *            no credentials for S3), NOMEM.
 */
int xd_store_new(struct xd_store **out, const struct xd_store_config *config,
                 struct xd_error *err);
void xd_store_free(struct xd_store *s); /* NULL does nothing */

/* As people may see it: a URL without secrets, or "s3://BUCKET/KEY". */
const char *xd_store_name(const struct xd_store *s);

/* Whether `manage`, which a manifest says, lies in this store: under the target
 * that was typed, by the same endpoint.  Else nothing may be sent there. */
bool xd_store_has(const struct xd_store *s, const char *manage);

/* The host on which its objects lie, without its port, in any case of letters; of S3
 * that of the endpoint, which all buckets have in common. */
struct xd_span xd_store_host(const struct xd_store *s);

/* Whether that is its host: of S3 also where a bucket of the endpoint has a name of its
 * own, BUCKET.HOST, whichever bucket it is. */
bool xd_store_is_on(const struct xd_store *s, struct xd_span host);

/* How many calls of one task may be in flight at a time. */
unsigned xd_store_most_calls(const struct xd_store *s);

/*
 * Ownership: *out is the caller's, to release with xd_task_free(); the store
 *            outlives it, and of `order` what says so.
 * Errors:    INVAL (what this store cannot be asked), NOMEM.
 */
int xd_task_new(struct xd_task **out, const struct xd_store *s,
                const struct xd_task_order *order, struct xd_error *err);
void xd_task_free(struct xd_task *t); /* NULL does nothing */

/*
 * The URL by which anybody can read `manage`, an object of this store, from `now`
 * on for `seconds`, although it is private; a secret.
 * Ownership: *out is the caller's, to release with xd_free().
 * Errors:    INVAL (a store without such URLs; an object that is not in it; none,
 *            or more seconds than xd_store_most_presign()), NOMEM.
 */
int xd_store_presign(const struct xd_store *s, const char *manage, int64_t now,
                     uint64_t seconds, char **out, struct xd_error *err);

/* For how many seconds at most such a URL is good; 0: the store has none. */
uint64_t xd_store_most_presign(const struct xd_store *s);

/* The next call, if one can be made before other answers come.  `now` is the time
 * of day in seconds since 1970.  Blocks: as order.hash(). */
bool xd_task_next(struct xd_task *t, int64_t now, struct xd_call *out);

/* What became of a call, exactly once for each. */
void xd_task_answered(struct xd_task *t, unsigned id,
                      const struct xd_answer *answer);

/* What is known so far.  `object` is the task's: of a PUT all that is known of the
 * new one, also while it runs and after it failed, so that it can be removed. */
struct xd_task_result {
    enum xd_task_state state;
    enum xd_task_failure failure;
    /* Names the store and the object.  With DONE: what is to be known of it; code
     * XD_OK: nothing. */
    struct xd_error error;
    xd_usec retry_after; /* with MAY_PASS; 0: the store asks for no pause */
    uint64_t limit;
    int64_t ready_at;    /* while it runs: with no call in flight next() has one
                            again from then on, in seconds since 1970; 0: at once,
                            or after an answer */
    int64_t clock_off_s; /* how far this machine's clock is behind the store's,
                            which had refused a request for that; else 0 */
    const struct xd_object *object;
    const char *bytes; /* of READ */
    size_t n_bytes;
};

void xd_task_result(const struct xd_task *t, struct xd_task_result *out);

#endif
