/* SPDX-License-Identifier: MIT */
/*
 * The limit on open file descriptors (RLIMIT_NOFILE).
 */
#ifndef XD_OS_DESCRIPTORS_H
#define XD_OS_DESCRIPTORS_H

#include <stdbool.h>

/*
 * Returns how many more descriptors this process may open now, but at most
 * `most`.  Other threads may open some before the caller does.  Threads: any.
 * Blocks: no.
 */
unsigned xd_descriptors_free(unsigned most);

/* Returns true for EMFILE and ENFILE: the process or the system has no free
 * descriptor. */
bool xd_descriptors_ran_out(int os_errno);

#endif
