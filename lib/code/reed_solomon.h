/* SPDX-License-Identifier: MIT */
/*
 * Reed-Solomon codes: a stripe of n shards, any k of which determine the
 * others.
 *
 *     shard    0 ... k-1    data, as in the file
 *              k ... n-1    parity
 *
 * All shards of a stripe have the same length.  Byte b of each shard depends
 * only on byte b of the k data shards:
 *
 *     | 1  0  0 |            | d0 |
 *     | 0  1  0 |   | d0 |   | d1 |        addition is exclusive or;
 *     | 0  0  1 | x | d1 | = | d2 |        products in GF(2^8) with the
 *     |   row 3 |   | d2 |   | p3 |        polynomial
 *     |   row 4 |            | p4 |        x^8 + x^4 + x^3 + x^2 + 1 (0x11d)
 *
 * Element j of row i >= k is the inverse of (i xor j): a Cauchy matrix.  Every
 * square part of it is invertible, so any k rows of the whole matrix are
 * (Bloemer and others, An XOR-Based Erasure-Resilient Coding Scheme, 1995; for
 * an introduction see Plank, A Tutorial on Reed-Solomon Coding for
 * Fault-Tolerance in RAID-like Systems, 1997).  ISA-L's gf_gen_cauchy1_matrix()
 * makes this matrix.  It must never change, because stored parity depends on
 * it.
 *
 * Calls take the same slice of `len` bytes of each shard, so that a stripe can
 * be coded in steps.  Any `len` and any alignment are allowed.  NULL as a
 * source means zeros, as after the end of a file.  Outputs must not overlap
 * sources or each other.
 *
 * Pure.
 * Threads: a coder and a decoder are immutable; any number of threads may use
 * them.
 */
#ifndef XD_CODE_REED_SOLOMON_H
#define XD_CODE_REED_SOLOMON_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/shards.h"

struct xd_coder;
struct xd_decoder;

/*
 * Makes a code of n shards, k of them data: 1 <= k <= n <= XD_SHARDS_MAX.
 * Ownership: release *out with xd_coder_free(); NULL after a failure.
 * Errors: INVAL, NOMEM.
 */
int xd_coder_new(struct xd_coder **out, unsigned k, unsigned n,
                 struct xd_error *err);

/* Releases a coder; NULL does nothing. */
void xd_coder_free(struct xd_coder *c);

/* Computes parity[0] ... parity[n-k-1] from data[0] ... data[k-1]. */
void xd_coder_encode(const struct xd_coder *c, size_t len,
                     const uint8_t *const *data, uint8_t *const *parity);

/*
 * Makes a decoder that computes shards from k others.  present[0] ...
 * present[k-1] are the available shards, in the order in which run() gets them.
 * wanted[0] ... wanted[n_wanted-1], 1 <= n_wanted <= n, are the shards to
 * compute, data or parity.  Takes time O(k^3 + k^2 * n_wanted), so use one
 * decoder for all stripes that lack the same shards.  The coder may be released
 * before it.
 * Ownership: release *out with xd_decoder_free(); NULL after a failure.
 * Errors: INVAL (a number is not below n or occurs twice in `present`, or
 * n_wanted is out of range), NOMEM, BUG (no inverse exists).
 */
int xd_decoder_new(struct xd_decoder **out, const struct xd_coder *c,
                   const unsigned *present, const unsigned *wanted,
                   unsigned n_wanted, struct xd_error *err);

/* Releases a decoder; NULL does nothing. */
void xd_decoder_free(struct xd_decoder *d);

/* Computes shards wanted[i] to out[i] from shards present[i] in from[i]. */
void xd_decoder_run(const struct xd_decoder *d, size_t len,
                    const uint8_t *const *from, uint8_t *const *out);

#endif
