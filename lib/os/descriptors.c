/* SPDX-License-Identifier: MIT */
#include "os/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>

/* Counts unused numbers below the limit.  The kernel assigns the lowest free
 * number, so the high numbers are mostly free, and the loop ends soon after it
 * has passed the open descriptors. */
unsigned xd_descriptors_free(unsigned most)
{
    struct rlimit limit;
    unsigned n = 0;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return most;
    for (int fd = 0; n < most && (rlim_t)fd < limit.rlim_cur && fd < INT_MAX;
         fd++)
        n += fcntl(fd, F_GETFD) < 0;
    return n;
}

bool xd_descriptors_ran_out(int os_errno)
{
    return os_errno == EMFILE || os_errno == ENFILE;
}
