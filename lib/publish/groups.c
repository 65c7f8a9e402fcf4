/* SPDX-License-Identifier: MIT */
#include "publish/groups.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"

static struct xd_groups_use *used_of(const struct xd_groups *g, size_t group,
                                     size_t host)
{
    return &g->used[group * g->n_hosts + host];
}

int xd_groups_add(struct xd_groups *g, struct xd_error *err)
{
    if (g->n == g->capacity) {
        const size_t more = 2 * g->capacity + 1;

        if (xd_lengthen(&g->used, g->n * g->n_hosts, more * g->n_hosts,
                        sizeof *g->used) < 0)
            return xd_fail_nomem(err);
        g->capacity = more;
    }
    g->n++;
    return 0;
}

void xd_groups_fini(struct xd_groups *g)
{
    xd_free(g->used);
}

/* Combines two values of xd_groups_use.shard: returns the value for a host that
 * has objects of shard `a` and of shard `b`. */
static unsigned both(unsigned a, unsigned b)
{
    if (a == b)
        return a;
    return a == XD_SHARD_NONE || b == XD_SHARD_NONE ? XD_SHARD_NONE
                                                    : XD_SHARD_SEVERAL;
}

void xd_groups_use(struct xd_groups *g, size_t group, size_t host,
                   unsigned shard)
{
    struct xd_groups_use *u = used_of(g, group, host);

    u->shard = u->n == 0 ? shard : both(u->shard, shard);
    u->n++;
}

void xd_groups_unuse(struct xd_groups *g, size_t group, size_t host)
{
    used_of(g, group, host)->n--;
}

void xd_groups_use_more(struct xd_groups *g, size_t group, size_t host)
{
    used_of(g, group, host)->n_more++;
}

void xd_groups_unuse_more(struct xd_groups *g, size_t group, size_t host)
{
    used_of(g, group, host)->n_more--;
}

bool xd_groups_takes_more(const struct xd_groups *g, size_t group, size_t host,
                          unsigned n_data)
{
    const struct xd_groups_use *u = used_of(g, group, host);

    return u->n == 0 || u->shard < n_data || u->shard == XD_SHARD_SEVERAL;
}

bool xd_groups_is_free(const struct xd_groups *g, size_t group, size_t host)
{
    const struct xd_groups_use *u = used_of(g, group, host);

    return u->n == 0 && u->n_more == 0;
}

bool xd_groups_has(const struct xd_groups *g, size_t group, size_t host,
                   unsigned shard)
{
    const struct xd_groups_use *u = used_of(g, group, host);

    return u->n > 0 && u->shard == shard && shard != XD_SHARD_NONE &&
           shard != XD_SHARD_SEVERAL;
}
