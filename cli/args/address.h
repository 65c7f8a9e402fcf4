/* SPDX-License-Identifier: MIT */
/*
 * Parses the numeric addresses of --listen: ADDRESS, ADDRESS:PORT and
 * [ADDRESS]:PORT.  An address with several colons is IPv6 without a port.
 */
#ifndef CLI_ADDRESS_H
#define CLI_ADDRESS_H

struct addrinfo;

/* Parses an address.  Returns NULL if it is not valid.  Does not ask a name
 * server.
 * Ownership: the caller releases it with freeaddrinfo(). */
struct addrinfo *address_read(const char *where);

/* Returns 1 if only this machine can reach the address, 0 if other machines can
 * too, or a negative number if it is not a valid address. */
int address_is_loopback(const char *where);

#endif
