/* SPDX-License-Identifier: MIT */
/* What to do about an error of the library, said in the words of the command. */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include <xdownload/error.h>

/* Part of a sentence, to stand behind that of the error; NULL: there is none. */
const char *advice_on(const struct xd_error *err);

/* The error and that advice, on standard error. */
void advice_print(const struct xd_error *err);

#endif
