/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "store/store.h"

void xd_object_fini(struct xd_object *o)
{
    xd_free(o->read);
    xd_free(o->write);
    xd_free(o->manage);
    xd_free(o->upload);
    xd_free(o->validator);
    *o = (struct xd_object){.read = NULL};
}

int xd_object_copy(struct xd_object *out, const struct xd_object *o)
{
    bool failed = false;

    *out =
        (struct xd_object){.read = xd_strdup_maybe(o->read, &failed),
                           .write = xd_strdup_maybe(o->write, &failed),
                           .manage = xd_strdup_maybe(o->manage, &failed),
                           .upload = xd_strdup_maybe(o->upload, &failed),
                           .size = o->size,
                           .expires_at = o->expires_at,
                           .validator = xd_strdup_maybe(o->validator, &failed)};
    if (!failed)
        return 0;
    xd_object_fini(out);
    return XD_E_NOMEM;
}
