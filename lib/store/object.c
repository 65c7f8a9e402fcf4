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
