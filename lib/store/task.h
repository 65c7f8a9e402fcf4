/* SPDX-License-Identifier: MIT */
/* A kind of store, as a table of functions.  The structs for a store and a task
 * of that kind begin with struct xd_store and struct xd_task. */
#ifndef XD_STORE_TASK_H
#define XD_STORE_TASK_H

#include "store/store.h"

struct xd_store {
    const struct xd_store_ops *ops;
};

struct xd_task {
    const struct xd_store_ops *ops;
};

/* The functions of the same names in store.h. */
struct xd_store_ops {
    void (*free)(struct xd_store *s);
    const char *(*name)(const struct xd_store *s);
    bool (*has)(const struct xd_store *s, const char *manage);
    struct xd_span (*host)(const struct xd_store *s);
    unsigned most_calls;
    /* Both NULL: not supported. */
    int (*presign)(const struct xd_store *s, const char *manage, int64_t now,
                   uint64_t seconds, char **out, struct xd_error *err);
    uint64_t (*most_presign)(const struct xd_store *s);

    int (*new_task)(struct xd_task **out, const struct xd_store *s,
                    const struct xd_task_order *order, struct xd_error *err);
    void (*free_task)(struct xd_task *t);
    bool (*next)(struct xd_task *t, int64_t now, struct xd_call *out);
    void (*answered)(struct xd_task *t, unsigned id,
                     const struct xd_answer *answer);
    void (*result)(const struct xd_task *t, struct xd_task_result *out);
};

/* The constructors of the kinds.  Each sets ops. */
int xd_web_new(struct xd_store **out, const struct xd_store_config *config,
               struct xd_error *err);
int xd_s3_new(struct xd_store **out, const struct xd_store_config *config,
              struct xd_error *err);
int xd_ibp_store_new(struct xd_store **out,
                     const struct xd_store_config *config,
                     struct xd_error *err);

#endif
