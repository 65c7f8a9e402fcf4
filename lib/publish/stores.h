/* SPDX-License-Identifier: MIT */
/*
 * The stores that a command may change.  For each store, the user gave its URL,
 * or gave a host that has an object of the manifest.
 *
 * The list is not thread-safe; the stores are.
 */
#ifndef XD_PUBLISH_STORES_H
#define XD_PUBLISH_STORES_H

#include "base/url.h"
#include "engine/options.h"
#include "store/store.h"

struct xd_stores {
    struct xd_store **list; /* owned */
    size_t n, capacity;
};

/* A zeroed struct has no stores. */
void xd_stores_fini(struct xd_stores *s);

/* Adds the store whose URL the user gave.  Errors: like xd_store_new(). */
int xd_stores_add(struct xd_stores *s, const char *text,
                  const struct xd_options *o, struct xd_error *err);

/* Returns the first store in the list that can hold the object, judging by its
 * name, or NULL. */
const struct xd_store *xd_stores_find(const struct xd_stores *s,
                                      const char *manage);

/*
 * Like xd_stores_find(), but if no store in the list has the object, adds its
 * store: the folder or the IBP depot of the object.  The caller must have
 * checked the host.
 *
 * Errors: INVAL (`manage` is not the name of an object, or names an object of
 * another kind of store), NOMEM.
 */
int xd_stores_make(const struct xd_store **out, struct xd_stores *s,
                   const char *manage, const struct xd_options *o,
                   struct xd_error *err);

/* is_host() returns true if `text` is "HOST" or "HOST:PORT".  is_at() returns
 * true if `u` is at this host, and at its port.  If `text` has no port, `u`
 * must have the default port of its scheme. */
bool xd_is_host(const char *text);
bool xd_url_is_at(const struct xd_url *u, const char *text);

#endif
