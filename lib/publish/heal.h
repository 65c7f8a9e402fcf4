/* SPDX-License-Identifier: MIT */
/*
 * Which replicas an upload replaces: those that an audit has found to be bad.  They
 * are dropped once all of their extent has new copies.
 *
 * Pure.  A zeroed one replaces nothing.
 */
#ifndef XD_PUBLISH_HEAL_H
#define XD_PUBLISH_HEAL_H

#include <stdbool.h>
#include <stddef.h>

struct xd_model_file;

struct xd_heal {
    const struct xd_model_file *file; /* or NULL */
    bool *bad, *dropped; /* of each replica of the file, extent by extent */
    size_t *extents; /* of each extent of the plan: which one of the file's it
                            is of */
    size_t *left;    /* of each of the file's: copies of extents of the plan
                            that are missing */
    size_t n;        /* extents of the plan */
};

/* One copy more of an extent of the plan is there.  Returns whether replicas were
 * dropped for it. */
bool xd_heal_count(struct xd_heal *h, size_t extent);

void xd_heal_fini(struct xd_heal *h);

#endif
