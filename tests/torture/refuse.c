/* SPDX-License-Identifier: MIT */
/*
 * What a unit test's library wants for the n-th time is refused: memory, a lock,
 * a thread.  XD_REFUSE in the environment is n; without it nothing is.  Check
 * runs each test in a process of its own, so that each has its n-th refused.
 */
#include "torture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/thread.h"
#include "xdownload/error.h"

bool torture_refuses(const char *name)
{
    static const char said[] = "refused\n";
    static atomic_ulong wishes;
    const char *which = getenv("XD_REFUSE");

    (void)name;
    if (which == NULL ||
        atomic_fetch_add(&wishes, 1) + 1 != strtoul(which, NULL, 10))
        return false;
    return write(STDERR_FILENO, said, strlen(said)) >= 0;
}

WRAP(void *, xd_alloc, (size_t n, size_t size), (n, size), NULL)
WRAP(void *, xd_realloc, (void *p, size_t n, size_t size), (p, n, size), NULL)
WRAP(char *, xd_strdup, (const char *s), (s), NULL)
WRAP(char *, xd_strndup, (const char *s, size_t len), (s, len), NULL)
WRAP(int, xd_mutex_init, (struct xd_mutex * m), (m), XD_E_NOMEM)
WRAP(int, xd_cond_init, (struct xd_cond * c), (c), XD_E_NOMEM)
WRAP(int, xd_thread_start,
     (struct xd_thread * t, void *(*main)(void *), void *arg), (t, main, arg),
     XD_E_NOMEM)
