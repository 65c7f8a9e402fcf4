/* SPDX-License-Identifier: MIT */
/*
 * Exit statuses, as documented in xdownload(1).
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

enum status {
    STATUS_COMPLETE = 0,
    STATUS_FAILED = 1, /* the download failed */
    STATUS_USAGE = 2,
    STATUS_MANIFEST = 3, /* the manifest was not understood */
    STATUS_CORRUPT = 4,  /* verification failed */
    STATUS_LOCAL = 5,    /* problem with a local file */
    STATUS_INTERRUPTED = 130,
    STATUS_PIPE = 141 /* the reader of the output has closed it */
};

/* Returns the status for an enum xd_code; STATUS_COMPLETE for 0. */
int status_of(int code);

#endif
