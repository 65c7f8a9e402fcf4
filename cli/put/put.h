/* SPDX-License-Identifier: MIT */
/* xdownload put: copies of a file on stores, and the manifest that names them. */
#ifndef CLI_PUT_H
#define CLI_PUT_H

#include "args/args.h"

/* Returns a status; what went wrong was said. */
int put_file(const struct args *a);

#endif
