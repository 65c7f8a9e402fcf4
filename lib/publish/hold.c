/* SPDX-License-Identifier: MIT */
#include "publish/hold.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "os/file.h"

static int open_lock(struct xd_hold *h, const char *path, struct xd_error *err)
{
    struct xd_error why;
    uint64_t size;
    int folder, rc = xd_folder_open(&folder, h->path, err);

    if (rc < 0)
        return rc;
    rc = xd_file_own(&h->fd, &size, folder, h->path, &why);
    xd_file_close(folder);
    if (rc == 0)
        return 0;
    h->fd = -1;
    return xd_fail_because(err, (enum xd_code)rc, &why,
                           "%s: its manifest cannot be kept from other "
                           "uploads: %s",
                           path, why.msg);
}

int xd_hold_take(struct xd_hold *h, const char *path, struct xd_error *err)
{
    struct xd_text t = {.s = NULL};
    int rc;

    xd_text_addf(&t, "%s.lock", path);
    if (t.failed)
        return xd_fail_nomem(err);
    h->path = t.s;
    rc = open_lock(h, path, err);
    if (rc < 0) {
        xd_free(h->path);
        h->path = NULL;
    }
    return rc;
}

void xd_hold_give(struct xd_hold *h)
{
    struct xd_error error;
    int folder;

    if (h->fd >= 0 && xd_folder_open(&folder, h->path, &error) == 0) {
        (void)xd_file_remove(folder, h->path, &error);
        xd_file_close(folder);
    }
    if (h->fd >= 0)
        xd_file_close(h->fd);
    xd_free(h->path);
    *h = XD_HOLD_NONE;
}
