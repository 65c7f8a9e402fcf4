/* SPDX-License-Identifier: MIT */
#include "upkeep/upkeep.h"

#include <xdpublish/upkeep.h>

#include "args/interruptible.h"
#include "common/status.h"
#include "upkeep/upkeep_print.h"

struct call {
    const struct args *args;
    struct xd_upkeep *upkeep;
};

static int drop(void *user, struct xd_error *err)
{
    struct call *c = user;
    const struct xd_drop_wish wish = {.struct_size = sizeof wish,
                                      .manifest = c->args->inputs[0],
                                      .from = c->args->publish.from,
                                      .keeps_objects =
                                          c->args->publish.keeps_objects};

    return xd_replicas_drop(&c->upkeep, &wish, c->args->options, err);
}

static int renew(void *user, struct xd_error *err)
{
    struct call *c = user;
    const struct publish_args *p = &c->args->publish;
    const struct xd_renew_wish wish = {.struct_size = sizeof wish,
                                       .manifest = c->args->inputs[0],
                                       .lifetime_s = (uint64_t)p->lifetime_s,
                                       .stores = (const char *const *)p->stores,
                                       .n_stores = p->n_stores};

    return xd_replicas_renew(&c->upkeep, &wish, c->args->options, err);
}

/* Returns the exit status.  A lifetime that the store does not allow is a usage
 * error.  Other failures may be temporary. */
static int status_after(const struct xd_upkeep *u)
{
    if (upkeep_count(u, XD_UPKEEP_BEYOND) > 0)
        return STATUS_USAGE;
    if (upkeep_count(u, XD_UPKEEP_FAILED) > 0 ||
        upkeep_count(u, XD_UPKEEP_UNMANAGED) > 0)
        return STATUS_FAILED;
    return STATUS_COMPLETE;
}

static int run(const struct args *a, interruptible_fn *call, bool drops)
{
    struct call c = {.args = a};
    struct xd_error err;

    const int rc = interruptible_run(a, call, &c, &err);
    if (rc < 0)
        return interruptible_fail(a, &err);
    if (!a->quiet)
        upkeep_put_words(c.upkeep, drops, a->inputs[0]);
    if (a->json)
        upkeep_put_json(c.upkeep, a->inputs[0]);
    const int status = status_after(c.upkeep);
    xd_upkeep_free(c.upkeep);
    return status;
}

int upkeep_drop(const struct args *a)
{
    return run(a, drop, true);
}

int upkeep_renew(const struct args *a)
{
    return run(a, renew, false);
}
