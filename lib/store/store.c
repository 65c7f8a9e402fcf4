/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "store/s3_place.h"
#include "store/task.h"

int xd_store_new(struct xd_store **out, const struct xd_store_config *config,
                 struct xd_error *err)
{
    const struct xd_url *u = config->target;

    if (u->is_valid && xd_scheme_is_http(u->scheme))
        return xd_web_new(out, config, err);
    if (xd_s3_is_name(u))
        return xd_s3_new(out, config, err);
    if (u->is_valid && u->scheme == XD_SCHEME_IBP)
        return xd_ibp_store_new(out, config, err);
    return xd_fail(err, XD_E_INVAL,
                   "%s: no objects can be put there: use https://HOST/FOLDER/, "
                   "s3://BUCKET/KEY or ibp://HOST:PORT",
                   xd_url_name(u).s);
}

void xd_store_free(struct xd_store *s)
{
    if (s)
        s->ops->free(s);
}

const char *xd_store_name(const struct xd_store *s)
{
    return s->ops->name(s);
}

bool xd_store_has(const struct xd_store *s, const char *manage)
{
    return manage && s->ops->has(s, manage);
}

struct xd_span xd_store_host(const struct xd_store *s)
{
    return s->ops->host(s);
}

static bool is_of_s3(const struct xd_store *s)
{
    return strncmp(xd_store_name(s), "s3://", strlen("s3://")) == 0;
}

bool xd_store_is_on(const struct xd_store *s, struct xd_span host)
{
    const struct xd_span own = xd_store_host(s);

    if (host.len < own.len ||
        strncasecmp(host.s + host.len - own.len, own.s, own.len) != 0)
        return false;
    return host.len == own.len || (is_of_s3(s) && host.len > own.len + 1 &&
                                   host.s[host.len - own.len - 1] == '.');
}

unsigned xd_store_most_calls(const struct xd_store *s)
{
    return s->ops->most_calls;
}

int xd_store_presign(const struct xd_store *s, const char *manage, int64_t now,
                     uint64_t seconds, char **out, struct xd_error *err)
{
    if (!s->ops->presign)
        return xd_fail(err, XD_E_INVAL,
                       "%s: has no URLs that are good for a while",
                       xd_store_name(s));
    return s->ops->presign(s, manage, now, seconds, out, err);
}

uint64_t xd_store_most_presign(const struct xd_store *s)
{
    return s->ops->most_presign ? s->ops->most_presign(s) : 0;
}

int xd_task_new(struct xd_task **out, const struct xd_store *s,
                const struct xd_task_order *order, struct xd_error *err)
{
    return s->ops->new_task(out, s, order, err);
}

void xd_task_free(struct xd_task *t)
{
    if (t)
        t->ops->free_task(t);
}

bool xd_task_next(struct xd_task *t, int64_t now, struct xd_call *out)
{
    return t->ops->next(t, now, out);
}

void xd_task_answered(struct xd_task *t, unsigned id,
                      const struct xd_answer *answer)
{
    t->ops->answered(t, id, answer);
}

void xd_task_result(const struct xd_task *t, struct xd_task_result *out)
{
    t->ops->result(t, out);
}
