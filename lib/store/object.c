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

static char *copy_of(const char *s, bool *failed)
{
    char *copy = s ? xd_strdup(s) : NULL;

    *failed |= s && !copy;
    return copy;
}

int xd_object_copy(struct xd_object *out, const struct xd_object *o)
{
    bool failed = false;

    *out = (struct xd_object){.read = copy_of(o->read, &failed),
                              .write = copy_of(o->write, &failed),
                              .manage = copy_of(o->manage, &failed),
                              .upload = copy_of(o->upload, &failed),
                              .size = o->size,
                              .expires_at = o->expires_at,
                              .validator = copy_of(o->validator, &failed)};
    if (!failed)
        return 0;
    xd_object_fini(out);
    return XD_E_NOMEM;
}
