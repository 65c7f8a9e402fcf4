/* SPDX-License-Identifier: MIT */
#include "transfer/turns.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"

int xd_turns_init(struct xd_turns *t, size_t n)
{
    *t = (struct xd_turns){.n = n};
    t->retries = xd_alloc(n, sizeof *t->retries);
    return t->retries ? 0 : XD_E_NOMEM;
}

void xd_turns_fini(struct xd_turns *t)
{
    xd_free(t->retries);
    t->retries = NULL;
}

bool xd_turns_take_fresh(struct xd_turns *t, size_t *out)
{
    if (t->n_begun == t->n)
        return false;
    *out = t->n_begun++;
    return true;
}

/* Inserts `r` at index `i`, or moves it up from there. */
static void rise(struct xd_turns *t, size_t i, struct xd_retry r)
{
    for (; i > 0 && r.at < t->retries[(i - 1) / 2].at; i = (i - 1) / 2) {
        t->retries[i] = t->retries[(i - 1) / 2];
        t->n_moves++;
    }
    t->retries[i] = r;
}

/* Fills the root from below.  Returns the index that becomes empty, on the
 * lowest level. */
static size_t fill_root(struct xd_turns *t)
{
    size_t i = 0, child;

    while ((child = 2 * i + 1) < t->n_retries) {
        if (child + 1 < t->n_retries &&
            t->retries[child + 1].at < t->retries[child].at)
            child++;
        t->retries[i] = t->retries[child];
        t->n_moves++;
        i = child;
    }
    return i;
}

bool xd_turns_take_retry(struct xd_turns *t, xd_usec until, size_t *out)
{
    if (t->n_retries == 0 || t->retries[0].at > until)
        return false;
    *out = t->retries[0].request;
    t->n_retries--;
    rise(t, fill_root(t), t->retries[t->n_retries]);
    return true;
}

void xd_turns_again(struct xd_turns *t, size_t request, xd_usec at)
{
    XD_ASSERT(t->n_retries < t->n_begun);
    rise(t, t->n_retries++, (struct xd_retry){at, request});
}

xd_usec xd_turns_next_at(const struct xd_turns *t)
{
    if (t->n_begun < t->n)
        return 0;
    return t->n_retries > 0 ? t->retries[0].at : XD_NEVER;
}
