/* SPDX-License-Identifier: MIT */
/*
 * What the library promises itself.  It stays on in every build: a program
 * that goes on after a broken promise spoils data.  Never for what comes from
 * outside, nor for a caller's bad argument.
 */
#ifndef XD_BASE_CHECK_H
#define XD_BASE_CHECK_H

#include <stdlib.h>

#define XD_ASSERT(promise) ((promise) ? (void)0 : abort())

#endif
