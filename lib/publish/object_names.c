/* SPDX-License-Identifier: MIT */
#include "publish/object_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "manifest/parity.h"
#include "publish/inventory.h"

#define RANDOM_DIGITS ((size_t)XD_INVENTORY_NAME_SIZE - 1)

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t n_stripes(const struct xd_model_file *f)
{
    return f->rare->n_stripes + f->rare->n_unused_stripes;
}

static size_t count_objects(const struct xd_model_file *f)
{
    size_t n = xd_model_n_replicas(f);

    for (size_t i = 0; i < n_stripes(f); i++)
        n += f->rare->stripes[i].n_replicas;
    return n;
}

static void add(struct xd_object_names *to, const char *url, const char *manage)
{
    to->list[to->n++] = url;
    if (manage)
        to->list[to->n++] = manage;
}

int xd_object_names_of(struct xd_object_names *out,
                       const struct xd_model_file *f, const bool *dropped,
                       const bool *dropped_parity, struct xd_error *err)
{
    *out = (struct xd_object_names){
        .list = xd_alloc(2 * count_objects(f) + 1, sizeof(const char *))};
    if (!out->list)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < xd_model_n_replicas(f); i++) {
        if (!dropped[i])
            add(out, xd_model_replica_row(f, i).url, xd_model_manage(f, i));
    }
    for (size_t i = 0; i < n_stripes(f); i++) {
        const struct xd_model_stripe *s = &f->rare->stripes[i];

        for (size_t k = 0; k < s->n_replicas; k++) {
            if (!s->is_used || !dropped_parity ||
                !dropped_parity[s->first_place + k])
                add(out, xd_stripe_replica(&s->replicas[k]).url,
                    s->replicas[k].manage);
        }
    }
    qsort(out->list, out->n, sizeof *out->list, by_text);
    return 0;
}

bool xd_object_names_have(const struct xd_object_names *names, const char *name)
{
    return bsearch(&name, names->list, names->n, sizeof *names->list,
                   by_text) != NULL;
}

void xd_object_names_fini(struct xd_object_names *names)
{
    xd_free(names->list);
}

bool xd_is_of_upload(const char *manage)
{
    const char *slash = strrchr(manage, '/');
    const char *name = slash ? slash + 1 : manage;
    struct xd_url url;

    if (xd_url_parse(&url, manage) && url.scheme == XD_SCHEME_IBP)
        return true;
    return strspn(name, "0123456789abcdef") == RANDOM_DIGITS &&
           name[RANDOM_DIGITS] == '-' && name[RANDOM_DIGITS + 1] != '\0' &&
           name[RANDOM_DIGITS + 1 +
                strspn(name + RANDOM_DIGITS + 1, "0123456789")] == '\0';
}
