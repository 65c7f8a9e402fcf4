/* SPDX-License-Identifier: MIT */
/*
 * The stores that a command may act at: those that were typed, and those that
 * follow from the name of an object and something else that was.
 *
 * Not thread-safe; the stores are.
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

/* A zeroed struct has none. */
void xd_stores_fini(struct xd_stores *s);

/* The store at a URL that was typed.  Errors: as xd_store_new(). */
int xd_stores_add(struct xd_stores *s, const char *text,
                  const struct xd_options *o, struct xd_error *err);

/* The first that has the object; NULL: none. */
const struct xd_store *xd_stores_find(const struct xd_stores *s,
                                      const char *manage);

/*
 * The same; where none has it, one that does is added: the folder that it lies in,
 * or its IBP depot.  The caller answers for that host.
 * Errors: INVAL (no name of an object, or one of another kind of store), NOMEM.
 */
int xd_stores_make(const struct xd_store **out, struct xd_stores *s,
                   const char *manage, const struct xd_options *o,
                   struct xd_error *err);

/* Whether `text`, "HOST" or "HOST:PORT", is a host, and whether `u` is at it: at the
 * port that was typed, or else at that of its scheme. */
bool xd_is_host(const char *text);
bool xd_url_is_at(const struct xd_url *u, const char *text);

#endif
