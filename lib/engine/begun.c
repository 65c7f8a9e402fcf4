/* SPDX-License-Identifier: MIT */
#include "engine/begun.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "os/clock.h"
#include "os/thread.h"
#include "transfer/runner.h"

struct xd_begun_place {
    atomic_uint references;
    struct xd_mutex lock;           /* a leaf */
    struct xd_begun *begun;         /* or NULL; guarded by lock, as is: */
    struct xd_begun_stated *stated; /* or NULL */
};

void xd_begun_free(struct xd_begun *b)
{
    if (!b)
        return;
    xd_runner_free(b->runner);
    b->free_owner(b->owner);
    xd_free(b->url);
    xd_free(b);
}

void xd_begun_stated_free(struct xd_begun_stated *s)
{
    if (!s)
        return;
    xd_free(s->url);
    xd_free(s->validator);
    xd_free(s);
}

struct xd_begun_place *xd_begun_place_new(void)
{
    struct xd_begun_place *p = xd_alloc(1, sizeof *p);

    if (!p || xd_mutex_init(&p->lock) < 0) {
        xd_free(p);
        return NULL;
    }
    atomic_init(&p->references, 1);
    return p;
}

struct xd_begun_place *xd_begun_place_ref(struct xd_begun_place *p)
{
    if (p)
        atomic_fetch_add(&p->references, 1);
    return p;
}

void xd_begun_place_unref(struct xd_begun_place *p)
{
    if (!p || atomic_fetch_sub(&p->references, 1) > 1)
        return;
    xd_begun_free(p->begun);
    xd_begun_stated_free(p->stated);
    xd_mutex_fini(&p->lock);
    xd_free(p);
}

static struct xd_begun *exchange(struct xd_begun_place *p, struct xd_begun *b)
{
    struct xd_begun *former;

    xd_mutex_lock(&p->lock);
    former = p->begun;
    p->begun = b;
    xd_mutex_unlock(&p->lock);
    return former;
}

void xd_begun_put(struct xd_begun_place *p, struct xd_begun *b)
{
    xd_begun_free(exchange(p, b));
}

struct xd_begun *xd_begun_take(struct xd_begun_place *p)
{
    return p ? exchange(p, NULL) : NULL;
}

static struct xd_begun_stated *exchange_stated(struct xd_begun_place *p,
                                               struct xd_begun_stated *s)
{
    struct xd_begun_stated *former;

    xd_mutex_lock(&p->lock);
    former = p->stated;
    p->stated = s;
    xd_mutex_unlock(&p->lock);
    return former;
}

void xd_begun_state(struct xd_begun_place *p, struct xd_begun_stated *s)
{
    xd_begun_stated_free(exchange_stated(p, s));
}

struct xd_begun_stated *xd_begun_take_stated(struct xd_begun_place *p,
                                             const struct xd_url *url)
{
    struct xd_begun_stated *s = p ? exchange_stated(p, NULL) : NULL;

    if (s && xd_now() < s->at + XD_BEGUN_LASTS &&
        xd_url_compare(s->url, url) == 0)
        return s;
    xd_begun_stated_free(s);
    return NULL;
}
