/* SPDX-License-Identifier: MIT */
/*
 * gnuplot, carrying out a script.
 */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include <stddef.h>

/* Carry out `len` bytes of script in the folder.  Returns 0, or a status after
 * the reason was said.  Blocks: until gnuplot has ended. */
int gnuplot_run(const char *folder, const char *script, size_t len);

#endif
