/* SPDX-License-Identifier: MIT */
/*
 * Reed-Solomon codes: a stripe of n shards, of which any k give all others.
 *
 *     shard    0 ... k-1    data, as it stands in the file
 *              k ... n-1    parity
 *
 * All shards of a stripe have the same length.  Byte b of each shard depends on
 * byte b of the k data shards alone:
 *
 *     | 1  0  0 |            | d0 |
 *     | 0  1  0 |   | d0 |   | d1 |        sums are exclusive ors, and products
 *     | 0  0  1 | x | d1 | = | d2 |        those of polynomials over GF(2), whose
 *     |   row 3 |   | d2 |   | p3 |        coefficients are the bits of a byte,
 *     |   row 4 |            | p4 |        modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11d)
 *
 * Element j of row i >= k is the inverse of (i xor j).  These rows are a Cauchy
 * matrix, of which each square part has an inverse, so that each k rows of the
 * whole have one (Bloemer and others, An XOR-Based Erasure-Resilient Coding
 * Scheme, 1995; for codes of this kind Plank, A Tutorial on Reed-Solomon Coding
 * for Fault-Tolerance in RAID-like Systems, 1997).  It is what ISA-L's
 * gf_gen_cauchy1_matrix() makes.  Stored parity depends on it: it never changes.
 *
 * Calls take slices of shards: the same `len` bytes of each, from wherever, so
 * that a stripe can be coded as it comes.  `len` may be any, and pointers need no
 * alignment.  A source that is NULL stands for zeros, as what lies behind the end
 * of a file does.  What is written to may overlap no source and no other output.
 *
 * Pure: memory, and nothing else.  Threads: a coder and a decoder are immutable
 * once made; any number of threads may use them at once.
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
 * A code of n shards, of which k are data: 1 <= k <= n <= XD_SHARDS_MAX.
 * Ownership: *out is the caller's, to release with xd_coder_free(); NULL after a
 * failure.
 * Errors: INVAL, NOMEM.
 */
int xd_coder_new(struct xd_coder **out, unsigned k, unsigned n,
                 struct xd_error *err);

/* NULL does nothing. */
void xd_coder_free(struct xd_coder *c);

/* Write to parity[0] ... parity[n-k-1] that of data[0] ... data[k-1]. */
void xd_coder_encode(const struct xd_coder *c, size_t len,
                     const uint8_t *const *data, uint8_t *const *parity);

/*
 * What makes shards of k others.  present[0] ... present[k-1]: which shards are
 * there, in the order in which their slices will be handed over.  wanted[0] ...
 * wanted[n_wanted-1], 1 <= n_wanted <= n: which are to be made; data or parity, in
 * any order.  Takes time in proportion to k^3 + k^2 * n_wanted: a decoder is for as
 * many stripes as lack the same shards.  The coder may be released before it.
 * Ownership: *out is the caller's, to release with xd_decoder_free(); NULL after a
 * failure.
 * Errors: INVAL: a number is not below n, stands in `present` twice, or n_wanted is
 * out of range; NOMEM; BUG: ISA-L says that there is no inverse.
 */
int xd_decoder_new(struct xd_decoder **out, const struct xd_coder *c,
                   const unsigned *present, const unsigned *wanted,
                   unsigned n_wanted, struct xd_error *err);

/* NULL does nothing. */
void xd_decoder_free(struct xd_decoder *d);

/* Write to out[i] what shard wanted[i] has, if from[i] has what shard present[i]
 * has. */
void xd_decoder_run(const struct xd_decoder *d, size_t len,
                    const uint8_t *const *from, uint8_t *const *out);

#endif
