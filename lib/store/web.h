/* SPDX-License-Identifier: MIT */
/* A WebDAV store and its tasks: shared by web.c, web_steps.c and web_end.c. */
#ifndef XD_STORE_WEB_H
#define XD_STORE_WEB_H

#include <stdatomic.h>

#include "base/text.h"
#include "store/looks.h"
#include "store/task.h"

struct xd_web {
    /* Constant after new(). */
    struct xd_store base;
    char *text; /* owned: the target, with '/' at its end */
    struct xd_url target;
    struct xd_url_name name;
    /* Owned.  True if the server refuses all requests with If-None-Match, even
     * if the object does not exist.  Any task may set it. */
    atomic_bool *is_unconditional;
};

/* The call to make next, or in flight. */
enum xd_web_step {
    XD_WEB_LOOKS_FIRST,
    XD_WEB_SENDS,
    /* finds out whether the object exists, after If-None-Match was refused */
    XD_WEB_LOOKS_WHY,
    XD_WEB_MAKES_FOLDER,
    XD_WEB_VERIFIES,
    XD_WEB_LOOKS,
    XD_WEB_READS,
    XD_WEB_REMOVES
};

struct xd_web_task {
    struct xd_task base;
    /* Constant after new(). */
    const struct xd_web *store;
    struct xd_task_order order; /* its strings and object are not used */
    char *url_text;             /* owned: URL of the object */
    struct xd_url url;

    enum xd_task_state state;
    enum xd_task_failure failure;
    struct xd_error error;
    xd_usec retry_after;
    struct xd_object object;
    struct xd_text bytes; /* READ */

    enum xd_web_step step;
    bool uses_get;       /* use GET instead of HEAD in this step */
    bool is_conditional; /* the last PUT had If-None-Match */
    int64_t now;
    struct xd_looks looks; /* VERIFIES */
    /* the upload was not confirmed, because of `doubt` */
    bool is_in_doubt;
    struct xd_web_doubt {
        enum xd_task_failure failure;
        struct xd_error error;
        xd_usec retry_after;
    } doubt;
    bool is_asked; /* a call is in flight */
    unsigned id;   /* id of the last call */
    struct xd_text fields, folder;
    struct xd_url folder_url;
    size_t n_folder; /* MAKES_FOLDER: length of the folder's URL in url_text */
    /* MAKES_FOLDER before the first PUT: ignore failures, because the answer
     * to PUT tells more */
    bool is_early;
    bool has_climbed; /* the folders above the object exist or were created */
};

static inline bool xd_web_is_ok(int64_t code)
{
    return code / 100 == 2;
}

static inline bool xd_web_is_absent(int64_t code)
{
    return code == 404 || code == 410;
}

/* Returns the HTTP method of the current step. */
const char *xd_web_method(const struct xd_web_task *t);

/* The functions of the same names in struct xd_store_ops. */
bool xd_web_next(struct xd_task *task, int64_t now, struct xd_call *out);
void xd_web_answered(struct xd_task *task, unsigned id,
                     const struct xd_answer *answer);

/* Sets the names of the object, so that it can be deleted later.  Returns false
 * if memory runs out. */
bool xd_web_name_object(struct xd_web_task *t);

/* ---- how a task fails ---- */

void xd_web_fail_nomem(struct xd_web_task *t);

/* Fails according to the HTTP status, for any request. */
void xd_web_fail_by_reply(struct xd_web_task *t, const struct xd_reply *reply);

/* Fails because there was no answer. */
void xd_web_fail_by_outcome(struct xd_web_task *t, const struct xd_outcome *o);

/* Fails because an object of that name exists. */
void xd_web_fail_exists(struct xd_web_task *t);

/* Fails the task with the failure in `doubt`. */
void xd_web_fail_in_doubt(struct xd_web_task *t);

/* Fails with BAD.  `words` says what the store did. */
void xd_web_fail_bad(struct xd_web_task *t, const char *words);

#endif
