/* SPDX-License-Identifier: MIT */
#include "publish/open_store.h"

#include "publish/s3_access.h"
#include "store/s3_place.h"

int xd_open_store(struct xd_store **out, const struct xd_url *target,
                  const struct xd_options *o, uint64_t lifetime_s,
                  struct xd_error *err)
{
    struct xd_store_config config = {.target = target,
                                     .lifetime_s = lifetime_s};
    struct xd_s3_access access = {.endpoint = NULL};
    int rc = 0;

    if (xd_s3_is_name(target))
        rc = xd_s3_access_find(&access, &o->s3, err);
    if (rc == 0) {
        xd_s3_access_apply(&access, &config);
        rc = xd_store_new(out, &config, err);
    }
    xd_s3_access_fini(&access);
    return rc;
}
