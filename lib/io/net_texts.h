/* SPDX-License-Identifier: MIT */
/* Checks values for the fields of struct xd_net_options. */
#ifndef XD_IO_NET_TEXTS_H
#define XD_IO_NET_TEXTS_H

#include <stdbool.h>

/* Returns whether the text has no control characters, so that it can be part of
 * a protocol line. */
bool xd_is_plain_text(const char *s);

/* Returns whether the text is "Name: value", "Name;" for an empty value, or
 * "Name:" to suppress a field.  Fields that decide which bytes are sent are not
 * allowed. */
bool xd_is_header(const char *s);

/* Returns whether a header line, or one of several lines, may be sent only to
 * servers that may see credentials. */
bool xd_header_is_secret(const char *s);

/* Returns whether the text is "NAME:PASSWORD". */
bool xd_is_login(const char *s);

/* Returns whether the text is "[SCHEME://][NAME:PASSWORD@]HOST[:PORT]" or
 * "". */
bool xd_is_proxy(const char *s);

#endif
