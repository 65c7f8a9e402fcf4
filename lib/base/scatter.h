/* SPDX-License-Identifier: MIT */
/* A deterministic pseudo-random function (finalizer of splitmix64; Steele, Lea
 * and Flood 2014). */
#ifndef XD_BASE_SCATTER_H
#define XD_BASE_SCATTER_H

#include <stdint.h>

static inline uint64_t xd_scatter(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
