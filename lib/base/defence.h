/* SPDX-License-Identifier: MIT */
/*
 * Whether something that guards against a depot is in force.  It always is,
 * but in the program of tests/integration/undefended.c: there each can be
 * switched off, and the tests show that it is missed.
 */
#ifndef XD_BASE_DEFENCE_H
#define XD_BASE_DEFENCE_H

#include <stdbool.h>

#ifdef XD_TESTING
bool xd_defends(const char *name);
#define XD_DEFENDS(name) xd_defends(name)
#else
#define XD_DEFENDS(name) true
#endif

#endif
