/* SPDX-License-Identifier: MIT */
/*
 * Assertions, active in every build: a program that continues after a broken
 * invariant corrupts data.  Do not use them to check input from outside, or the
 * arguments that a caller passes.
 */
#ifndef XD_BASE_CHECK_H
#define XD_BASE_CHECK_H

#include <stdlib.h>

#define XD_ASSERT(promise) ((promise) ? (void)0 : abort())

#endif
