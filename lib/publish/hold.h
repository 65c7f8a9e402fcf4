/* SPDX-License-Identifier: MIT */
/* Locks a manifest with a lock file beside it, so that no other upload or
 * command changes it, in this process or in another one. */
#ifndef XD_PUBLISH_HOLD_H
#define XD_PUBLISH_HOLD_H

#include <xdownload/error.h>

struct xd_hold {
    int fd; /* < 0: not locked */
    char *path;
};

#define XD_HOLD_NONE ((struct xd_hold){.fd = -1})

/*
 * Locks the manifest at `path` with the lock file "PATH.lock".  *h must be
 * XD_HOLD_NONE before the call, and is XD_HOLD_NONE again after a failure.
 * Errors: IO (another upload or command has locked it, or the file cannot be
 *         created), NOMEM.
 */
int xd_hold_take(struct xd_hold *h, const char *path, struct xd_error *err);

/* Removes the lock file.  Does nothing if the manifest is not locked. */
void xd_hold_give(struct xd_hold *h);

#endif
