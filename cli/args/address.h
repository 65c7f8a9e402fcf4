/* SPDX-License-Identifier: MIT */
/*
 * Where `serve` is to listen, in figures: ADDRESS, ADDRESS:PORT,
 * [ADDRESS]:PORT.  One with more than one colon is one of IPv6 without a port.
 */
#ifndef CLI_ADDRESS_H
#define CLI_ADDRESS_H

struct addrinfo;

/* NULL: it is no address.  Asks no name server.
 * Ownership: to release with freeaddrinfo(). */
struct addrinfo *address_read(const char *where);

/* Whether only this machine reaches it: 1 or 0, or a negative
 * number if it is no address. */
int address_is_loopback(const char *where);

#endif
