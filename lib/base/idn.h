/* SPDX-License-Identifier: MIT */
/*
 * Internationalized domain names: converts "xn--bcher-kva.example" to
 * "bücher.example" (RFC 3492, RFC 5891).
 */
#ifndef XD_BASE_IDN_H
#define XD_BASE_IDN_H

/*
 * Returns the host in Unicode, so that all spellings of one host become equal
 * and different hosts stay different.  Latin, Greek and Cyrillic letters become
 * lower case.  Labels that are not valid Punycode are left as they are.  `host`
 * is UTF-8, optionally with a port.
 * Ownership: release the result with xd_free(); NULL if out of memory.
 */
char *xd_idn_letters(const char *host);

#endif
