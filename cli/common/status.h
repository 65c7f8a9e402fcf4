/* SPDX-License-Identifier: MIT */
/*
 * The exit statuses, as xdownload(1) promises them.
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

enum status {
    STATUS_COMPLETE = 0,
    STATUS_FAILED = 1, /* could not be obtained */
    STATUS_USAGE = 2,
    STATUS_MANIFEST = 3, /* not understood */
    STATUS_CORRUPT = 4,  /* verification failed */
    STATUS_LOCAL = 5,    /* trouble with a local file */
    STATUS_INTERRUPTED = 130,
    STATUS_PIPE = 141 /* the reader of the output went away */
};

/* The status that stands for an enum xd_code, or for 0. */
int status_of(int code);

#endif
