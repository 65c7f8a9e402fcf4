/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of a file are lost, and which are lost with one depot more.
 *
 *     depot 0   |==================|
 *     depot 1   |======|     |=====|
 *     at risk          |--1--|     |--0--|     one depot, and none
 *
 * Bytes of a stripe are there as long as k of its shards are, wherever their own
 * copies are:
 *
 *     depot 0   |==data 0==)
 *     depot 1              |==data 1==|        k = 2: no byte is at risk; without
 *     depot 2   parity 2                       depot 2 both are, for each takes
 *                                              one of two that are left
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

/* Bytes that a depot has, and that are right as far as is known. */
struct xd_audit_holding {
    struct xd_range at;
    size_t depot; /* below n_depots */
};

/* A shard of parity that a depot has, likewise. */
struct xd_audit_parity {
    size_t stripe;
    unsigned shard;
    size_t depot;
};

/* Bytes that k of n shards give back. */
struct xd_audit_stripe {
    /* Set by the caller: as in struct xd_stripe. */
    uint64_t offset, length, shard_bytes;
    unsigned k, n;

    /* Found. */
    unsigned n_good; /* shards that are there as a whole, those of data without
                        bytes among them */
    bool is_good[XD_SHARDS_MAX];
};

struct xd_audit_held {
    const struct xd_audit_holding *list;
    size_t n, n_depots;
    uint64_t size;                        /* of the file */
    const struct xd_audit_parity *parity; /* by stripe, then shard */
    size_t n_parity;
    struct xd_audit_stripe *stripes; /* in the order of the file */
    size_t n_stripes;
};

struct xd_audit_risk {
    struct xd_rangeset none;       /* that are lost */
    struct xd_rangeset restorable; /* of which no depot has a good copy, but
                                      parity gives them back */
    struct xd_rangeset one;        /* that are lost with one depot more */
};

/* Into `out`, whose sets are initialized; and what is found of the stripes.
 * Errors: NOMEM. */
int xd_audit_find_risk(const struct xd_audit_held *held,
                       struct xd_audit_risk *out);

#endif
