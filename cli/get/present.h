/* SPDX-License-Identifier: MIT */
/*
 * Handles files that exist before the download: finds out whether an existing
 * file is the wanted file.
 */
#ifndef CLI_PRESENT_H
#define CLI_PRESENT_H

#include <stdbool.h>
#include <stddef.h>

#include "get/fetch.h"

/* Complete files that are reported in one line.  A zeroed struct has none. */
struct present {
    size_t n;
    char *name; /* name of the first file */
    char algorithm[40];
};

/* Returns true if the job has ended because its file exists and must not be
 * replaced.  *out_status is then its status.  A message was printed, or will be
 * printed from `p`. */
bool present_ends(const struct job *job, struct present *p, int *out_status);

/* Returns true if the job has ended because of an earlier run: that run had
 * received all bytes, but they did not match its checksum.  If the bytes match
 * the checksum of this run, the file is completed now.  Otherwise like
 * present_ends(). */
bool present_completes(const struct job *job, int *out_status);

/* Prints the message and empties `p`. */
void present_print(struct present *p, const struct args *a);

/* The command `xdownload verify`: prints what is wrong with the file.  With
 * --repair, also downloads the wrong parts.  Returns a status. */
int present_verify(const struct args *a);

#endif
