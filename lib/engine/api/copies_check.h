/* SPDX-License-Identifier: MIT */
/* Checks that the URLs of a list are copies of one file. */
#ifndef XD_ENGINE_COPIES_CHECK_H
#define XD_ENGINE_COPIES_CHECK_H

#include <xdownload/manifest.h>

/* Implements the first half of xd_copies_find(), with the same contract. */
int xd_copies_check(struct xd_manifest **out, struct xd_manifest *m,
                    const struct xd_options *o, struct xd_error *err);

#endif
