/* SPDX-License-Identifier: MIT */
/*
 * A store of WebDAV, and one of its tasks: what web.c, web_steps.c and web_end.c
 * share.
 */
#ifndef XD_STORE_WEB_H
#define XD_STORE_WEB_H

#include "base/text.h"
#include "store/task.h"

/* Constant after new(). */
struct xd_web {
    struct xd_store base;
    char *text; /* owned: of the target, with '/' at its end */
    struct xd_url target;
    struct xd_url_name name;
};

/* The call that is due, or in flight. */
enum xd_web_step {
    XD_WEB_LOOKS_FIRST,
    XD_WEB_SENDS,
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
    struct xd_task_order order; /* its strings and its object are not used */
    char *url_text;             /* owned: of the object */
    struct xd_url url;

    enum xd_task_state state;
    enum xd_task_failure failure;
    struct xd_error error;
    xd_usec retry_after;
    struct xd_object object;
    struct xd_text bytes; /* of READ */

    enum xd_web_step step;
    bool is_asked; /* its call is in flight */
    unsigned id;   /* of the last call */
    struct xd_text fields, folder;
    struct xd_url folder_url;
    size_t
        n_folder;  /* XD_WEB_MAKES_FOLDER: bytes of url_text that are its URL */
    bool is_early; /* XD_WEB_MAKES_FOLDER: before PUT, which decides */
    bool has_climbed; /* its folders are there, or were made */
};

static inline bool xd_web_is_ok(int64_t code)
{
    return code / 100 == 2;
}

static inline bool xd_web_is_absent(int64_t code)
{
    return code == 404 || code == 410;
}

/* What a step asks. */
const char *xd_web_method(enum xd_web_step step);

/* The functions of these names in struct xd_store_ops. */
bool xd_web_next(struct xd_task *task, int64_t now, struct xd_call *out);
void xd_web_answered(struct xd_task *task, unsigned id,
                     const struct xd_answer *answer);

/* The object has its names from here on, by which it can be removed.  False: there
 * is no memory. */
bool xd_web_name_object(struct xd_web_task *t);

/* ---- how a task fails ---- */

void xd_web_fail_nomem(struct xd_web_task *t);

/* By what a status means, whatever was asked for. */
void xd_web_fail_by_reply(struct xd_web_task *t, const struct xd_reply *reply);

/* No answer came. */
void xd_web_fail_by_outcome(struct xd_web_task *t, const struct xd_outcome *o);

/* An object of that name is there. */
void xd_web_fail_exists(struct xd_web_task *t);

/* The store did what `words` say of it: BAD. */
void xd_web_fail_bad(struct xd_web_task *t, const char *words);

#endif
