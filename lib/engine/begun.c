/* SPDX-License-Identifier: MIT */
#include "engine/begun.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "os/clock.h"
#include "os/exit.h"
#include "os/thread.h"
#include "transfer/runner.h"

/* The kinds of objects that a place can hold.  It holds at most one of each. */
enum kept { BEGUN, STATED, SAMPLES, N_KEPT };

struct xd_begun_place {
    atomic_uint references;
    long process;
    struct xd_mutex lock; /* no other lock is taken while it is held */
    void *kept[N_KEPT];   /* owned, or NULL; guarded by lock */
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

void xd_begun_samples_free(struct xd_begun_samples *s)
{
    for (size_t i = 0; s && i < s->n; i++)
        xd_free(s->list[i].url);
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
    p->process = xd_exit_process();
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
    if (!p || atomic_fetch_sub(&p->references, 1) > 1 ||
        p->process != xd_exit_process())
        return;
    xd_begun_free(p->kept[BEGUN]);
    xd_begun_stated_free(p->kept[STATED]);
    xd_begun_samples_free(p->kept[SAMPLES]);
    xd_mutex_fini(&p->lock);
    xd_free(p);
}

/* Replaces an object.  Returns the former one; NULL if there was none or `p` is
 * NULL. */
static void *exchange(struct xd_begun_place *p, enum kept which, void *new)
{
    void *former;

    if (!p)
        return NULL;
    xd_mutex_lock(&p->lock);
    former = p->kept[which];
    p->kept[which] = new;
    xd_mutex_unlock(&p->lock);
    return former;
}

void xd_begun_put(struct xd_begun_place *p, struct xd_begun *b)
{
    xd_begun_free(exchange(p, BEGUN, b));
}

struct xd_begun *xd_begun_take(struct xd_begun_place *p)
{
    return exchange(p, BEGUN, NULL);
}

void xd_begun_state(struct xd_begun_place *p, struct xd_begun_stated *s)
{
    xd_begun_stated_free(exchange(p, STATED, s));
}

struct xd_begun_stated *xd_begun_take_stated(struct xd_begun_place *p,
                                             const struct xd_url *url)
{
    struct xd_begun_stated *s = exchange(p, STATED, NULL);

    if (s && xd_now() < s->at + XD_BEGUN_LASTS &&
        xd_url_compare(s->url, url) == 0)
        return s;
    xd_begun_stated_free(s);
    return NULL;
}

void xd_begun_put_samples(struct xd_begun_place *p, struct xd_begun_samples *s)
{
    xd_begun_samples_free(exchange(p, SAMPLES, s));
}

struct xd_begun_samples *xd_begun_take_samples(struct xd_begun_place *p)
{
    struct xd_begun_samples *s = exchange(p, SAMPLES, NULL);

    if (s && xd_now() < s->at + XD_BEGUN_LASTS)
        return s;
    xd_begun_samples_free(s);
    return NULL;
}
