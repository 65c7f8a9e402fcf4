/* SPDX-License-Identifier: MIT */
/*
 * Links and hashes that a server states for an object in its response headers
 * (RFC 6249): other copies, manifests, signatures and hashes.
 *
 * After a failed allocation `failed` is true and later calls do nothing, so
 * check it once at the end.
 */
#ifndef XD_BASE_OFFER_H
#define XD_BASE_OFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/reach.h"
#include "base/url.h"

/* Largest numbers of entries; further entries are dropped. */
#define XD_OFFERED_MAX 256
#define XD_OFFER_HASHES_MAX 8

#define XD_OFFER_LAST 999999u /* the lowest priority, used if none is given */

enum xd_offered_kind {
    XD_OFFERED_COPY,
    XD_OFFERED_MANIFEST,
    XD_OFFERED_SIGNATURE
};

struct xd_offered {
    enum xd_offered_kind kind;
    struct xd_url *url;   /* owned by the offer */
    unsigned priority;    /* 1 is best; XD_OFFER_LAST: none given */
    bool is_preferred;    /* sorts before all entries that are not preferred */
    char location[2 + 1]; /* ISO 3166-1 code in lower case, or "" */
};

/* A hash of the complete object. */
struct xd_offer_hash {
    const char *algorithm; /* "sha-256" or "sha-512", not owned */
    char hex[128 + 1];
};

struct xd_offer {
    struct xd_offered *items; /* entries in order of arrival */
    size_t n, capacity;
    struct xd_offer_hash hashes[XD_OFFER_HASHES_MAX];
    size_t n_hashes;
    enum xd_reach reach; /* networks that the URLs may point to */
    bool failed;
};

/* Frees an offer.  A zeroed struct is an empty offer. */
void xd_offer_fini(struct xd_offer *o);

/* Adds an entry.  Ownership: takes over `item.url`. */
void xd_offer_add(struct xd_offer *o, struct xd_offered item);
void xd_offer_add_hash(struct xd_offer *o, const struct xd_offer_hash *hash);

static inline bool xd_offer_is_empty(const struct xd_offer *o)
{
    return o->n == 0 && o->n_hashes == 0;
}

/* Moves the contents of `from` to `to`, which must be empty.  Leaves `from`
 * empty. */
static inline void xd_offer_move(struct xd_offer *to, struct xd_offer *from)
{
    *to = *from;
    *from = (struct xd_offer){.n = 0};
}

/* Copies an offer.  Errors: NOMEM, and *out is empty. */
int xd_offer_copy(struct xd_offer *out, const struct xd_offer *o);

/* Sorts in the order that the server wants: preferred entries first, then by
 * priority, then in order of arrival. */
void xd_offer_sort(struct xd_offer *o);

#endif
