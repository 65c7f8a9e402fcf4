/* SPDX-License-Identifier: MIT */
/*
 * A task of an IBP depot.  It makes one call at a time, one for each step.
 *
 *     ibp.c        creates a task
 *     ibp_call.c   builds the call of a step
 *     ibp_answer.c chooses the next step, or ends the task, after an answer
 */
#ifndef XD_STORE_IBP_TASK_H
#define XD_STORE_IBP_TASK_H

#include "base/text.h"
#include "store/task.h"

/* Constant after new(). */
struct xd_ibp_store {
    struct xd_store base;
    char *name;           /* "ibp://HOST:PORT" */
    struct xd_url target; /* parsed from `name` */
    /* lifetime of new allocations, in seconds; 0: the default */
    uint64_t lifetime_s;
};

/* The call to make next, or in flight. */
enum xd_ibp_task_step {
    XD_IBP_ALLOCATES,
    XD_IBP_ASKS_LIMIT,
    XD_IBP_STORES_BYTES,
    XD_IBP_LOOKS,
    XD_IBP_CHANGES,
    XD_IBP_DECREMENTS,
    XD_IBP_READS
};

struct xd_ibp_task {
    struct xd_task base;
    /* Constant after new(). */
    const struct xd_ibp_store *store;
    struct xd_task_order order;

    enum xd_ibp_task_step step;
    bool is_asked; /* a call is in flight */
    unsigned id;   /* id of the last call */
    struct xd_text fields;
    struct xd_url url;

    int64_t now;
    /* wanted lifetime of the object, in seconds after `asked_at` */
    uint64_t seconds;
    int64_t asked_at; /* when that lifetime was requested; 0: not yet */
    bool is_demanded; /* a shorter lifetime is a failure */
    /* the depot refused, and its longest lifetime was requested instead */
    bool is_shortened;
    int reliability;    /* XD_IBP_HARD or XD_IBP_SOFT */
    uint64_t written;   /* PUT: bytes that the depot has stored */
    uint64_t allocated; /* size of the allocation in bytes */
    bool has_changed;   /* the lifetime of the object was changed */
    /* which reference count to decrement: of readers or of writers */
    int of;
    unsigned n_decrements, n_stores;

    struct xd_object object;
    struct xd_text bytes; /* READ */
    struct xd_task_result result;
};

/* Returns whether `text` is a capability of this depot that grants `right`. */
bool xd_ibp_store_has_capability(const struct xd_ibp_store *s, const char *text,
                                 const char *right);

/* Sets t->seconds, the lifetime of the object counted from t->now. */
void xd_ibp_task_count_seconds(struct xd_ibp_task *t);

/* Builds the call of the current step.  Returns false if no call can be made
 * now. */
bool xd_ibp_task_next(struct xd_task *t, int64_t now, struct xd_call *out);

/* Handles the answer: goes to the next step, or ends the task. */
void xd_ibp_task_take(struct xd_ibp_task *t, const struct xd_answer *answer);
void xd_ibp_task_fail_nomem(struct xd_ibp_task *t);

#endif
