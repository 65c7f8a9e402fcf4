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

void xd_groups_use(struct xd_groups *g, size_t group, size_t host,
                   unsigned shard)
{
    struct xd_groups_use *u = used_of(g, group, host);

    u->shard = u->n == 0 || u->shard == shard ? shard : XD_SHARD_NONE;
    u->n++;
}

void xd_groups_unuse(struct xd_groups *g, size_t group, size_t host)
{
    used_of(g, group, host)->n--;
}

bool xd_groups_is_free(const struct xd_groups *g, size_t group, size_t host)
{
    return used_of(g, group, host)->n == 0;
}

bool xd_groups_has(const struct xd_groups *g, size_t group, size_t host,
                   unsigned shard)
{
    const struct xd_groups_use *u = used_of(g, group, host);

    return u->n > 0 && u->shard == shard && shard != XD_SHARD_NONE;
}
