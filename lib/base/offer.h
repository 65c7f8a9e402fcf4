/* SPDX-License-Identifier: MIT */
/*
 * What a server says of an object beside its bytes: other copies, manifests and
 * signatures of it, and what it hashes to.  Claims, no facts.
 *
 * A list that grows.  The first failed allocation makes `failed` true and every
 * later call does nothing, so that one check at the end is enough.
 */
#ifndef XD_BASE_OFFER_H
#define XD_BASE_OFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/reach.h"
#include "base/url.h"

/* More than any server has; the rest is dropped. */
#define XD_OFFERED_MAX 256
#define XD_OFFER_HASHES_MAX 8

#define XD_OFFER_LAST 999999u /* the priority of what has none */

enum xd_offered_kind {
    XD_OFFERED_COPY,
    XD_OFFERED_MANIFEST,
    XD_OFFERED_SIGNATURE
};

struct xd_offered {
    enum xd_offered_kind kind;
    struct xd_url *url;   /* owned, by the offer that it stands in */
    unsigned priority;    /* 1 is best; XD_OFFER_LAST: it has none */
    bool is_preferred;    /* before all that are not */
    char location[2 + 1]; /* ISO 3166-1 country code, in lower case; or "" */
};

/* Of all the object. */
struct xd_offer_hash {
    const char *algorithm; /* "sha-256" or "sha-512": a constant */
    char hex[128 + 1];
};

struct xd_offer {
    struct xd_offered *items; /* as they came */
    size_t n, capacity;
    struct xd_offer_hash hashes[XD_OFFER_HASHES_MAX];
    size_t n_hashes;
    enum xd_reach reach; /* how near what it names may be */
    bool failed;
};

/* A zeroed struct is an empty offer. */
void xd_offer_fini(struct xd_offer *o);

/* Takes over `item.url`. */
void xd_offer_add(struct xd_offer *o, struct xd_offered item);
void xd_offer_add_hash(struct xd_offer *o, const struct xd_offer_hash *hash);

static inline bool xd_offer_is_empty(const struct xd_offer *o)
{
    return o->n == 0 && o->n_hashes == 0;
}

/* What `from` has goes to `to`, which was empty: `from` is empty then. */
static inline void xd_offer_move(struct xd_offer *to, struct xd_offer *from)
{
    *to = *from;
    *from = (struct xd_offer){.n = 0};
}

/* Errors: NOMEM; then *out is empty. */
int xd_offer_copy(struct xd_offer *out, const struct xd_offer *o);

/* Copies in the order in which their server wants them used: those that are
 * preferred first, then by priority, and else as they came. */
void xd_offer_sort(struct xd_offer *o);

#endif
