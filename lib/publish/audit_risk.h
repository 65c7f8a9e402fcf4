/* SPDX-License-Identifier: MIT */
/*
 * Finds the bytes of a file that are lost, and the bytes that would be lost
 * if one more depot failed.
 *
 *     depot 0   |==================|
 *     depot 1   |======|     |=====|
 *     at risk          |--1--|     |--0--|     one depot, and none
 *
 * Bytes of a stripe are safe as long as k of its shards exist, wherever copies
 * of the bytes themselves are:
 *
 *     depot 0   |==data 0==)
 *     depot 1              |==data 1==|    k = 2: no byte is at risk; without
 *     depot 2   parity 2                   depot 2 both are, because each depot
 *                                          has one of the two shards left
 *
 * Pure.
 */
#ifndef XD_PUBLISH_AUDIT_RISK_H
#define XD_PUBLISH_AUDIT_RISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"
#include "base/shards.h"

/* Bytes that a depot has.  They are correct as far as is known. */
struct xd_audit_holding {
    struct xd_range at;
    size_t depot; /* number of the depot, below n_depots */
};

/* A parity shard that a depot has.  It is correct as far as is known. */
struct xd_audit_parity {
    size_t stripe;
    unsigned shard;
    size_t depot;
};

/* Bytes that any k of n shards can restore. */
struct xd_audit_stripe {
    /* Set by the caller, as in struct xd_stripe. */
    uint64_t offset, length, shard_bytes;
    unsigned k, n;

    /* Results. */
    /* number of complete shards, including empty data shards */
    unsigned n_good;
    bool is_good[XD_SHARDS_MAX];
};

struct xd_audit_held {
    const struct xd_audit_holding *list;
    size_t n, n_depots;
    uint64_t size;                        /* bytes of the file */
    const struct xd_audit_parity *parity; /* sorted by stripe, then by shard */
    size_t n_parity;
    struct xd_audit_stripe *stripes; /* in the order of the file */
    size_t n_stripes;
};

struct xd_audit_risk {
    struct xd_rangeset none; /* bytes that are lost */
    /* bytes without a good copy that parity can restore */
    struct xd_rangeset restorable;
    struct xd_rangeset one; /* bytes that are lost if one more depot fails */
};

/* Fills `out`, whose sets must be initialized, and the results in
 * `held->stripes`.  Errors: NOMEM. */
int xd_audit_find_risk(const struct xd_audit_held *held,
                       struct xd_audit_risk *out);

#endif
