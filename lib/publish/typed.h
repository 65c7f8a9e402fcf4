/* SPDX-License-Identifier: MIT */
/*
 * A host or a store that was typed, and whether replicas lie there.
 *
 * Not thread-safe.
 */
#ifndef XD_PUBLISH_TYPED_H
#define XD_PUBLISH_TYPED_H

#include "publish/stores.h"

struct xd_typed {
    const char *text; /* the caller's */
    bool is_host;
    struct xd_url url;            /* if it is no host */
    const struct xd_store *store; /* likewise; of the stores */
};

/* A store is the first one of `stores`, which outlive it, as does `text`.
 * Errors: INVAL, and those of xd_stores_add(). */
int xd_typed_take(struct xd_typed *out, const char *text,
                  struct xd_stores *stores, const struct xd_options *o,
                  struct xd_error *err);

/* For sentences. */
struct xd_url_name xd_typed_name(const struct xd_typed *t);

/* Whether what manages an object is there; NULL: nothing does. */
bool xd_typed_manages(const struct xd_typed *t, const char *manage);

/* Whether a replica is: by its URL, of which `read` is the text, or by what manages it,
 * which may be NULL. */
bool xd_typed_has(const struct xd_typed *t, const struct xd_url *url,
                  const char *read, const char *manage);

#endif
