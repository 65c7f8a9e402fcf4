/* SPDX-License-Identifier: MIT */
/* A manifest that is written is kept from other uploads and commands, of this
 * process and others, by a file beside it that is locked. */
#ifndef XD_PUBLISH_HOLD_H
#define XD_PUBLISH_HOLD_H

#include <xdownload/error.h>

struct xd_hold {
    int fd; /* < 0: it is not held */
    char *path;
};

#define XD_HOLD_NONE ((struct xd_hold){.fd = -1})

/* Hold the manifest at `path`: makes "PATH.lock".  *h is none before, and after a
 * failure.
 * Errors: IO (another upload or command holds it, or the file cannot be made),
 *         NOMEM. */
int xd_hold_take(struct xd_hold *h, const char *path, struct xd_error *err);

/* The file goes.  Of none: nothing. */
void xd_hold_give(struct xd_hold *h);

#endif
