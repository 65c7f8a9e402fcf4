/* SPDX-License-Identifier: MIT */
/*
 * A host or a store that the user gave as an argument, and functions that tell
 * which replicas are on it.
 *
 * Not thread-safe.
 */
#ifndef XD_PUBLISH_TYPED_H
#define XD_PUBLISH_TYPED_H

#include "publish/stores.h"

struct xd_typed {
    const char *text; /* the argument; owned by the caller */
    bool is_host;
    struct xd_url url; /* URL of the store; not set for a host */
    /* owned by the list of stores; NULL for a host */
    const struct xd_store *store;
};

/* Parses `text`, which is "HOST", "HOST:PORT" or the URL of a store.  A store
 * is added to `stores` unless the list already has it.  `text` and `stores`
 * must outlive *out.  Errors: INVAL, and like xd_stores_add(). */
int xd_typed_take(struct xd_typed *out, const char *text,
                  struct xd_stores *stores, const struct xd_options *o,
                  struct xd_error *err);

/* Returns the name of the host or store for messages. */
struct xd_url_name xd_typed_name(const struct xd_typed *t);

/* Returns true if the object named by `manage` is on this store or host.
 * Returns false if `manage` is NULL. */
bool xd_typed_manages(const struct xd_typed *t, const char *manage);

/* Returns whether this host or store has a replica, judging by its URL (`read`
 * is the text of `url`) or by the object name `manage`, which may be NULL. */
bool xd_typed_has(const struct xd_typed *t, const struct xd_url *url,
                  const char *read, const char *manage);

#endif
