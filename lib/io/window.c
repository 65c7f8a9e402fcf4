/* SPDX-License-Identifier: MIT */
#include "io/window.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define MAX_STEP ((uint64_t)128 << 10) /* larger steps have no benefit */
#define MIN_STEP ((uint64_t)1024)      /* the minimum that libcurl accepts */
#define MIN_WINDOW ((uint64_t)16 << 10)
#define MAX_WINDOW ((uint64_t)4 << 20)

static uint64_t clamp(uint64_t n, uint64_t least, uint64_t most)
{
    if (n < least)
        return least;
    return n < most ? n : most;
}

/* Limits the buffer to a quarter of a second's data, which is enough for one
 * connection to use the full rate.  Without a limit the kernel would accept
 * megabytes before TCP's flow control stops the sender. */
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

/* Limit on unsent bytes: a few packets, so that a fast link does not run
 * dry. */
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
