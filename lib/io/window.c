/* SPDX-License-Identifier: MIT */
#include "io/window.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define MAX_STEP \
    ((uint64_t)128 << 10)         /* larger ones cost more than they save */
#define MIN_STEP ((uint64_t)1024) /* libcurl takes no less */
#define MIN_WINDOW ((uint64_t)16 << 10)
#define MAX_WINDOW ((uint64_t)4 << 20)

static uint64_t clamp(uint64_t n, uint64_t least, uint64_t most)
{
    if (n < least)
        return least;
    return n < most ? n : most;
}

/* The kernel would take in megabytes before it learns that no more is read.  A
 * quarter of a second's bytes let one connection have all of the rate. */
void xd_window_bound(int fd, uint64_t bytes_per_s)
{
    int bytes = bytes_per_s > 0
                    ? (int)clamp(bytes_per_s / 4, MIN_WINDOW, MAX_WINDOW)
                    : (int)MAX_WINDOW;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

size_t xd_window_step(uint64_t bytes_per_s)
{
    return bytes_per_s == 0
               ? MAX_STEP
               : (size_t)clamp(bytes_per_s / 40, MIN_STEP, MAX_STEP);
}

/* A few packets of any line, so that it does not run dry. */
#define MOST_UNSENT (128 << 10)

int xd_window_unconfirmed(int fd)
{
#ifdef TIOCOUTQ
    int n;

    return ioctl(fd, TIOCOUTQ, &n) == 0 ? n : -1;
#else
    (void)fd;
    return -1;
#endif
}

void xd_window_bound_unsent(int fd)
{
#ifdef TCP_NOTSENT_LOWAT
    const int most = MOST_UNSENT;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
#else
    (void)fd;
#endif
}
