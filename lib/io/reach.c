/* SPDX-License-Identifier: MIT */
#include "io/reach.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Networks of RFC 6890 that are not globally reachable. */
struct network {
    unsigned char begin[16];
    unsigned bits;
    enum xd_reach reach;
};

static const struct network ipv4[] = {
    {{0}, 8, XD_REACH_MACHINE}, /* Linux treats 0.0.0.0 as this host */
    {{127}, 8, XD_REACH_MACHINE},
    /* includes the metadata services of clouds, which hold secrets */
    {{169, 254}, 16, XD_REACH_MACHINE},
    {{10}, 8, XD_REACH_PRIVATE},
    {{100, 64}, 10, XD_REACH_PRIVATE},
    {{172, 16}, 12, XD_REACH_PRIVATE},
    {{192, 168}, 16, XD_REACH_PRIVATE}};

static const struct network ipv6[] = {{{0}, 127, XD_REACH_MACHINE},
                                      {{0xfe, 0x80}, 10, XD_REACH_MACHINE},
                                      {{0xfc}, 7, XD_REACH_PRIVATE}};

/* IPv6 addresses that contain an IPv4 address: mapped, and translated (RFC
 * 6052). */
static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
static const unsigned char translated[12] = {0, 0x64, 0xff, 0x9b};

static bool is_in(const unsigned char *address, const struct network *n)
{
    unsigned bytes = n->bits / 8, rest = n->bits % 8;
    unsigned char mask = (unsigned char)(0xff00 >> rest);

    return memcmp(address, n->begin, bytes) == 0 &&
           (rest == 0 || (address[bytes] & mask) == n->begin[bytes]);
}

static enum xd_reach find(const unsigned char *address,
                          const struct network *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_in(address, &list[i]))
            return list[i].reach;
    return XD_REACH_PUBLIC;
}

static enum xd_reach of_ipv4(const unsigned char address[4])
{
    return find(address, ipv4, sizeof ipv4 / sizeof *ipv4);
}

static enum xd_reach of_ipv6(const unsigned char address[16])
{
    if (memcmp(address, mapped, sizeof mapped) == 0 ||
        memcmp(address, translated, sizeof translated) == 0)
        return of_ipv4(address + 12);
    return find(address, ipv6, sizeof ipv6 / sizeof *ipv6);
}

enum xd_reach xd_reach_of_text(const char *address)
{
    unsigned char bytes[16];

    if (address != NULL && inet_pton(AF_INET, address, bytes) == 1)
        return of_ipv4(bytes);
    if (address != NULL && inet_pton(AF_INET6, address, bytes) == 1)
        return of_ipv6(bytes);
    return XD_REACH_PUBLIC;
}

enum xd_reach xd_reach_of_address(const struct sockaddr *address)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (address->sa_family == AF_INET) {
        memcpy(&in, address, sizeof in);
        return of_ipv4((const unsigned char *)&in.sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        memcpy(&in6, address, sizeof in6);
        return of_ipv6((const unsigned char *)&in6.sin6_addr);
    }
    return XD_REACH_PUBLIC;
}
