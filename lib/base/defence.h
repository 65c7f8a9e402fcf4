/* SPDX-License-Identifier: MIT */
/*
 * Switches off single defences against hostile depots, only for the test
 * program tests/integration/undefended.c.  The tests show that the attack
 * succeeds without the defence.  In every other program XD_DEFENDS() is true.
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
