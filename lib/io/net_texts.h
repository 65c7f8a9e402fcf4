/* SPDX-License-Identifier: MIT */
/* Which texts are values of the fields of struct xd_net_options. */
#ifndef XD_IO_NET_TEXTS_H
#define XD_IO_NET_TEXTS_H

#include <stdbool.h>

/* No control character, so that it may stand in a line of a protocol. */
bool xd_is_plain_text(const char *s);

/* "Name: value", or "Name;" for one without a value, or "Name:" to leave out
 * what would be said; of a name that does not decide which bytes come. */
bool xd_is_header(const char *s);

/* Whether such a line, or one of several, is for servers that may see
 * credentials. */
bool xd_header_is_secret(const char *s);

/* "NAME:PASSWORD" */
bool xd_is_login(const char *s);

/* "[SCHEME://][NAME:PASSWORD@]HOST[:PORT]", or nothing. */
bool xd_is_proxy(const char *s);

#endif
