/* SPDX-License-Identifier: MIT */
/*
 * What lib/code does, written down a second time from the definition alone, and
 * slowly.
 */
#ifndef XD_TESTS_CODE_NAIVE_H
#define XD_TESTS_CODE_NAIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAIVE_POLYNOMIAL 0x11d
#define NAIVE_MOST 255

/* The product of two polynomials over GF(2), and its rest. */
static inline uint8_t naive_mul(uint8_t a, uint8_t b)
{
    unsigned product = 0;

    for (int bit = 0; bit < 8; bit++)
        if (b >> bit & 1)
            product ^= (unsigned)a << bit;
    for (int bit = 14; bit >= 8; bit--)
        if (product >> bit & 1)
            product ^= (unsigned)NAIVE_POLYNOMIAL << (bit - 8);
    return (uint8_t)product;
}

/* Of a, which is not 0. */
static inline uint8_t naive_inverse(uint8_t a)
{
    static uint8_t known[256];

    while (naive_mul(a, known[a]) != 1)
        known[a]++;
    return known[a];
}

/* Element j of row i of the matrix of a code with k data shards. */
static inline uint8_t naive_element(unsigned k, unsigned i, unsigned j)
{
    if (i < k)
        return i == j;
    return naive_inverse((uint8_t)(i ^ j));
}

/* What shard i has where the k data shards have these bytes. */
static inline uint8_t naive_byte(unsigned k, unsigned i, const uint8_t *data)
{
    uint8_t sum = 0;

    for (unsigned j = 0; j < k; j++)
        sum ^= naive_mul(naive_element(k, i, j), data[j]);
    return sum;
}

/*
 * The other way round: data[0] ... data[k-1] out of what k shards have, by
 * Gaussian elimination.  Whether there is one solution.
 */
static inline bool naive_solve(unsigned k, const unsigned *present,
                               const uint8_t *bytes, uint8_t *data)
{
    static uint8_t m[NAIVE_MOST][NAIVE_MOST + 1];

    for (unsigned r = 0; r < k; r++) {
        for (unsigned j = 0; j < k; j++)
            m[r][j] = naive_element(k, present[r], j);
        m[r][k] = bytes[r];
    }
    for (unsigned c = 0; c < k; c++) {
        unsigned pivot = c;
        uint8_t factor;

        while (pivot < k && m[pivot][c] == 0)
            pivot++;
        if (pivot == k)
            return false;
        for (unsigned j = 0; j <= k; j++) {
            uint8_t x = m[c][j];

            m[c][j] = m[pivot][j];
            m[pivot][j] = x;
        }
        factor = naive_inverse(m[c][c]);
        for (unsigned j = 0; j <= k; j++)
            m[c][j] = naive_mul(m[c][j], factor);
        for (unsigned r = 0; r < k; r++) {
            factor = m[r][c];
            for (unsigned j = 0; r != c && j <= k; j++)
                m[r][j] ^= naive_mul(factor, m[c][j]);
        }
    }
    for (unsigned r = 0; r < k; r++)
        data[r] = m[r][k];
    return true;
}

#endif
