/* SPDX-License-Identifier: MIT */
/*
 * File descriptors, of which a process may have only so many (RLIMIT_NOFILE).
 */
#ifndef XD_OS_DESCRIPTORS_H
#define XD_OS_DESCRIPTORS_H

#include <stdbool.h>

/*
 * How many more descriptors this process may open at the moment; `most` if
 * there are more than that.  Other threads may take them before the caller.
 * Threads: any.  Blocks: no.
 */
unsigned xd_descriptors_free(unsigned most);

/* Whether errno `os_errno` says that this process, or the system, has no
 * descriptor left. */
bool xd_descriptors_ran_out(int os_errno);

#endif
