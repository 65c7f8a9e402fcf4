/* SPDX-License-Identifier: MIT */
/*
 * Normalizes URLs as users type them, the way curl does, to the strict form
 * that xd_url_parse() accepts:
 *
 *      http://127.1:080?a=b c   ->  http://127.0.0.1:80/?a=b%20c
 */
#ifndef XD_BASE_TYPED_URL_H
#define XD_BASE_TYPED_URL_H

/*
 * Returns the normalized form of `typed`; NULL if out of memory.  Text without
 * "scheme://" and parts that curl would reject are copied unchanged.
 *
 * - Blanks around the URL are removed, and blanks inside are escaped; so are
 *   invalid characters in user name and password.
 * - Extra slashes after "scheme:" are removed.
 * - A numeric host (inet_aton(3)) becomes a dotted IPv4 address.
 * - The zone of an IPv6 address is written after "%25" (RFC 6874).
 * - Leading zeros of the port are removed, and "/" is inserted before a query.
 *
 * Ownership: release the result with xd_free().
 */
char *xd_typed_url(const char *typed);

#endif
