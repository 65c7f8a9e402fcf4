/* SPDX-License-Identifier: MIT */
#include "io/way.h"

#ifdef __linux__
#include <linux/tcp.h> /* netinet/tcp.h lacks the newer fields */
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

/* Uses fields of tcp_info that exist since Linux 5.4. */
bool xd_way_of(int fd, struct xd_way *out)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
        size < offsetof(struct tcp_info, tcpi_rcv_ooopack) +
                   sizeof info.tcpi_rcv_ooopack)
        return false;
    out->n_disordered = info.tcpi_rcv_ooopack;
    out->round_trip = info.tcpi_rcv_rtt;
    return true;
}

bool xd_way_has_arrived(int fd)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    return fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
           info.tcpi_unacked == 0;
}
#else
bool xd_way_has_arrived(int fd)
{
    (void)fd;
    return true;
}

bool xd_way_of(int fd, struct xd_way *out)
{
    (void)fd;
    (void)out;
    return false;
}
#endif
