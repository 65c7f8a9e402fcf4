/* SPDX-License-Identifier: MIT */
/*
 * Words for people, on standard error: a line each, made safe for a terminal,
 * and without the user names, passwords and queries of URLs.
 * Standard output is for data alone.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <xdownload/list.h>
#include <xdownload/manifest.h>

/* "xdownload: " and a sentence. */
void words_error(const char *format, ...) XD_PRINTF(1, 2);

/* Before anything is printed: the command that was given, of which the name
 * lasts. */
void words_set_command(const char *name);

/* A mistake on the command line, and where to read on.  Returns
 * STATUS_USAGE. */
int words_usage(const char *format, ...) XD_PRINTF(1, 2);

/* "xdownload: warning: " and a sentence, of which the first few are said: `n`
 * were before it.  The end says how many more of `n` there were. */
void words_warning(size_t n, const char *format, ...) XD_PRINTF(2, 3);
void words_end_warnings(size_t n);

/* What was dropped from a manifest, or passed over in a list: the first few, and
 * how many more. */
void words_warnings(const struct xd_manifest *m);
void words_list_warnings(const struct xd_list *l);

#endif
