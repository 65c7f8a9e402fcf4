/* SPDX-License-Identifier: MIT */
/* Which copies of a file there are, before it is fetched. */
#ifndef XD_ENGINE_COPIES_FIND_H
#define XD_ENGINE_COPIES_FIND_H

#include <xdownload/inspect.h>

/* xd_copies_check(), and then xd_manifest_follow().  As these. */
int xd_copies_find(struct xd_manifest **out, struct xd_manifest *m,
                   const struct xd_options *o, struct xd_error *err);

#endif
