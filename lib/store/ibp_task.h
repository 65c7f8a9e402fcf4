/* SPDX-License-Identifier: MIT */
/*
 * A task of an IBP depot: one call after another, each at one step.
 *
 *     ibp.c        a new task
 *     ibp_call.c   the step's call
 *     ibp_answer.c what an answer leads to: another step, or the end
 */
#ifndef XD_STORE_IBP_TASK_H
#define XD_STORE_IBP_TASK_H

#include "base/text.h"
#include "store/task.h"

/* Constant after new(). */
struct xd_ibp_store {
    struct xd_store base;
    char *name;           /* "ibp://HOST:PORT" */
    struct xd_url target; /* the same */
    uint64_t lifetime_s;  /* 0: the default */
};

/* The call that is due, or in flight. */
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
    bool is_asked; /* its call is in flight */
    unsigned id;   /* of the last call */
    struct xd_text fields;
    struct xd_url url;

    int64_t now;
    uint64_t seconds;  /* for which the object is to live, from `asked_at` on */
    int64_t asked_at;  /* when that was asked for; 0: it was not */
    bool is_demanded;  /* no shorter time will do */
    bool is_shortened; /* the depot's longest was asked for */
    int reliability;   /* XD_IBP_HARD or SOFT */
    uint64_t written;  /* bytes of a PUT that the depot has */
    uint64_t allocated; /* bytes of the allocation */
    bool has_changed;   /* its lifetime was set */
    int of;             /* whose reference is taken */
    unsigned n_decrements, n_stores;

    struct xd_object object;
    struct xd_text bytes; /* of READ */
    struct xd_task_result result;
};

/* Whether `text` is a capability with this right on this depot. */
bool xd_ibp_store_has_capability(const struct xd_ibp_store *s, const char *text,
                                 const char *right);

/* Find how long the object is to live, counted from t->now. */
void xd_ibp_task_count_seconds(struct xd_ibp_task *t);

/* The call of the step, if it can be made. */
bool xd_ibp_task_next(struct xd_task *t, int64_t now, struct xd_call *out);

/* Go on with what was answered, or end. */
void xd_ibp_task_take(struct xd_ibp_task *t, const struct xd_answer *answer);
void xd_ibp_task_fail_nomem(struct xd_ibp_task *t);

#endif
