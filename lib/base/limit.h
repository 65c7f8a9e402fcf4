/* SPDX-License-Identifier: MIT */
/* Limits in which 0 means unlimited. */
#ifndef XD_BASE_LIMIT_H
#define XD_BASE_LIMIT_H

static inline unsigned xd_stricter_limit(unsigned a, unsigned b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

#endif
