/* SPDX-License-Identifier: MIT */
/*
 * International names of hosts: "xn--bcher-kva.example" and its letters,
 * "bücher.example" (RFC 3492, RFC 5891).
 */
#ifndef XD_BASE_IDN_H
#define XD_BASE_IDN_H

/*
 * The host in letters, so that two ways to write one host become the same, and no
 * two hosts do: of letters that are written as such, Latin, Greek and Cyrillic
 * ones become lower case; a label that is no valid Punycode stays as it is.
 * `host` is UTF-8, perhaps with a port.
 * Ownership: the result is the caller's, to release with xd_free(); NULL when
 *            out of memory.
 */
char *xd_idn_letters(const char *host);

#endif
