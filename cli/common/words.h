/* SPDX-License-Identifier: MIT */
/*
 * Prints messages on standard error.  Each message is one line and safe for a
 * terminal.  User names, passwords and queries are removed from URLs.  Standard
 * output is only for data.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <xdownload/manifest.h>

struct xd_list;

/* Prints "xdownload: " and a sentence. */
void words_error(const char *format, ...) XD_PRINTF(1, 2);

/* Sets the subcommand, so that messages can mention its help.  Call it before
 * printing.  `name` must stay valid. */
void words_set_command(const char *name);

/* Prints a usage error and how to get help.  Returns STATUS_USAGE. */
int words_usage(const char *format, ...) XD_PRINTF(1, 2);

/* words_warning() prints "xdownload: warning: " and a sentence, unless too many
 * warnings came before it; `n` is their number.  words_end_warnings() prints
 * how many of `n` warnings were omitted. */
void words_warning(size_t n, const char *format, ...) XD_PRINTF(2, 3);
void words_end_warnings(size_t n);

/* Print the first few warnings of a manifest or list, and how many more it
 * has. */
void words_warnings(const struct xd_manifest *m);
void words_list_warnings(const struct xd_list *l);

#endif
