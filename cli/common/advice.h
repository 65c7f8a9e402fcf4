/* SPDX-License-Identifier: MIT */
/* Prints errors of the library with advice that mentions the command's
 * options. */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include <stdbool.h>

#include <xdownload/error.h>

/* Prints the error and, if known, advice on standard error.  `has_login` is
 * true if the user gave a name and password, or a token. */
void advice_print(const struct xd_error *err, bool has_login);

#endif
