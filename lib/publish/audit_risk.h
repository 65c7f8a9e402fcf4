/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of a file few depots hold.
 *
 *     depot 0   |==================|
 *     depot 1   |======|     |=====|
 *     at risk          |--1--|     |--0--|     one depot, and none
 *
 * Pure.
 */
#ifndef XD_PUBLISH_AUDIT_RISK_H
#define XD_PUBLISH_AUDIT_RISK_H

#include <stddef.h>

#include "base/range.h"

/* Bytes that a depot has, and that are right as far as is known. */
struct xd_audit_holding {
    struct xd_range at;
    size_t depot; /* below n_depots */
};

/*
 * The bytes of a file of `size` bytes that no depot has, into `none`, and those
 * that one has, into `one`; both are initialized.
 * Errors: NOMEM.
 */
int xd_audit_find_risk(const struct xd_audit_holding *list, size_t n,
                       size_t n_depots, uint64_t size, struct xd_rangeset *none,
                       struct xd_rangeset *one);

#endif
